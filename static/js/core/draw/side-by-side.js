/** Drawings side by side, each below its title, for exports. */

import { wrapped } from "./export-picture.js";
import { ruler } from "./labels.js";
import { drawing, s } from "./svg.js";

/** Distance between two drawings, in pixels. */
const GAP = 32;

/**
 * @param {{svg: SVGSVGElement | null, title: string}[]} parts  the drawings
 * @param {import("./theme.js").Theme} theme
 * @param {number} [across]  how many per row; absent: all
 * @returns {SVGSVGElement}
 */
export function abreast(parts, theme, across = parts.length) {
  const measure = ruler(theme);
  const line = Math.ceil(1.4 * theme.size);
  const drawn = parts.flatMap(({ svg, title }) => (svg ? [{ svg, ...sizeOf(svg), lines: wrapped(title, sizeOf(svg).width, measure) }] : []));
  /** @type {SVGElement[]} */
  const content = [];
  let [top, width] = [0, 0];
  for (let first = 0; first < drawn.length; first += across) {
    const row = drawn.slice(first, first + across);
    const below = top + Math.max(...row.map(({ lines }) => lines.length)) * line + 8;
    let left = 0;
    for (const { svg, lines, width: wide } of row) {
      content.push(...lines.map((words, i) => s("text", { x: left, y: top + (i + 0.75) * line, "font-weight": 600 }, words)), placed(svg, left, below));
      left += wide + GAP;
    }
    width = Math.max(width, left - GAP);
    top = below + Math.max(...row.map(({ height }) => height)) + GAP;
  }
  return drawing(width, Math.max(0, top - GAP), theme, ...content);
}

/** @param {SVGSVGElement} svg */
const sizeOf = ({ viewBox: { baseVal } }) => ({ width: baseVal.width, height: baseVal.height });

/** @param {SVGSVGElement} svg @param {number} x @param {number} y */
function placed(svg, x, y) {
  svg.setAttribute("x", String(x));
  svg.setAttribute("y", String(y));
  return svg;
}
