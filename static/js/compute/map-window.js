/**
 * The window of a large matrix: which cells are visible, zooming and panning, and which tiles of
 * which level show them. Rows and columns are counted in units: tokens, or groups of tokens.
 *
 * Tiles form a pyramid: a tile of level k is at most 256 × 256 cells of 2ᵏ × 2ᵏ units each. Level 0
 * has single units. All functions are pure.
 */

/** Cells on each side of a tile. */
export const SIDE = 256;
/** The largest size of a unit, in pixels. */
export const CLOSEST = 72;

/** @typedef {{rows: number, cols: number}} Extent  of the whole matrix, in units */
/** @typedef {{width: number, height: number}} Size  of the view, in pixels */
/** @typedef {{top: number, left: number, scale: number}} Camera  the first row and column in sight, pixels a unit */
/** @typedef {[number, number]} Range  from, and up to but without */
/** @typedef {{rows: Range, cols: Range}} Window */
/** @typedef {{level: number, row: number, col: number}} Tile */
/** @typedef {{x: number, y: number}} Point */

/**
 * A camera that shows the whole matrix.
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Camera}
 */
export const whole = (extent, size) => ({ top: 0, left: 0, scale: fitting(extent, size) });

/** @param {Extent} extent @param {Size} size  Pixels a unit at which all is in sight. */
function fitting({ rows, cols }, { width, height }) {
  return Math.min(width / Math.max(1, cols), height / Math.max(1, rows), CLOSEST);
}

/**
 * Clamp a camera so that it shows nothing outside the matrix.
 * @param {Camera} camera
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Camera}
 */
export function held({ top, left, scale }, extent, size) {
  const zoom = Math.min(Math.max(scale, fitting(extent, size)), CLOSEST);
  const within = (/** @type {number} */ at, /** @type {number} */ count, /** @type {number} */ pixels) =>
    Math.min(Math.max(at, 0), Math.max(0, count - pixels / zoom));
  return { scale: zoom, top: within(top, extent.rows, size.height), left: within(left, extent.cols, size.width) };
}

/**
 * Zoom about a point, which stays in place.
 * @param {Camera} camera
 * @param {number} factor
 * @param {Point} point  in pixels of the view
 * @param {Extent} extent
 * @param {Size} size
 */
export function zoomed(camera, factor, { x, y }, extent, size) {
  const scale = Math.min(Math.max(camera.scale * factor, fitting(extent, size)), CLOSEST);
  const top = camera.top + y / camera.scale - y / scale;
  const left = camera.left + x / camera.scale - x / scale;
  return held({ top, left, scale }, extent, size);
}

/** @param {Camera} camera @param {Point} by  pixels that the matrix is dragged @param {Extent} extent @param {Size} size */
export const moved = ({ top, left, scale }, { x, y }, extent, size) =>
  held({ scale, top: top - y / scale, left: left - x / scale }, extent, size);

/**
 * The camera that shows a window.
 * @param {Window} window
 * @param {Extent} extent
 * @param {Size} size
 */
export function cameraOf({ rows, cols }, extent, size) {
  const scale = Math.min(size.width / Math.max(1, cols[1] - cols[0]), size.height / Math.max(1, rows[1] - rows[0]));
  return held({ top: rows[0], left: cols[0], scale }, extent, size);
}

/** @param {Camera} camera @param {Extent} extent @param {Size} size @returns {Window}  the units in sight, if only in part */
export function windowOf({ top, left, scale }, extent, { width, height }) {
  const range = (/** @type {number} */ at, /** @type {number} */ pixels, /** @type {number} */ count) =>
    /** @type {Range} */ ([Math.max(0, Math.floor(at + 1e-6)), Math.min(count, Math.ceil(at + pixels / scale - 1e-6))]);
  return { rows: range(top, height, extent.rows), cols: range(left, width, extent.cols) };
}

/** Whether a window is the whole matrix. @param {Window} window @param {Extent} extent */
export const isWhole = ({ rows, cols }, extent) => rows[0] === 0 && cols[0] === 0 && rows[1] === extent.rows && cols[1] === extent.cols;

/**
 * Move a camera just enough to make a cell visible.
 * @param {Camera} camera
 * @param {{row: number | null, col: number | null}} cell  null: any
 * @param {Extent} extent
 * @param {Size} size
 */
export function revealing({ top, left, scale }, { row, col }, extent, size) {
  const near = (/** @type {number} */ at, /** @type {number | null} */ cell, /** @type {number} */ pixels) => {
    if (cell === null) return at;
    const seen = pixels / scale;
    if (cell < at) return cell;
    return cell + 1 > at + seen ? cell + 1 - seen : at;
  };
  return held({ scale, top: near(top, row, size.height), left: near(left, col, size.width) }, extent, size);
}

/**
 * Move a camera so that a cell is in the middle.
 * @param {Camera} camera
 * @param {{row: number | null, col: number | null}} cell
 * @param {Extent} extent
 * @param {Size} size
 */
export function centred({ top, left, scale }, { row, col }, extent, size) {
  const middle = (/** @type {number} */ at, /** @type {number | null} */ cell, /** @type {number} */ pixels) =>
    cell === null ? at : cell + 0.5 - pixels / scale / 2;
  return held({ scale, top: middle(top, row, size.height), left: middle(left, col, size.width) }, extent, size);
}

/**
 * The level whose cells are at least one pixel.
 * @param {number} scale
 * @param {Extent} extent
 * @param {boolean} pools  whether small units are pooled; otherwise all tiles have level 0
 */
export function levelOf(scale, extent, pools = true) {
  if (!pools || scale >= 1) return 0;
  return Math.min(Math.ceil(Math.log2(1 / scale) - 1e-6), coarsest(extent));
}

/** The level at which one tile covers the whole matrix. @param {Extent} extent */
export const coarsest = ({ rows, cols }) => Math.max(0, Math.ceil(Math.log2(Math.max(rows, cols, 1) / SIDE)));

/** @param {Tile} tile @param {Extent} extent @returns {Window}  the units that a tile shows */
export function unitsOf({ level, row, col }, { rows, cols }) {
  const side = SIDE * 2 ** level;
  return { rows: [row * side, Math.min((row + 1) * side, rows)], cols: [col * side, Math.min((col + 1) * side, cols)] };
}

/**
 * The tiles of a level that cover a window, the middle ones first.
 * @param {Window} window
 * @param {number} level
 * @returns {Tile[]}
 */
export function tilesOf({ rows, cols }, level) {
  const side = SIDE * 2 ** level;
  const middle = { row: (rows[0] + rows[1]) / 2 / side - 0.5, col: (cols[0] + cols[1]) / 2 / side - 0.5 };
  /** @type {Tile[]} */
  const found = [];
  for (let row = Math.floor(rows[0] / side); row * side < rows[1]; row++)
    for (let col = Math.floor(cols[0] / side); col * side < cols[1]; col++) found.push({ level, row, col });
  const away = (/** @type {Tile} */ { row, col }) => Math.hypot(row - middle.row, col - middle.col);
  return found.sort((a, b) => away(a) - away(b));
}

/** @param {Tile} tile  Names a tile of one matrix. */
export const tileName = ({ level, row, col }) => `${level}/${row}/${col}`;

/**
 * The tiles to draw a window with, coarsest first: the available ones of each level, so that a
 * coarser tile stays visible until a sharper one arrives.
 * @template T
 * @param {Window} window
 * @param {number} level  the sharpest level to draw
 * @param {Extent} extent
 * @param {(tile: Tile) => T | undefined} there
 * @returns {{tile: Tile, found: T}[]}
 */
export function layered(window, level, extent, there) {
  const drawn = [];
  for (let at = coarsest(extent); at >= level; at--)
    for (const tile of tilesOf(window, at)) {
      const found = there(tile);
      if (found) drawn.push({ tile, found });
    }
  return drawn;
}

/**
 * Whether a causal mask hides all keys of a tile from all its queries.
 * @param {Window} units
 * @param {boolean} causal
 */
export const hidden = ({ rows, cols }, causal) => causal && cols[0] > rows[1] - 1;
