/**
 * All heads of a block on one canvas: the layout of the tiles, and their pixels. In a tile smaller
 * than its matrix, each pixel shows the largest weight beneath it, so that a thin diagonal stays a
 * line; a larger tile repeats cells.
 */

import { memo } from "../../lib/memo.js";
import { textRuler } from "./matrix-labels.js";
import { cellElements, legend, outlines, text } from "./matrix-svg.js";
import { colour, rgb, sequential } from "./colour-scales.js";
import { drawing, s } from "./svg.js";

/** @import { Numbers, Summary } from "../wire/safetensors.js" */
/** @import { Rgb } from "./colour-scales.js" */

/** @typedef {{layer: number, head: number}} Tile */
/**
 * @typedef {object} Layout  in CSS pixels
 * @property {number} size  height of a tile's picture
 * @property {number} wide  its width: square, or wider if there is more space horizontally
 * @property {number} columns
 * @property {{left: number, top: number}[]} places  of the tiles
 * @property {number} width
 * @property {number} height
 */

/** The smallest picture, in multiples of the font size: the text below must fit. */
const SMALLEST = 76 / 13;
/** The same if the text is only the layer and head. */
const PLAIN = 40 / 13;
/** The smallest picture in pixels if all tiles must fit on the screen. */
const LEAST = 72;
/** The size of a picture if the tiles do not fit on the screen anyway. */
const EASY = 112;
const LARGEST = 168;
/** Height of a line of text below a picture, in multiples of the font size. */
const LINE = 1.35;
const GAP = 10;
/** The largest ratio of width to height of a picture. */
const WIDER = 1.7;
/** Distance between layers if a layer takes several rows. */
const BREAK = 12;

/**
 * The tiles to show, in order: by layer, or by a measure of their heads. Heads without a value come
 * last; equal ones are ordered by layer.
 * @param {{layers: number, heads: number}} extent
 * @param {(layer: number) => Summary | undefined} summary
 * @param {{by?: string, rising?: boolean, only?: string}} [order]  by: a measure; only: a pattern
 * @returns {Tile[]}
 */
export function orderedTiles({ layers, heads }, summary, { by, rising = false, only } = {}) {
  const tiles = Array.from({ length: layers * heads }, (_, i) => ({
    layer: Math.floor(i / heads),
    head: i % heads,
  }));
  const selected = only ? tiles.filter(({ layer, head }) => summary(layer)?.pattern[head] === only) : tiles;
  if (!by) return selected;
  const last = rising ? Infinity : -Infinity;
  const value = (/** @type {Tile} */ { layer, head }) => summary(layer)?.[by]?.[head] ?? last;
  const sign = rising ? 1 : -1;
  return selected.sort((a, b) => (value(a) === value(b) ? 0 : sign * (value(a) - value(b))));
}

/**
 * Arrange tiles in rows: one row per layer if there is room, otherwise several.
 * @param {Tile[]} tiles
 * @param {object} room
 * @param {number} room.width
 * @param {number} room.height
 * @param {number} room.heads  a layer
 * @param {number} room.letters  font size in pixels
 * @param {boolean} room.byLayer  whether each layer begins a new row
 * @param {boolean} [room.plain]  whether the text below a picture is one line (layer and head)
 *   instead of two
 * @param {boolean} [room.whole]  whether all tiles must fit on the screen, even if small
 * @returns {Layout}
 */
export function arrangeTiles(tiles, { width, height, heads, letters, byLayer, plain = false, whole = false }) {
  const smallest = (plain ? PLAIN : SMALLEST) * letters;
  const line = (plain ? 1 : 2) * Math.ceil(LINE * letters) + 4;
  const maxColumns = Math.max(1, Math.floor((width + GAP) / (smallest + GAP)));
  // Distribute a layer's tiles evenly over its rows.
  const columns = maxColumns < heads ? Math.ceil(heads / Math.ceil(heads / maxColumns)) : heads;
  const rows = Math.ceil(tiles.length / columns);
  const across = Math.floor((width + GAP) / columns) - GAP;
  const down = Math.floor((height + GAP) / rows) - GAP - line;
  const size = Math.min(across, whole ? Infinity : LARGEST, down < smallest && !(whole && down >= LEAST) ? Math.max(EASY, smallest) : down);
  const wide = Math.min(across, Math.floor(WIDER * size));
  const pitch = { x: wide + GAP, y: size + line + GAP };
  const folded = byLayer && columns < heads;
  let [column, row, shift] = [0, -1, 0];
  const places = tiles.map(({ layer }, i) => {
    const begins = byLayer && i > 0 && layer !== tiles[i - 1].layer;
    column = i === 0 || begins ? 0 : (column + 1) % columns;
    if (column === 0) row++;
    if (begins && folded) shift += BREAK;
    return { left: column * pitch.x, top: row * pitch.y + shift };
  });
  const bottom = places.length ? places[places.length - 1].top + pitch.y - GAP : 0;
  return { size, wide, columns, places, width: columns * pitch.x - GAP, height: bottom };
}

/**
 * How the width of a picture is divided between its cells and the column of a sink.
 * @param {{cols: number, sink?: Numbers | null}} picture
 * @param {number} wide
 * @returns {{inner: number, from: number, across: number}}  the cells' width, and where the column begins and its width
 */
export function sinkDivision({ cols, sink }, wide) {
  if (!sink) return { inner: wide, from: wide, across: 0 };
  const across = Math.max(1, Math.round((wide - APART) / (cols + 1)));
  return { inner: wide - APART - across, from: wide - across, across };
}

/** Pixels between the cells and the column of a sink. */
const APART = 3;

/**
 * The cell at a point of a tile's picture.
 * @param {Layout} layout
 * @param {number} index  of the tile
 * @param {Pick<Picture, "rows" | "cols" | "sink">} matrix
 * @param {number} x  in the layout
 * @param {number} y
 * @returns {{row: number, col: number} | null}  null outside the picture
 */
export function cellAt({ size, wide, places }, index, { rows, cols, sink }, x, y) {
  const { left, top } = places[index];
  const row = Math.floor(((y - top) / size) * rows);
  const col = Math.floor(((x - left) / sinkDivision({ cols, sink }, wide).inner) * cols);
  return row >= 0 && row < rows && col >= 0 && col < cols ? { row, col } : null;
}

/**
 * A colour for each of 256 weights, in the canvas's pixel format.
 * @param {import("./colour-scales.js").Stops} stops
 * @returns {Uint32Array}
 */
export function colourTable(stops) {
  return memo(stops, "table", () => Uint32Array.from({ length: 256 }, (_, i) => packedColour(colour(stops, i / 255))));
}

/** @param {Rgb} colour  As a little-endian machine reads red, green, blue and opaque. */
export function packedColour([r, g, b]) {
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

/**
 * @typedef {object} Picture  of one head
 * @property {number} rows
 * @property {number} cols
 * @property {Numbers} values  from 0 to `unit`
 * @property {number} [unit]  the number that means 1; absent: 1
 * @property {Numbers | null} may  1 where unmasked; null: everything is unmasked
 * @property {Numbers | null} [sink]  each row's weight on a learned sink, from 0 to 1: a column of its own
 */
/**
 * @typedef {object} Paint
 * @property {Uint32Array} table  see `colourTable`
 * @property {number} paper  behind the hatching of masked cells
 * @property {number} hatch
 */

/** @param {import("./colour-scales.js").Palette & {hatch: string}} colours @returns {Paint} */
export const tilePaint = (colours) => ({ table: colourTable(sequential(colours)), paper: packedColour(rgb(colours.paper)), hatch: packedColour(rgb(colours.hatch)) });

/**
 * Write one head's picture.
 * @param {Uint32Array} pixels  of the whole atlas
 * @param {number} stride  its width
 * @param {{left: number, top: number, size: number, wide?: number}} area  whole pixels
 * @param {Picture} picture
 * @param {Paint} paint
 */
export function writeTile(pixels, stride, { left, top, size, wide = size }, { sink, ...cells }, paint) {
  const { inner, from, across } = sinkDivision({ ...cells, sink }, wide);
  fill(pixels, stride, { left, top, size, wide: inner }, cells, paint);
  if (sink) fill(pixels, stride, { left: left + from, top, size, wide: across }, { rows: cells.rows, cols: 1, values: sink, may: null }, paint);
}

/**
 * The same without a sink.
 * @param {Uint32Array} pixels
 * @param {number} stride
 * @param {{left: number, top: number, size: number, wide: number}} area
 * @param {Picture} picture
 * @param {Paint} paint
 */
function fill(pixels, stride, { left, top, size, wide }, { rows, cols, values, unit = 1, may }, paint) {
  const { table, paper, hatch } = paint;
  const across = spans(cols, wide);
  const down = spans(rows, size);
  const line = new Float32Array(cols);
  const scale = 255 / unit;
  for (let y = 0; y < size; y++) {
    // The largest weight of each column beneath this line of pixels; −1 if all are masked.
    line.fill(-1);
    for (let row = down[2 * y]; row < down[2 * y + 1]; row++) {
      for (let col = 0, cell = row * cols; col < cols; col++, cell++) {
        if (values[cell] > line[col] && (may === null || may[cell] !== 0)) line[col] = values[cell];
      }
    }
    let pixel = (top + y) * stride + left;
    for (let x = 0; x < wide; x++, pixel++) {
      let largest = -1;
      for (let col = across[2 * x]; col < across[2 * x + 1]; col++) largest = Math.max(largest, line[col]);
      if (largest >= 0) pixels[pixel] = table[(largest * scale + 0.5) | 0];
      else pixels[pixel] = (x + y) & 3 ? paper : hatch;
    }
  }
}

/**
 * Draw one pixel per cell, for a picture that the page scales up; masked cells stay transparent. The
 * column of a sink comes last.
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 * @param {Uint32Array} table
 */
export function drawThumbnail(canvas, { rows, cols, values, unit = 1, may, sink }, table) {
  const across = cols + (sink ? 1 : 0);
  if (canvas.width !== across) canvas.width = across;
  if (canvas.height !== rows) canvas.height = rows;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(across, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const scale = 255 / unit;
  for (let row = 0, i = 0; row < rows; row++) {
    const start = row * across;
    for (let col = 0; col < cols; col++, i++)
      if (may === null || may[i]) pixels[start + col] = table[(values[i] * scale + 0.5) | 0];
    if (sink) pixels[start + cols] = table[(sink[row] * 255 + 0.5) | 0];
  }
  context.putImageData(image, 0, 0);
}

/**
 * The half-open range of cells beneath each pixel.
 * @param {number} cells
 * @param {number} size  in pixels
 * @returns {Int32Array}  [from, to] for each pixel in turn
 */
function spans(cells, size) {
  const ranges = new Int32Array(2 * size);
  for (let i = 0; i < size; i++) {
    ranges[2 * i] = Math.floor((i * cells) / size);
    ranges[2 * i + 1] = Math.max(ranges[2 * i] + 1, cells > size ? Math.ceil(((i + 1) * cells) / size) : 0);
  }
  return ranges;
}

// Thumbnails of heads with their labels as a vector drawing, for exports.

/**
 * @param {import("../figure/head-tiles.js").Drawn} drawn
 * @param {import("./matrix-geometry.js").Place} lit  highlighted in every tile
 * @param {import("./matrix-svg.js").Meaning} meaning
 * @param {import("../page/page-context.js").Theme} theme
 * @returns {SVGSVGElement}
 */
export function headGridSvg({ headData, tiles, layout, words }, lit, meaning, theme) {
  const key = legend(meaning, theme, 0, layout.height + 12, layout.width);
  return drawing(
    Math.max(layout.width, key.right),
    key.bottom,
    theme,
    ...tiles.flatMap((headTile, i) => {
      const picture = headData.matrix(headTile);
      return [...(picture ? tileMarks(picture, layout, i, meaning.shade, lit, theme) : []), caption(words[i], layout, i, theme)];
    }),
    key.element,
  );
}

/**
 * @param {Picture} picture
 * @param {Layout} layout
 * @param {number} i
 * @param {import("./matrix-canvas.js").Shade} shade
 * @param {import("./matrix-geometry.js").Place} lit
 * @param {import("../page/page-context.js").Theme} theme
 */
function tileMarks({ rows, cols, values, unit = 1, may, sink }, { places, size, wide }, i, shade, lit, theme) {
  const { left, top } = places[i];
  const { inner, from, across } = sinkDivision({ cols, sink }, wide);
  const geometry = { left, top, rows, cols, cellWidth: inner / cols, cellHeight: size / rows, gap: 0, width: inner, height: size, slant: 0, line: 0 };
  const column = { ...geometry, left: left + from, cols: 1, cellWidth: across, width: across };
  const open = Float32Array.from(values, (value, cell) => (may === null || may[cell] ? value / unit : NaN));
  const plate = { matrix: { rows, cols, values: open }, geometry, shade, theme };
  const apart = sink ? [cellElements({ matrix: { rows, cols: 1, values: sink }, geometry: column, shade, theme })] : [];
  return [cellElements(plate), ...apart, s("g", { "data-part": "lit", fill: "none" }, ...outlines(geometry, theme, lit))];
}

/**
 * @param {import("../figure/head-tiles.js").Words} words
 * @param {Layout} layout
 * @param {number} i
 * @param {import("../page/page-context.js").Theme} theme
 */
function caption({ shortName, value, pattern }, { places, size, wide }, i, theme) {
  const { left, top } = places[i];
  const line = Math.ceil(LINE * theme.size);
  const first = top + size + 3 + theme.size;
  /** @type {Record<string, string>} */
  const fits = textRuler(theme)(pattern) <= wide ? {} : { textLength: String(wide), lengthAdjust: "spacingAndGlyphs" };
  return s("g", { "data-part": "tile" },
    text(shortName, left, first),
    text(value, left + wide, first, { "text-anchor": "end", fill: theme.muted }),
    text(pattern, left, first + line, fits));
}
