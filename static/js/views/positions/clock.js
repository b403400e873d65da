/**
 * A (sin, cos) pair of an encoding as the hand of a clock: x is the sine, y the cosine, so that it
 * starts at twelve and moves clockwise by ω radians per position.
 */

import { fine, s } from "../../core/draw/svg.js";

/** @import { Theme } from "../../core/page/page-context.js" */
/** @typedef {{x: number, y: number, radius: number}} Face */

/**
 * @param {Face} face
 * @param {{omega: number, at: number, by: number, count: number, label?: boolean}} hands
 * @param {Theme} theme
 */
export function clock({ x, y, radius }, { omega, at, by, count, label = false }, theme) {
  const point = (/** @type {number} */ pos, r = radius) =>
    /** @type {[number, number]} */ ([fine(x + r * Math.sin(pos * omega)), fine(y - r * Math.cos(pos * omega))]);
  const hand = (/** @type {number} */ pos, /** @type {string} */ colour, width = 3) => {
    const [px, py] = point(pos);
    return s("path", { d: `M${x} ${y}L${px} ${py}`, stroke: colour, "stroke-width": width, "stroke-linecap": "round" });
  };
  const face = s("circle", { cx: x, cy: y, r: radius, fill: "none", stroke: theme.hatch });
  const group = s("g", {}, face);
  if (label)
    for (let pos = 0; pos < Math.min(count, 60); pos++) {
      const [px, py] = point(pos);
      group.append(s("circle", { cx: px, cy: py, r: 3, fill: theme.hatch }));
    }
  group.append(hand(at, theme.q, label ? 4 : 2.5), hand(at + by, theme.k, label ? 4 : 2.5));
  if (label) {
    group.append(arc({ x, y, radius: radius * 0.3 }, at * omega, by * omega, theme));
    for (const [pos, colour, far] of /** @type {[number, string, number][]} */ ([[at, theme.q, 20], [at + by, theme.k, 20]])) {
      const [px, py] = point(pos, radius + far);
      group.append(
        s("text", { x: px, y: py, fill: colour, "font-weight": 600, "text-anchor": "middle", "dominant-baseline": "central" }, String(pos)),
      );
    }
  }
  return group;
}

/**
 * An arc from an angle, by another angle.
 * @param {Face} face
 * @param {number} start
 * @param {number} turn
 * @param {Theme} theme
 */
function arc({ x, y, radius }, start, turn, theme) {
  const steps = 48;
  const points = Array.from({ length: steps + 1 }, (_, i) => {
    const angle = start + (Math.min(turn, 2 * Math.PI) * i) / steps;
    return `${fine(x + radius * Math.sin(angle))} ${fine(y - radius * Math.cos(angle))}`;
  });
  return s("path", { d: `M${points.join("L")}`, fill: "none", stroke: theme.ink, "stroke-width": 1.5, "stroke-dasharray": "3 3" });
}
