/**
 * Positions of a matrix and its labels in CSS pixels, computed once, so that the canvas, Plotly's
 * zoomed picture, the labels and the pointer agree to the pixel.
 */

import { colClash } from "./matrix-labels.js";

/**
 * @typedef {object} Geometry
 * @property {number} rows
 * @property {number} cols
 * @property {number} cellWidth
 * @property {number} cellHeight
 * @property {number} left  of the first cell
 * @property {number} top  of the first cell
 * @property {number} width  of everything
 * @property {number} height  of everything
 * @property {number} gap  between cells
 * @property {number} slant  of column labels, in degrees; 0: upright
 * @property {number} line  height of a label: the smallest distance of two labels
 */
/**
 * @typedef {object} FitOptions
 * @property {number[]} rowWidths  of the labels
 * @property {number[]} colWidths  empty: columns have no labels
 * @property {boolean[]} [upright]  columns whose label never slants: single Chinese characters
 * @property {number} [cols]  number of columns if they have no labels
 * @property {number} width  to fit into
 * @property {number} height  to fit into
 * @property {number} [stretch]  largest ratio of a cell's width to its height; 1 is square
 * @property {number} [largest]  largest cell, at the usual size of labels
 * @property {number} [least]  smallest cell in pixels, along a side with labels; what does not fit
 *   is scrolled
 * @property {boolean} [titles]  whether the axes have titles
 * @property {boolean} [bare]  whether rows have neither labels nor a title, because those of the
 *   matrix beside it apply
 * @property {number} [size]  font size of the labels; line height and margins follow from it
 */

/** The usual font size of labels, and what follows from it. */
const SIZE = 13;
const LINE = 16 / SIZE;
const TIGHT = 15 / SIZE;
/** What the title of an axis takes: beside the rows, above the columns. */
const [BESIDE, ABOVE] = [26 / SIZE, 18 / SIZE];
const GAP = 8;
/** Angles by which labels slant: the flattest at which no two neighbours overlap. */
const SLANTS = [32, 45, 65];

/** The height of a row whose label is shown: never less than the distance at which two overlap. @param {number} size  of its letters */
export const lineHeight = (size) => Math.max(Math.round(LINE * size), Math.ceil(TIGHT * size));

/** @param {FitOptions} options @returns {Geometry} */
export function fitGeometry(options) {
  const {
    rowWidths,
    colWidths,
    upright = [],
    width,
    height,
    stretch = 1,
    largest = 64,
    least = 0,
    titles = true,
    bare = false,
    size = SIZE,
  } = options;
  const rows = rowWidths.length;
  const cols = colWidths.length || (options.cols ?? 0);
  const line = Math.round(LINE * size);
  const [beside, above] = [BESIDE, ABOVE].map((share) => (titles ? Math.round(share * size) : 0));
  const left = bare ? 0 : Math.ceil(Math.max(0, ...rowWidths)) + GAP + beside;
  let slant = 0;
  let place = cells(gutters(colWidths, upright, slant, line));
  if (colWidths.some((label, i) => !upright[i] && label > place.cellWidth - 4)) {
    for (slant of SLANTS) {
      place = cells(gutters(colWidths, upright, slant, line));
      const clash = colClash({ cellWidth: place.cellWidth, line: TIGHT * size, slant }, colWidths, upright);
      if (colWidths.every((_, i) => i === 0 || !clash(i - 1, i))) break;
    }
  }

  /** @param {Gutter} gutter */
  function cells({ top, widest, right }) {
    const across = width - left;
    const cell = Math.min((largest * size) / SIZE, (height - top - above) / rows);
    const cellWidth = Math.min(cell * stretch, across / cols, widest(across));
    // In a picture that is wider than high, rows are high enough for their labels.
    const legible = Math.min(line, (cellWidth * cols) / rows);
    const cellHeight = stretch === Infinity ? cell : Math.min(cell, Math.max(cellWidth, legible));
    const [wide, high] = [colWidths.length ? least : 0, least].map((pixels, i) => Math.max(whole([cellWidth, cellHeight][i]), pixels));
    return { cellWidth: wide, cellHeight: high, top, right };
  }

  const { cellWidth, cellHeight } = place;
  const right = place.right(cellWidth);
  return {
    rows,
    cols,
    cellWidth,
    cellHeight,
    left,
    slant,
    top: place.top + above,
    width: Math.round(left + cols * cellWidth + right),
    height: Math.round(place.top + above + rows * cellHeight),
    gap: Math.min(cellWidth, cellHeight) >= 9 ? 1 : 0,
    line: TIGHT * size,
  };
}

/**
 * @typedef {object} Gutter  the space that column labels need around the cells
 * @property {number} top
 * @property {(room: number) => number} widest  the widest cell for which all labels fit
 * @property {(cell: number) => number} right
 */

/**
 * @param {number[]} widths
 * @param {boolean[]} upright
 * @param {number} slant
 * @param {number} line  height of a label
 * @returns {Gutter}
 */
function gutters(widths, upright, slant, line) {
  if (!widths.length) return { top: 0, widest: () => Infinity, right: () => 0 };
  if (!slant) return { top: line + GAP, widest: () => Infinity, right: () => 0 };
  // A slanted label starts at the middle of its column and slants to the right.
  const [across, up] = [Math.cos((slant * Math.PI) / 180), Math.sin((slant * Math.PI) / 180)];
  const reach = widths.map((width, i) => (upright[i] ? 0 : width * across + line / 2));
  const heights = widths.map((width, i) => (upright[i] ? line : width * up + line / 2));
  return {
    top: Math.ceil(Math.max(...heights)) + GAP,
    widest: (room) => Math.min(...reach.map((length, i) => (room - length) / (i + 0.5))),
    right: (cell) =>
      Math.max(0, ...reach.map((length, i) => length - (widths.length - i - 0.5) * cell)),
  };
}

/** @param {number} size  Whole pixels keep edges crisp; a matrix too large for them gets what there is. */
function whole(size) {
  return size >= 3 ? Math.floor(size) : Math.max(size, 0.5);
}

/**
 * What is at a point: a cell, the label of a row (no column) or of a column (no row). What is
 * highlighted may be several neighbouring rows and columns, from this one.
 * @typedef {{row: number | null, col: number | null, tall?: number, wide?: number}} Place
 */

/** @param {Geometry} geometry @param {number} x @param {number} y @returns {Place | null} */
export function placeAt({ left, top, cellWidth, cellHeight, rows, cols, slant }, x, y) {
  const above = Math.max(0, top - y);
  const lean = slant ? leaning(above, (slant * Math.PI) / 180) : 0;
  const col = Math.floor((x - lean - left) / cellWidth);
  const row = Math.floor((y - top) / cellHeight);
  const place = {
    row: row >= 0 && row < rows ? row : null,
    col: col >= 0 && col < cols ? col : null,
  };
  const outside = (place.row === null && !above) || (place.col === null && x >= left);
  return outside || (place.row === null && place.col === null) ? null : place;
}

/** Distance between the cells and the start of a column's label, in pixels. */
const OFF = 6;

/**
 * Horizontal distance from the middle of a column to the middle of its slanted label, whose lower
 * edge starts at the middle of the column.
 * @param {number} above  height above the cells
 * @param {number} angle
 */
function leaning(above, angle) {
  const half = (LINE * SIZE) / 2;
  return Math.max(0, (above - OFF) / Math.tan(angle) - half / Math.sin(angle));
}

/**
 * The box of a cell; of a whole row if the column is null, of a whole column if the row is null.
 * @param {Geometry} geometry
 * @param {Place} place
 */
export function boxOf({ left, top, cellWidth, cellHeight, rows, cols, gap }, { row, col, tall = 1, wide = 1 }) {
  return {
    left: left + (col ?? 0) * cellWidth,
    top: top + (row ?? 0) * cellHeight,
    width: (col === null ? cols : wide) * cellWidth - gap,
    height: (row === null ? rows : tall) * cellHeight - gap,
  };
}
