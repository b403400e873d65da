/** Matrices as vector drawings with a rectangle per cell, for exports. */

import { COVER } from "../compute/aggregate-attention.js";
import { boxOf } from "./matrix-geometry.js";
import { textRuler } from "./matrix-labels.js";
import { ROOM_FOR_WORDS, barText, barsAt, columnCells, endsAt, lean } from "./row-bars.js";
import { colourOf, hasRoom, legible, openCells, raster, cellText } from "./matrix-canvas.js";
import { colour, css } from "./colour-scales.js";
import { drawing, fine, s } from "./svg.js";

/** @import { Geometry, Place } from "./matrix-geometry.js" */
/** @import { Theme } from "../page/page-context.js" */
/**
 * @typedef {import("./matrix-canvas.js").Picture & {
 *   upright: boolean[],
 *   named: {rows: boolean[], cols: boolean[]},
 *   ends: import("./row-bars.js").Ends | null,
 *   room: number,
 * }} Plate
 */
/** @typedef {{shade: import("./matrix-canvas.js").Shade, low: string, high: string, patterns: {why: number, label: string}[]}} Meaning  of colours and patterns */

/** Up to this many cells, each has its own rectangle; more would make the file slow to open. */
const MAX_ELEMENTS = 20_000;
/** Sizes of the legend, in pixels. */
const RAMP = { width: 120, height: 10, steps: 40, gap: 8 };

/** Names of the patterns over cells. @type {Record<number, string>} */
const COVERS = { [COVER.masked]: "masked", [COVER.onlyA]: "only-a", [COVER.onlyB]: "only-b" };

/**
 * @param {Plate} plate
 * @param {Place} lit  its row, column and cell are outlined
 * @param {Meaning} meaning
 * @returns {SVGSVGElement}
 */
export function matrixSvg(plate, lit, meaning) {
  const { geometry, theme, ends, room } = plate;
  const width = Math.max(geometry.width + (ends ? endsAt(geometry, theme, room, ends).wider : 0), reach(plate));
  const key = legend(meaning, theme, geometry.left, geometry.height + 8, width - geometry.left);
  return drawing(
    Math.max(width, key.right),
    key.bottom,
    theme,
    cellElements(plate),
    s("g", { "data-part": "numbers", "text-anchor": "middle" }, ...numbers(plate)),
    ...(ends ? [s("g", { "data-part": ends.shade ? "column" : "bars" }, ...(ends.shade ? column : bars)(plate, ends))] : []),
    s("g", { "data-part": "labels" }, ...labels(plate)),
    s("g", { "data-part": "lit", fill: "none" }, ...outlines(geometry, theme, lit)),
    key.element,
  );
}

/**
 * Hatching of cells without a number: rising lines if masked, horizontal or vertical ones if only
 * one of two runs has the cell. They are drawn as lines, because printers turn patterns into
 * pixels.
 * @param {number} why  a value of `COVER`
 * @param {{left: number, top: number, width: number, height: number}} box
 * @param {string} ink
 */
function hatching(why, { left, top, width, height }, ink) {
  const [right, bottom] = [left + width, top + height];
  /** @param {number} from @param {number} to @param {number} step  The multiples between the two. */
  const between = (from, to, step) => Array.from({ length: Math.max(0, Math.ceil(to / step) - Math.ceil(from / step)) }, (_, i) => (Math.ceil(from / step) + i) * step);
  const lines = why === COVER.onlyA
    ? between(top, bottom, 4).map((y) => [left, y, right, y])
    : why === COVER.onlyB
      ? between(left, right, 4).map((x) => [x, top, x, bottom])
      : between(left + top, right + bottom, 6).map((sum) => {
          const [low, high] = [Math.max(left, sum - bottom), Math.min(right, sum - top)];
          return [low, sum - low, high, sum - high];
        });
  const d = lines.map(([x1, y1, x2, y2]) => `M${fine(x1)} ${fine(y1)}L${fine(x2)} ${fine(y2)}`).join("");
  return s("path", { "data-cover": COVERS[why], d, stroke: ink, "stroke-width": 1, fill: "none" });
}

/**
 * @param {Pick<Plate, "matrix" | "cover" | "geometry" | "shade" | "theme">} plate
 * @returns {SVGGElement}  one element per cell, row by row; for very many cells, one image
 */
export function cellElements(plate) {
  const { matrix, geometry, theme } = plate;
  const openMatrix = openCells(plate);
  const stroke = geometry.gap ? { stroke: theme.rule, "stroke-width": geometry.gap } : {};
  const content = openMatrix.values.length > MAX_ELEMENTS ? image(plate, openMatrix) : Array.from(openMatrix.values, (value, i) => cell(plate, matrix.cols, value, i));
  return s("g", { "data-part": "cells", ...stroke }, ...content);
}

/** @param {Pick<Plate, "cover" | "geometry" | "shade" | "theme">} plate @param {number} cols @param {number} value @param {number} i */
function cell({ cover, geometry, shade, theme }, cols, value, i) {
  const cellBox = boxOf({ ...geometry, gap: 0 }, { row: Math.floor(i / cols), col: i % cols });
  // Without lines between them, cells overlap slightly, so that no viewer shows seams.
  const over = geometry.gap ? 0 : 0.4;
  const place = { x: fine(cellBox.left), y: fine(cellBox.top), width: fine(cellBox.width + over), height: fine(cellBox.height + over) };
  if (!Number.isNaN(value)) return s("rect", { ...place, fill: css(colourOf(shade, value)) });
  const why = cover?.[i] ?? COVER.masked;
  if (why !== COVER.weak) return hatching(why, { ...cellBox, width: cellBox.width - geometry.gap, height: cellBox.height - geometry.gap }, theme.hatch);
  const dot = s("circle", { cx: fine(cellBox.left + cellBox.width / 2), cy: fine(cellBox.top + cellBox.height / 2), r: 1.5, fill: theme.hatch, stroke: "none" });
  return s("g", {}, s("rect", { ...place, fill: theme.paper }), dot);
}

/**
 * @param {Pick<Plate, "matrix" | "geometry" | "shade" | "theme">} plate
 * @param {import("../wire/safetensors.js").Matrix} openMatrix
 */
function image({ matrix: { rows, cols }, geometry, shade, theme }, openMatrix) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [cols, rows];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const pixels = context.createImageData(cols, rows);
  raster(pixels.data, openMatrix.values, shade);
  context.putImageData(pixels, 0, 0);
  const area = boxOf({ ...geometry, gap: 0 }, { row: null, col: null });
  return [
    hatching(COVER.masked, area, theme.hatch),
    s("image", { x: area.left, y: area.top, width: area.width, height: area.height, href: canvas.toDataURL(), preserveAspectRatio: "none", "image-rendering": "pixelated" }),
  ];
}

/** @param {Plate} plate */
function numbers(plate) {
  const { matrix, geometry, shade, theme } = plate;
  if (!hasRoom(geometry, theme, shade.range, matrix.error)) return [];
  return Array.from(openCells(plate).values).flatMap((value, i) => {
    const digits = Number.isNaN(value) ? "" : cellText(shade, value, matrix.error);
    if (!digits) return [];
    const cellBox = boxOf(geometry, { row: Math.floor(i / matrix.cols), col: i % matrix.cols });
    return [text(digits, cellBox.left + cellBox.width / 2, cellBox.top + cellBox.height / 2, { fill: legible(colourOf(shade, value)), dy: "0.35em" })];
  });
}

/** @param {Plate} plate @param {import("./row-bars.js").Ends} ends */
function bars({ geometry, theme, room }, { shares, label, error }) {
  const { left, width, number } = barsAt(geometry, theme, room, error);
  const { top, cellHeight } = geometry;
  const slant = lean(geometry, textRuler(theme)(label));
  const height = Math.round(Math.max(1, Math.min(10, cellHeight - 2)));
  const rows = Array.from(shares, (share, row) => {
    const middle = top + (row + 0.5) * cellHeight;
    return s(
      "g",
      {},
      s("rect", { x: left, y: fine(middle + height / 2), width, height: 1, fill: theme.hatch }),
      s("rect", { x: left, y: fine(middle - height / 2), width: fine(share * width), height, fill: theme.attention }),
      ...(number && share >= 0.005 ? [text(barText(share, error), left + width + 6, middle, { dy: "0.35em" })] : []),
    );
  });
  return room < ROOM_FOR_WORDS ? rows : [...rows, turned(label, left + width / 2, top - 8, slant)];
}

/** @param {Plate} plate @param {import("./row-bars.js").Ends} ends */
function column({ geometry, theme, room, shade: matrixShade }, { shares, label, shade = matrixShade }) {
  const spot = endsAt(geometry, theme, room, { shade });
  const slant = lean(geometry, textRuler(theme)(label));
  const above = room < ROOM_FOR_WORDS ? [] : [turned(label, spot.left + spot.width / 2, geometry.top - 8, slant)];
  return [...columnCells(shares, shade, geometry, theme, spot), ...above];
}

/** The right end of the label above the bars. @param {Plate} plate */
function reach({ geometry, theme, ends, room }) {
  if (!ends || room < ROOM_FOR_WORDS) return 0;
  const { left, width } = endsAt(geometry, theme, room, ends);
  const length = textRuler(theme)(ends.label) + theme.size;
  const slant = lean(geometry, textRuler(theme)(ends.label));
  const across = slant ? length * Math.cos((slant * Math.PI) / 180) : length / 2;
  return Math.ceil(left + width / 2 + across);
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

/**
 * Outline the row in the colour of queries and the column in that of keys.
 * @param {Geometry} geometry
 * @param {Theme} theme
 * @param {Place} lit
 */
export function outlines(geometry, theme, { row, col, ...size }) {
  /** @param {string} name @param {Place} place @param {string} stroke @param {number} width */
  const outline = (name, place, stroke, width) => {
    const frame = boxOf(geometry, place);
    return s("rect", { "data-outline": name, x: fine(frame.left), y: fine(frame.top), width: fine(frame.width), height: fine(frame.height), stroke, "stroke-width": width });
  };
  const [inRows, inCols] = [row !== null && row < geometry.rows, col !== null && col < geometry.cols];
  return [
    ...(inRows ? [outline("row", { ...size, row, col: null }, theme.q, 2)] : []),
    ...(inCols ? [outline("col", { ...size, row: null, col }, theme.k, 2)] : []),
    ...(inRows && inCols ? [outline("cell", { ...size, row, col }, theme.ink, 3)] : []),
  ];
}

/**
 * The legend of colours and patterns, wrapped to as many lines as needed.
 * @param {Meaning} meaning
 * @param {Theme} theme
 * @param {number} left
 * @param {number} top
 * @param {number} width
 * @returns {{element: SVGGElement, right: number, bottom: number}}
 */
export function legend({ shade, low, high, patterns }, theme, left, top, width) {
  const measure = textRuler(theme);
  const { gap } = RAMP;
  const line = Math.ceil(1.5 * theme.size);
  const middle = top + line / 2;
  const start = left + measure(low) + gap;
  const step = RAMP.width / RAMP.steps;
  const ramp = Array.from({ length: RAMP.steps }, (_, i) =>
    s("rect", { x: fine(start + i * step), y: fine(middle - RAMP.height / 2), width: step + 0.4, height: RAMP.height, fill: css(colour(shade.stops, (i + 0.5) / RAMP.steps)) }));
  let [x, y] = [start + RAMP.width + gap + measure(high) + 3 * gap, middle];
  let right = x;
  const patternMarks = patterns.flatMap(({ why, label }) => {
    const wide = theme.size + gap + measure(label);
    if (x + wide > left + width && x > left) [x, y] = [left, y + line];
    const swatch = { left: x, top: y - theme.size / 2, width: theme.size, height: theme.size };
    const frame = s("rect", { x: fine(swatch.left), y: fine(swatch.top), width: swatch.width, height: swatch.height, stroke: theme.rule, fill: "none" });
    const sign = why === COVER.weak
      ? s("circle", { cx: fine(x + theme.size / 2), cy: fine(y), r: 1.5, fill: theme.hatch })
      : hatching(why, swatch, theme.hatch);
    const words = text(label, x + theme.size + gap, y, { dy: "0.35em" });
    x += wide + 3 * gap;
    right = Math.max(right, x);
    return [frame, sign, words];
  });
  const ends = [text(low, left, middle, { dy: "0.35em" }), text(high, start + RAMP.width + gap, middle, { dy: "0.35em" })];
  return { element: s("g", { "data-part": "legend" }, ...ramp, ...ends, ...patternMarks), right: Math.ceil(right - 3 * gap), bottom: Math.ceil(y + line / 2 + 4) };
}

/** @param {string} content @param {number} x @param {number} y @param {Record<string, string>} [attributes] */
export const text = (content, x, y, attributes = {}) => s("text", { x: fine(x), y: fine(y), ...attributes }, content);

/**
 * Slanted text starts at the point; other text is centred on it.
 * @param {string} content
 * @param {number} x
 * @param {number} y
 * @param {number} slant in degrees
 * @param {string} [fill]
 */
function turned(content, x, y, slant, fill) {
  const anchor = slant === 0 || slant === 90 ? "middle" : "start";
  return s("text", { x: fine(x), y: fine(y), fill, "text-anchor": anchor, transform: slant ? `rotate(${-slant} ${fine(x)} ${fine(y)})` : null }, content);
}
