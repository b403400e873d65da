/** Rotations of pairs of channels: arrows before and after, with the angle between them. */

import { four } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { fine, s } from "../../core/draw/svg.js";
import { mathml } from "../../core/compute/formula.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Turn } from "./sheet-model.js" */

/** The length of an arrow in a drawing of 100 × 100, and that of the arc. */
const [LENGTH, ARC] = [42, 14];
/** The length of an arrow's head. */
const HEAD = 6;
/** Segments of a full turn. */
const STEPS = 48;

/** @param {Context} context @param {Turn[]} turns */
export function dials({ t }, turns) {
  return h(
    "div",
    { className: "dials", role: "group", "aria-label": t("Rotated pairs") },
    ...turns.map((turn) =>
      h(
        "figure",
        { className: `dial ${turn.tone}` },
        dial(turn),
        h(
          "figcaption",
          {},
          mathml(document, turn.name),
          h("span", {}, t("channels {pair}", { pair: turn.pair })),
          h("span", { className: "turned" }, t("{angle} rad", { angle: four(turn.angle) })),
        ),
      ),
    ),
  );
}

/** Its arrow always has the same length. @param {Turn} turn */
function dial({ from, to, angle }) {
  const most = Math.hypot(...to) || 1;
  const at = (/** @type {[number, number]} */ [x, y]) => [(x / most) * LENGTH, (-y / most) * LENGTH];
  const start = Math.atan2(from[1], from[0]);
  return s(
    "svg",
    { viewBox: "-50 -50 100 100", "aria-hidden": "true" },
    s("path", { class: "axis", d: "M-48 0H48M0 -48V48" }),
    s("circle", { class: "orbit", r: LENGTH }),
    s("path", { class: "arc", d: arc(start, angle, ARC) }),
    arrow(at(from), "was"),
    arrow(at(to), "is"),
  );
}

/**
 * An arc that winds around for more than one turn, slightly further out each time.
 * @param {number} start
 * @param {number} angle  in radians, counter-clockwise
 * @param {number} radius
 */
function arc(start, angle, radius) {
  // After several turns, only the last three are drawn.
  const drawn = Math.min(Math.abs(angle), 6 * Math.PI);
  const steps = Math.max(1, Math.ceil((drawn / (2 * Math.PI)) * STEPS));
  const first = angle - Math.sign(angle) * drawn;
  const points = Array.from({ length: steps + 1 }, (_, i) => {
    const own = start + first + ((angle - first) * i) / steps;
    const out = radius * (0.6 + (0.4 * i) / steps);
    return point(out * Math.cos(own), -out * Math.sin(own));
  });
  return `M${points.join("L")}`;
}

/** @param {number[]} end @param {string} name */
function arrow([x, y], name) {
  const length = Math.hypot(x, y);
  const shaft = s("path", { d: `M0 0L${point(x, y)}` });
  if (length < HEAD / 2) return s("g", { class: name }, shaft);
  const [ux, uy] = [x / length, y / length];
  const side = (/** @type {number} */ by) => point(x - HEAD * ux - by * uy, y - HEAD * uy + by * ux);
  const head = s("path", { class: "head", d: `M${point(x, y)}L${side(HEAD / 2.3)}L${side(-HEAD / 2.3)}Z` });
  return s("g", { class: name }, shaft, head);
}

/** @param {number} x @param {number} y */
const point = (x, y) => `${fine(x)} ${fine(y)}`;
