/**
 * An answer by drawing bars that share out a whole: each bar is a slider, moved by a finger, the
 * mouse or the arrow keys. Only the proportions count, so they need not add up to 1.
 */

import { two } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { shareBar } from "../core/draw/proportion-bar.js";

/** @import { Answer } from "./question.js" */
/** @import { Shown } from "./entries.js" */

/** From this overlap on, a drawn row is near enough. */
export const NEAR = 0.7;
const STEP = 0.02;

/**
 * Convert drawn bars to shares of 1.
 * @param {Answer} answer
 * @param {number} count
 */
export function drawnShares(answer, count) {
  const drawn = Array.from({ length: count }, (_, i) => Number(answer[i] ?? 0) || 0);
  const whole = drawn.reduce((a, b) => a + b, 0);
  return drawn.map((one) => (whole ? one / whole : 0));
}

/** The part of two distributions that agrees: Σ min(p, q), from 0 to 1. @param {number[]} p @param {number[]} q */
export const overlap = (p, q) => p.reduce((sum, one, i) => sum + Math.min(one, q[i] ?? 0), 0);

/** @type {import("./entries.js").Entry} */
export const sharesEntry = {
  complete: (answer) => answer.some((one) => Number(one) > 0),
  right: (answer, { numbers = [] }) => overlap(drawnShares(answer, numbers.length), numbers) >= NEAR,
  says: (answer, { numbers = [] }, t) =>
    t("Your row and the model’s agree on {overlap} of the weight; from {near} on it counts as right.", { overlap: two(overlap(drawnShares(answer, numbers.length), numbers)), near: two(NEAR) }),
  draw: (shown) => shown.choices.map((_, i) => bar(shown, i)),
};

/** @param {Shown} shown @param {number} i */
function bar({ t, choices, answer, found, tally, fixed, change }, i) {
  const share = drawnShares(answer, choices.length)[i];
  const value = found?.numbers?.[i];
  const oninput = (/** @type {Event} */ { target }) => {
    const drawn = /** @type {HTMLInputElement} */ (target).value;
    change(choices.map((_, at) => (at === i ? drawn : (answer[at] ?? "0"))));
  };
  const slider = el("input", { type: "range", min: "0", max: "1", step: String(STEP), value: answer[i] ?? "0", disabled: fixed, "aria-valuetext": two(share), oninput });
  const drawn = !fixed || answer.length > 0; // a page that only looks has no row of its own
  const mean = tally?.length ? tally.reduce((sum, one) => sum + drawnShares(one, choices.length)[i], 0) / tally.length : null;
  return el(
    "label",
    { key: choices[i].id, className: "draw-share" },
    el("span", { className: "what" }, choices[i].label),
    drawn && [slider, el("span", { className: "number" }, two(share))],
    value !== undefined && el("span", { className: "truth" }, shareBar(value), el("span", { className: "number" }, two(value))),
    mean !== null && el("span", { className: "tally" }, t("mean answer {mean}", { mean: two(mean) })),
  );
}
