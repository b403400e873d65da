/** The progress of a long text's run as one number, and the time that is left. */

/** @import { Progress } from "../core/wire/long-texts.js" */

/** The share of the pass in a run; pictures of all heads take the rest. */
const PASS = 2 / 3;

/**
 * The part of a run that is done, from 0 to 1.
 * @param {Progress} first  of the run; it begins with pictures if its pass was cached
 * @param {Progress} now
 */
export function fraction(first, { phase, done, of }) {
  const part = of ? done / of : 0;
  if (phase === "queue") return 0;
  if (first.phase === "pictures") return part;
  return phase === "pass" ? PASS * part : PASS + (1 - PASS) * part;
}

/**
 * The time that is left, at the speed so far.
 * @param {Progress} first  after waiting
 * @param {Progress} now
 * @returns {number}  seconds; Infinity: nothing is known yet
 */
export function secondsLeft(first, now) {
  const [before, done] = [fraction(first, first), fraction(first, now)];
  return done > before ? ((now.seconds - first.seconds) * (1 - done)) / (done - before) : Infinity;
}
