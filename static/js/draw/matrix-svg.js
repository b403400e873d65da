/** A matrix as a vector drawing, with a rectangle a cell: for pictures that leave the page. */

import { COVER } from "../compute/aggregate-attention.js";
import { two } from "../lib/numbers.js";
import { box } from "./geometry.js";
import { ROOM_FOR_WORDS, barsAt, reach } from "./matrix-image.js";
import { colourOf, hasRoom, legible, open, written } from "./paint.js";
import { css } from "./scale.js";
import { drawing, fine, s } from "./svg.js";

/** @typedef {import("./geometry.js").Geometry} Geometry */
/** @typedef {import("./geometry.js").Place} Place */
/** @typedef {import("./matrix-image.js").Plate} Plate */

/**
 * @param {Plate} plate
 * @param {Place} pinned  its row, column and cell get an outline
 * @returns {SVGSVGElement}
 */
export function engrave(plate, pinned) {
  const { geometry, theme, ends, room } = plate;
  const width = Math.max(geometry.width + (ends ? barsAt(geometry, theme, room).wider : 0), reach(plate));
  return drawing(
    width,
    geometry.height,
    theme,
    s("defs", {}, hatching(theme.hatch)),
    s("g", { "data-part": "cells", stroke: theme.rule, "stroke-width": geometry.gap }, ...cells(plate)),
    s("g", { "data-part": "numbers", "text-anchor": "middle" }, ...numbers(plate)),
    ...(ends ? [s("g", { "data-part": "bars" }, ...bars(plate, ends))] : []),
    s("g", { "data-part": "labels" }, ...labels(plate)),
    s("g", { "data-part": "pinned", fill: "none" }, ...outlines(plate, pinned)),
  );
}

/** Rising lines over what is masked. @param {string} ink */
const hatching = (ink) =>
  s("pattern", { id: "masked", width: 6, height: 6, patternUnits: "userSpaceOnUse" },
    s("path", { d: "M-1 1L1 -1M0 6L6 0M5 7L7 5", stroke: ink, "stroke-width": 1, fill: "none" }));

/** @param {Plate} plate  One a cell, row by row. */
function cells(plate) {
  const { matrix, cover, geometry, shade, theme } = plate;
  const seen = open(plate);
  return Array.from(seen.values, (value, i) => {
    const at = box({ ...geometry, gap: 0 }, { row: Math.floor(i / matrix.cols), col: i % matrix.cols });
    const place = { x: fine(at.left), y: fine(at.top), width: fine(at.width), height: fine(at.height) };
    if (!Number.isNaN(value)) return s("rect", { ...place, fill: css(colourOf(shade, value)) });
    if (cover?.[i] !== COVER.weak) return s("rect", { ...place, fill: "url(#masked)" });
    const dot = s("circle", { cx: fine(at.left + at.width / 2), cy: fine(at.top + at.height / 2), r: 1.5, fill: theme.hatch, stroke: "none" });
    return s("g", {}, s("rect", { ...place, fill: theme.paper }), dot);
  });
}

/** @param {Plate} plate */
function numbers(plate) {
  const { matrix, geometry, shade, theme } = plate;
  if (!hasRoom(geometry, theme)) return [];
  return Array.from(open(plate).values).flatMap((value, i) => {
    const said = Number.isNaN(value) ? "" : written(shade, value);
    if (!said) return [];
    const at = box(geometry, { row: Math.floor(i / matrix.cols), col: i % matrix.cols });
    return [text(said, at.left + at.width / 2, at.top + at.height / 2, { fill: legible(colourOf(shade, value)), dy: "0.35em" })];
  });
}

/** @param {Plate} plate @param {import("./row-bars.js").Ends} ends */
function bars({ geometry, theme, room }, { shares, label }) {
  const { left, width, number } = barsAt(geometry, theme, room);
  const { top, cellHeight, slant } = geometry;
  const height = Math.round(Math.max(1, Math.min(10, cellHeight - 2)));
  const rows = Array.from(shares, (share, row) => {
    const middle = top + (row + 0.5) * cellHeight;
    return s(
      "g",
      {},
      s("rect", { x: left, y: fine(middle + height / 2), width, height: 1, fill: theme.hatch }),
      s("rect", { x: left, y: fine(middle - height / 2), width: fine(share * width), height, fill: theme.attention }),
      ...(number && share >= 0.005 ? [text(two(share), left + width + 6, middle, { dy: "0.35em" })] : []),
    );
  });
  return room < ROOM_FOR_WORDS ? rows : [...rows, turned(label, left + width / 2, top - 8, slant)];
}

/** @param {Plate} plate */
function labels({ geometry, theme, labels, titles, upright, named }) {
  const { left, top, cellWidth, cellHeight, rows, cols, slant } = geometry;
  return [
    ...labels.rows.flatMap((name, i) =>
      named.rows[i] ? [text(name, left - 8, top + (i + 0.5) * cellHeight, { "text-anchor": "end", dy: "0.35em" })] : []),
    ...labels.cols.flatMap((name, i) =>
      named.cols[i] ? [turned(name, left + (i + 0.5) * cellWidth, top - 8, upright[i] ? 0 : slant)] : []),
    turned(titles.cols, left + (cols * cellWidth) / 2, theme.size, 0, theme.muted),
    turned(titles.rows, theme.size, top + (rows * cellHeight) / 2, 90, theme.muted),
  ];
}

/** @param {Plate} plate @param {Place} pinned  The row in the colour of queries, the column in that of keys. */
function outlines({ geometry, theme }, { row, col }) {
  /** @param {string} name @param {Place} place @param {string} stroke @param {number} width */
  const outline = (name, place, stroke, width) => {
    const at = box(geometry, place);
    return s("rect", { "data-outline": name, x: fine(at.left), y: fine(at.top), width: fine(at.width), height: fine(at.height), stroke, "stroke-width": width });
  };
  return [
    ...(row === null ? [] : [outline("row", { row, col: null }, theme.q, 2)]),
    ...(col === null ? [] : [outline("col", { row: null, col }, theme.k, 2)]),
    ...(row === null || col === null ? [] : [outline("cell", { row, col }, theme.ink, 3)]),
  ];
}

/** @param {string} content @param {number} x @param {number} y @param {Record<string, string>} attributes */
const text = (content, x, y, attributes) => s("text", { x: fine(x), y: fine(y), ...attributes }, content);

/** What slants starts at the point, what does not is centred there. @param {string} content @param {number} x @param {number} y @param {number} slant  in degrees @param {string} [fill] */
function turned(content, x, y, slant, fill) {
  const anchor = slant === 0 || slant === 90 ? "middle" : "start";
  return s("text", { x: fine(x), y: fine(y), fill, "text-anchor": anchor, transform: slant ? `rotate(${-slant} ${fine(x)} ${fine(y)})` : null }, content);
}
