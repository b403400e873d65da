/** The legend of a matrix: colours and patterns in one line below it. */

import { h } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { COVER } from "../compute/aggregate-attention.js";
import { ramp } from "./scale.js";

/** @import { Context } from "./types.js" */
/**
 * @typedef {object} Meaning
 * @property {import("../draw/paint.js").Shade} shade
 * @property {Set<number>} covers  the patterns present (`COVER`)
 */

/** @param {Context} context */
export function legend({ t }) {
  const element = h("p", { className: "key", "aria-hidden": "true" });
  return {
    element,

    /** @param {Meaning} meaning */
    show({ shade, covers }) {
      const { low, high, patterns } = meaning(t, { shade, covers });
      render(
        element,
        ramp(shade.stops, low, high),
        patterns.map(({ name, says }) => el("span", { className: "pattern" }, el("span", { className: `swatch ${name}` }), says)),
      );
    },
  };
}

/**
 * @param {Context["t"]} t
 * @param {Meaning} of
 */
export function meaning(t, { shade, covers }) {
  const [low, high] = ends(shade);
  const patterns = [
    { why: COVER.masked, name: "hatched", says: t("masked") },
    { why: COVER.weak, name: "dotted", says: t("hidden, not 0") },
    { why: COVER.onlyA, name: "level", says: t("only in A") },
    { why: COVER.onlyB, name: "upright", says: t("only in B") },
  ].filter(({ why }) => covers.has(why));
  return { shade, low, high, patterns };
}

/** @param {import("../draw/paint.js").Shade} shade @returns {[string, string]} */
function ends({ range: [low, high], floor }) {
  if (floor) return [`≤ ${floor}`, "1"];
  if (low === 0) return ["0", String(high)];
  return [`−${two(high)}`, `+${two(high)}`];
}
