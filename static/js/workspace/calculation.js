/**
 * Animate the calculation: the bars of a query's keys move from scores to weights, automatically or
 * with the slider. At the end they show the weights. With reduced motion, the animation advances
 * step by step.
 */

import { step } from "../core/draw/token.js";
import { el, h, render } from "../lib/dom.js";
import { four, two } from "../lib/numbers.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Working } from "../core/compute/attention-row.js" */

// Animate a row of attention from scores to weights: each step has one bar per key, and between two
// steps the bars are interpolated.

/** @typedef {{from: number, to: number}} Bar  of a track from 0 to 1 */
/** @typedef {{values: number[], bars: Bar[]}} Step */

/** The steps, in order: the scores, minus the largest, e to that power, divided by the sum. */
export const STEPS = /** @type {const} */ (["score", "less", "exp", "weight"]);
export const LAST = STEPS.length - 1;

/**
 * @param {{scores: ArrayLike<number>, shifted: ArrayLike<number>, powers: ArrayLike<number>}} row
 * @param {ArrayLike<number>} weights  the model's own weights, as shown
 * @param {number[]} keys  the keys shown
 * @returns {Step[]}  one for each of STEPS
 */
export function stepsOf({ scores, shifted, powers }, weights, keys) {
  return [scores, shifted, powers, weights].map((all, n) => {
    const values = keys.map((key) => all[key]);
    // Weights have the same track, 0 to 1, in every row; the track of scores includes them and zero.
    const [low, high] = n < 2 ? [Math.min(0, ...values), Math.max(0, ...values)] : [0, 1];
    const position = (/** @type {number} */ value) => (value - low) / (high - low || 1);
    return { values, bars: values.map((value) => ({ from: position(Math.min(0, value)), to: position(Math.max(0, value)) })) };
  });
}

/**
 * A key's bar at a point of the animation.
 * @param {Step[]} steps
 * @param {number} key  index among those shown
 * @param {number} progress  from 0 (first step) to LAST
 * @returns {Bar}
 */
export function barAt(steps, key, progress) {
  const before = Math.min(Math.floor(progress), steps.length - 1);
  const after = Math.min(before + 1, steps.length - 1);
  const [a, b] = [steps[before].bars[key], steps[after].bars[key]];
  const between = (/** @type {"from" | "to"} */ end) => a[end] + (b[end] - a[end]) * (progress - before);
  return { from: between("from"), to: between("to") };
}

/**
 * @typedef {object} Row  the row of the query
 * @property {string} of  identifies the cell
 * @property {number[]} keys  the keys listed
 * @property {import("../core/wire/tokens.js").Step[]} names  of all keys
 * @property {number} here  the key of the cell
 * @property {ArrayLike<number>} weights
 * @property {Working | null} work  null: only the weights are known
 */

/** Milliseconds of a transition, and of the pause after it. */
const [MOVE, PAUSE] = [900, 700];

/** @param {Context} context @param {HTMLElement} list  that the bars stand in */
export function createCalculation({ t, announce }, list) {
  const still = list.ownerDocument.defaultView?.matchMedia("(prefers-reduced-motion: reduce)");
  const play = h("button", { type: "button", className: "button quiet", onclick: toggle });
  const slider = h("input", { type: "range", min: "0", max: String(LAST), step: "0.01", "aria-label": t("From scores to weights") });
  const caption = h("p", { className: "says" });
  const element = h("div", { className: "calculation", hidden: true }, play, slider, caption);
  list.before(element);
  let position = LAST;
  /** @type {number | undefined} */
  let frame;
  /** @type {Row | null} */
  let shownRow = null;

  slider.addEventListener("input", () => {
    pause();
    go(Number(slider.value));
  });

  /** @param {number} next */
  function go(next) {
    position = still?.matches ? Math.round(next) : next;
    draw();
  }

  function toggle() {
    if (frame !== undefined) return pause();
    const begins = performance.now();
    go(0);
    let announcedStep = -1;
    const move = (/** @type {number} */ now) => {
      const past = Math.max(0, now - begins); // a frame's time may be before the click
      const whole = Math.min(Math.floor(past / (MOVE + PAUSE)), LAST);
      const part = Math.min(Math.max(0, (past % (MOVE + PAUSE)) - PAUSE) / MOVE, 1);
      go(still?.matches || whole === LAST ? whole : whole + part);
      if (whole !== announcedStep) announce(caption.textContent ?? "");
      announcedStep = whole;
      if (whole < LAST) frame = requestAnimationFrame(move);
      else pause();
    };
    frame = requestAnimationFrame(move);
    label();
  }

  function pause() {
    if (frame !== undefined) cancelAnimationFrame(frame);
    frame = undefined;
    label();
  }

  function label() {
    const [sign, word] = frame === undefined ? ["▶", t("Calculate")] : ["❚❚", t("Pause")];
    render(play, el("span", { "aria-hidden": "true" }, sign), ` ${word}`);
  }

  function draw() {
    if (!shownRow) return;
    const { keys, names, here: cellKey, work, weights } = shownRow;
    const steps = stepsOf(work?.row ?? { scores: weights, shifted: weights, powers: weights }, weights, keys);
    const near = Math.round(position);
    slider.value = String(position);
    slider.setAttribute("aria-valuetext", worded(near));
    caption.textContent = worded(near);
    list.dataset.step = STEPS[near];
    render(list, keys.map((key, i) => {
      const value = steps[near].values[i];
      return el("li", { key, className: key === cellKey ? "here" : "" }, step(names[key]), track(barAt(steps, i, position)), near === LAST ? two(value) : four(value));
    }));
  }

  /** @param {number} near */
  function worded(near) {
    if (!shownRow?.work) return "";
    const { highest, total } = shownRow.work;
    return [
      t("1. The scores of the row"),
      t("2. Subtract the largest, {max}: the largest is now 0", { max: four(highest) }),
      t("3. e to that power: the largest is now 1"),
      t("4. Divided by their sum, {total}: the weights", { total: four(total) }),
    ][near];
  }

  label();
  return {
    /** @param {Row} row */
    show(row) {
      if (row.of !== shownRow?.of) {
        pause();
        position = LAST;
      }
      shownRow = row;
      element.hidden = !row.work || row.work.masked;
      draw();
    },
  };
}

/** @param {Bar} bar */
const track = ({ from, to }) =>
  el("span", { className: "track" }, el("span", { className: "bar", style: { "margin-left": `${from * 100}%`, width: `${(to - from) * 100}%` } }));
