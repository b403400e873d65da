/** Thumbnails of heads with their labels as a vector drawing, for exports. */

import { LINE, divided } from "./head-grid.js";
import { ruler } from "./labels.js";
import { cells, legend, outlines, text } from "./matrix-svg.js";
import { drawing, s } from "./svg.js";


/**
 * @param {import("../figure/head-tiles.js").Drawn} drawn
 * @param {import("./geometry.js").Place} lit  highlighted in every tile
 * @param {import("./matrix-svg.js").Meaning} meaning
 * @param {import("./theme.js").Theme} theme
 * @returns {SVGSVGElement}
 */
export function engraveTiles({ seen, tiles, layout, words }, lit, meaning, theme) {
  const key = legend(meaning, theme, 0, layout.height + 12, layout.width);
  return drawing(
    Math.max(layout.width, key.right),
    key.bottom,
    theme,
    ...tiles.flatMap((one, i) => {
      const picture = seen.matrix(one);
      return [...(picture ? tile(picture, layout, i, meaning.shade, lit, theme) : []), caption(words[i], layout, i, theme)];
    }),
    key.element,
  );
}

/**
 * @param {import("./head-grid.js").Picture} picture
 * @param {import("./head-grid.js").Layout} layout
 * @param {number} i
 * @param {import("./paint.js").Shade} shade
 * @param {import("./geometry.js").Place} lit
 * @param {import("./theme.js").Theme} theme
 */
function tile({ rows, cols, values, unit = 1, may, sink }, { places, size, wide }, i, shade, lit, theme) {
  const { left, top } = places[i];
  const { inner, from, across } = divided({ cols, sink }, wide);
  const geometry = { left, top, rows, cols, cellWidth: inner / cols, cellHeight: size / rows, gap: 0, width: inner, height: size, slant: 0, line: 0 };
  const column = { ...geometry, left: left + from, cols: 1, cellWidth: across, width: across };
  const open = Float32Array.from(values, (value, at) => (may === null || may[at] ? value / unit : NaN));
  const plate = { matrix: { rows, cols, values: open }, geometry, shade, theme };
  const apart = sink ? [cells({ matrix: { rows, cols: 1, values: sink }, geometry: column, shade, theme })] : [];
  return [cells(plate), ...apart, s("g", { "data-part": "lit", fill: "none" }, ...outlines(geometry, theme, lit))];
}

/**
 * @param {import("../figure/head-tiles.js").Words} words
 * @param {import("./head-grid.js").Layout} layout
 * @param {number} i
 * @param {import("./theme.js").Theme} theme
 */
function caption({ where, value, pattern }, { places, size, wide }, i, theme) {
  const { left, top } = places[i];
  const line = Math.ceil(LINE * theme.size);
  const first = top + size + 3 + theme.size;
  /** @type {Record<string, string>} */
  const fits = ruler(theme)(pattern) <= wide ? {} : { textLength: String(wide), lengthAdjust: "spacingAndGlyphs" };
  return s("g", { "data-part": "tile" },
    text(where, left, first),
    text(value, left + wide, first, { "text-anchor": "end", fill: theme.muted }),
    text(pattern, left, first + line, fits));
}
