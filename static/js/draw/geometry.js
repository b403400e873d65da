/**
 * Where a matrix and its labels lie, in CSS pixels: worked out once, so that the first picture on
 * canvas, Plotly's that takes over, the labels and the pointer all agree to the pixel.
 */

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
 * @property {number} gap  of paper between cells
 * @property {number} slant  of words above columns, in degrees; 0: upright
 * @property {number} line  height of a label, at which the next one may stand
 */
/**
 * @typedef {object} Wanted
 * @property {number[]} rowWidths  of the labels
 * @property {number[]} colWidths  empty: columns have no labels
 * @property {boolean[]} [upright]  columns whose label never slants: single Chinese characters
 * @property {number} [cols]  where columns have no labels
 * @property {number} width  to fit into
 * @property {number} height  to fit into
 * @property {number} [stretch]  how much wider than high a cell may be; 1 is square
 * @property {number} [largest]  cell, where labels have their usual size
 * @property {number} [least]  cell, in pixels, along a side with labels: what does not fit is scrolled to
 * @property {boolean} [titles]  whether the axes have titles
 * @property {boolean} [bare]  whether rows have neither names nor a title: those of a matrix beside it stand for them
 * @property {number} [size]  of the labels' letters; lines and gutters follow it
 */

/** The usual size of a label, and what follows from it. */
const SIZE = 13;
const LINE = 16 / SIZE;
const TIGHT = 15 / SIZE;
const TITLE = 26 / SIZE;
const GAP = 8;
/** Words lean 45°, and steeper where columns are so narrow that they would lie on each other. */
const SLANTS = [45, 65];
const NARROW = 22 / SIZE;

/**
 * @param {Wanted} wanted
 * @returns {Geometry}
 */
export function fit(wanted) {
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
  } = wanted;
  const rows = rowWidths.length;
  const cols = colWidths.length || (wanted.cols ?? 0);
  const line = Math.round(LINE * size);
  const title = titles ? Math.round(TITLE * size) : 0;
  const left = bare ? 0 : Math.ceil(Math.max(0, ...rowWidths)) + GAP + title;
  let slant = 0;
  let place = cells(gutters(colWidths, upright, slant, line));
  if (colWidths.some((label, i) => !upright[i] && label > place.cellWidth - 4)) {
    for (slant of SLANTS) {
      place = cells(gutters(colWidths, upright, slant, line));
      if (place.cellWidth >= NARROW * size) break;
    }
  }

  /** @param {Gutter} gutter */
  function cells({ top, widest, right }) {
    const across = width - left;
    const cell = Math.min((largest * size) / SIZE, (height - top - title) / rows);
    const cellWidth = Math.min(cell * stretch, across / cols, widest(across));
    const cellHeight = stretch === Infinity ? cell : Math.min(cell, cellWidth);
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
    top: place.top + title,
    width: Math.round(left + cols * cellWidth + right),
    height: Math.round(place.top + title + rows * cellHeight),
    gap: Math.min(cellWidth, cellHeight) >= 9 ? 1 : 0,
    line: TIGHT * size,
  };
}

/**
 * @typedef {object} Gutter  the room that column labels need beside the cells
 * @property {number} top
 * @property {(room: number) => number} widest  a cell may be, so that all labels end within
 * @property {(cell: number) => number} right
 */

/**
 * @param {number[]} widths
 * @param {boolean[]} upright
 * @param {number} slant
 * @param {number} line  height of one
 * @returns {Gutter}
 */
function gutters(widths, upright, slant, line) {
  if (!widths.length) return { top: 0, widest: () => Infinity, right: () => 0 };
  if (!slant) return { top: line + GAP, widest: () => Infinity, right: () => 0 };
  // A slanted label starts at the middle of its column and leans to the right.
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
 * What lies at a point: a cell, the label of a row (no column) or of a column (no row).
 * @typedef {{row: number | null, col: number | null}} Place
 */

/**
 * @param {Geometry} geometry
 * @param {number} x
 * @param {number} y
 * @returns {Place | null}
 */
export function hit({ left, top, cellWidth, cellHeight, rows, cols, slant }, x, y) {
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

/** Pixels between the cells and where a column's label begins. */
const OFF = 6;

/**
 * How far right of its column's middle a slanted label's own middle is: it starts at the column's
 * middle, with its lower edge.
 * @param {number} above  the cells
 * @param {number} angle
 */
function leaning(above, angle) {
  const half = (LINE * SIZE) / 2;
  return Math.max(0, (above - OFF) / Math.tan(angle) - half / Math.sin(angle));
}

/**
 * Where a cell lies; a whole row where the column is open, a whole column where the row is.
 * @param {Geometry} geometry
 * @param {Place} place
 */
export function box({ left, top, cellWidth, cellHeight, rows, cols, gap }, { row, col }) {
  return {
    left: left + (col ?? 0) * cellWidth,
    top: top + (row ?? 0) * cellHeight,
    width: (col === null ? cols : 1) * cellWidth - gap,
    height: (row === null ? rows : 1) * cellHeight - gap,
  };
}
