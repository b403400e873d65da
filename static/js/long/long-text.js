/** Long texts: no chips and no inspector, and a text that is too long can be truncated. */

import { isFixed } from "../core/store/share-contents.js";
import { typedText } from "../core/wire/model-description.js";
import { isLong } from "../core/wire/long-texts.js";
import { find, h, write } from "../lib/dom.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { Progress } from "../core/wire/long-texts.js" */

// A text cut to what a model reads.

/** @import { Excess } from "../core/wire/connection.js" */

/** Where it is not known how many letters a token has, a little less is kept: the next answer says whether it fits. */
const CAREFUL = 0.97;
/** Letters that may be given up for the sake of a whole word. */
const WORD = 40;

/**
 * @param {string} text
 * @param {Excess} excess  what is too much about it
 * @returns {string}  its beginning, up to the end of a word
 */
export function shortened(text, { limit, unit, value, fits }) {
  const points = Array.from(text);
  const share = value ? Math.floor((CAREFUL * points.length * limit) / value) : points.length;
  const maxLength = Math.min(fits ?? (unit === "characters" ? limit : share), points.length);
  if (maxLength === points.length) return text;
  const beginning = points.slice(0, maxLength).join("");
  const inside = /\S/.test(points[maxLength] ?? "") && /\S$/.test(beginning);
  const word = inside ? beginning.search(/\S+$/) : beginning.length;
  return (beginning.length - word < WORD && word > 0 ? beginning.slice(0, word) : beginning).trimEnd();
}

/** @param {import("../workspace/main-figure.js").PageServices} services */
export function bindLongText({ store, t }) {
  const button = h("button", { type: "button", className: "button", hidden: true });
  find("#problem").append(button);
  const shows = () => document.documentElement.toggleAttribute("data-long", isLong(store.get().trace));

  function offer() {
    const excess = tooMuch(store.get());
    button.hidden = !excess;
    if (!excess) return;
    button.textContent = excess.unit === "tokens" ? t("Cut to {limit} tokens", { limit: excess.limit }) : t("Cut to {limit} characters", { limit: excess.limit });
  }
  // The box stays as large as it is while the button is pressed, so that the button stays where it is.
  button.addEventListener("mousedown", (event) => event.preventDefault());
  button.addEventListener("click", () => {
    const page = store.get();
    const excess = tooMuch(page);
    if (!excess) return;
    store.go({ source: shortened(page.link.source, excess), query: null, key: null }, "chosen");
    find("#source").focus();
  });
  // A long text is in the address's fragment, which a link within the page would replace.
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
  store.subscribe(({ trace }) => isLong(trace), shows);
  store.subscribe(({ problem, status, share, live }) => [problem, status, share, live], offer);
  shows();
  offer();
}

/**
 * By how much the typed text is too long; null: it is not, or it cannot be truncated.
 * @param {Page} page
 */
function tooMuch(page) {
  const { problem, status, model } = page;
  if (status !== "failed" || problem?.kind !== "text-too-long" || !problem.excess || isFixed(page)) return null;
  return ["tokens", "characters"].includes(problem.excess.unit) && problem.field === typedText(model) ? problem.excess : null;
}

// The progress of a long text's run as one number, and the time that is left.

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

// The progress of a long text's run, over the figure, with a button that stops it.

/** A shorter run is not worth telling. */
const SECONDS = 1;

/** @param {import("../workspace/main-figure.js").PageServices} services */
export function bindPassProgress({ store, t, announce, figure }) {
  const meter = h("progress", { max: 1, "aria-label": t("Progress") });
  const label = h("span", {});
  const stop = h("button", { type: "button", className: "button" }, t("Stop"));
  const element = find("#pass");
  element.append(h("div", { className: "pass-box" }, meter, label, stop));
  /** The first progress after waiting. @type {Progress | null} */
  let first = null;
  let announcedPhase = "";

  // The sentence box, when it loses the focus, folds and would move the button away.
  stop.addEventListener("mousedown", (event) => event.preventDefault());
  stop.addEventListener("click", () => {
    figure.halt();
    find("#source").focus();
  });

  function show() {
    const { progress } = store.get();
    if (!progress || progress.phase === "queue") first = null;
    else first ??= progress;
    element.hidden = !progress || progress.seconds < SECONDS;
    if (!progress || element.hidden) return void (announcedPhase = "");
    if (first) meter.value = fraction(first, progress);
    else meter.removeAttribute("value");
    write(label, [phase(progress), first && remainingText(secondsLeft(first, progress))].filter(Boolean).join(" · "));
    if (progress.phase !== announcedPhase) announce(phase(progress));
    announcedPhase = progress.phase;
  }

  /** @param {Progress} progress */
  function phase({ phase, done, of }) {
    if (phase === "queue") return t("Waiting for other requests");
    if (!of) return t("Reading the text");
    if (phase === "pass") return t("Reading the text: {done} of {of} layers", { done, of });
    return t("Drawing the heads: {done} of {of} layers", { done, of });
  }

  /** @param {number} seconds */
  const remainingText = (seconds) => (Number.isFinite(seconds) ? t("about {seconds} s left", { seconds: Math.max(1, Math.round(seconds)) }) : "");

  store.subscribe(({ progress }) => progress, show);
}
