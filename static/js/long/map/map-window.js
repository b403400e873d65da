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
/** The size in pixels up to which the units of a text stretch if all of them are in sight. */
export const ROOMY = 36;

/** @typedef {{rows: number, cols: number}} Extent  of the whole matrix, in units */
/** @typedef {{width: number, height: number}} Size  of the view, in pixels */
/** @typedef {{wide: number, high: number}} Unit  pixels of a column and of a row */
/** @typedef {Unit & {top: number, left: number}} Camera  the first row and column in sight, and the size of a unit */
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
export const wholeCamera = (extent, size) => ({ top: 0, left: 0, ...unitOf(fitting(extent, size), extent, size) });

/**
 * The size of a unit: square in a matrix of one text with itself. Where a long text meets a short one,
 * the short side fills the space, so that its rows can be seen and have their labels.
 * @param {number} scale  the smaller side, in pixels
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Unit}
 */
function unitOf(scale, { rows, cols }, { width, height }) {
  if (rows === cols) return { wide: scale, high: scale };
  const stretched = (/** @type {number} */ pixels, /** @type {number} */ count) => Math.max(scale, Math.min(pixels / Math.max(1, count), ROOMY));
  return { wide: stretched(width, cols), high: stretched(height, rows) };
}

/** The smaller side of a unit, by which the map is zoomed. @param {Unit} unit */
export const scaleOf = ({ wide, high }) => Math.min(wide, high);

/** @param {Extent} extent @param {Size} size  Pixels a unit at which all is in sight. */
function fitting({ rows, cols }, { width, height }) {
  return Math.min(width / Math.max(1, cols), height / Math.max(1, rows), CLOSEST);
}

/** @param {number} scale @param {Extent} extent @param {Size} size  The unit nearest to a scale that is possible. */
const possible = (scale, extent, size) => unitOf(Math.min(Math.max(scale, fitting(extent, size)), CLOSEST), extent, size);

/**
 * Clamp a camera so that it shows nothing outside the matrix.
 * @param {Camera} camera
 * @param {Extent} extent
 * @param {Size} size
 * @returns {Camera}
 */
function clampedCamera({ top, left, ...unit }, extent, size) {
  const { wide, high } = possible(scaleOf(unit), extent, size);
  const within = (/** @type {number} */ start, /** @type {number} */ count, /** @type {number} */ visible) =>
    Math.min(Math.max(start, 0), Math.max(0, count - visible));
  return { wide, high, top: within(top, extent.rows, size.height / high), left: within(left, extent.cols, size.width / wide) };
}

/**
 * Zoom about a point, which stays in place.
 * @param {Camera} camera
 * @param {number} factor
 * @param {Point} point  in pixels of the view
 * @param {Extent} extent
 * @param {Size} size
 */
export function zoomedCamera(camera, factor, { x, y }, extent, size) {
  const unit = possible(scaleOf(camera) * factor, extent, size);
  const top = camera.top + y / camera.high - y / unit.high;
  const left = camera.left + x / camera.wide - x / unit.wide;
  return clampedCamera({ top, left, ...unit }, extent, size);
}

/** @param {Camera} camera @param {Point} by  pixels that the matrix is dragged @param {Extent} extent @param {Size} size */
export const movedCamera = ({ top, left, wide, high }, { x, y }, extent, size) =>
  clampedCamera({ wide, high, top: top - y / high, left: left - x / wide }, extent, size);

/**
 * The camera that shows a window.
 * @param {Window} window
 * @param {Extent} extent
 * @param {Size} size
 */
export function cameraOf({ rows, cols }, extent, size) {
  const scale = Math.min(size.width / Math.max(1, cols[1] - cols[0]), size.height / Math.max(1, rows[1] - rows[0]));
  return clampedCamera({ top: rows[0], left: cols[0], wide: scale, high: scale }, extent, size);
}

/** @param {Camera} camera @param {Extent} extent @param {Size} size @returns {Window}  the units in sight, if only in part */
export function windowOf({ top, left, wide, high }, extent, { width, height }) {
  const range = (/** @type {number} */ start, /** @type {number} */ visible, /** @type {number} */ count) =>
    /** @type {Range} */ ([Math.max(0, Math.floor(start + 1e-6)), Math.min(count, Math.ceil(start + visible - 1e-6))]);
  return { rows: range(top, height / high, extent.rows), cols: range(left, width / wide, extent.cols) };
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
export function revealingCamera({ top, left, wide, high }, { row, col }, extent, size) {
  const near = (/** @type {number} */ start, /** @type {number | null} */ cell, /** @type {number} */ visible) => {
    if (cell === null) return start;
    if (cell < start) return cell;
    return cell + 1 > start + visible ? cell + 1 - visible : start;
  };
  return clampedCamera({ wide, high, top: near(top, row, size.height / high), left: near(left, col, size.width / wide) }, extent, size);
}

/**
 * Move a camera so that a cell is in the middle.
 * @param {Camera} camera
 * @param {{row: number | null, col: number | null}} cell
 * @param {Extent} extent
 * @param {Size} size
 */
export function centredCamera({ top, left, wide, high }, { row, col }, extent, size) {
  const middle = (/** @type {number} */ start, /** @type {number | null} */ cell, /** @type {number} */ visible) =>
    cell === null ? start : cell + 0.5 - visible / 2;
  return clampedCamera({ wide, high, top: middle(top, row, size.height / high), left: middle(left, col, size.width / wide) }, extent, size);
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

/**
 * The rows and columns of a cell: a side that fits into a tile as it is, is not pooled.
 * @param {number} level
 * @param {Extent} extent
 */
export function spanOf(level, { rows, cols }) {
  const span = (/** @type {number} */ count) => Math.ceil(Math.min(SIDE * 2 ** level, Math.max(1, count)) / SIDE);
  return { rows: span(rows), cols: span(cols) };
}

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
  const tiles = [];
  for (let row = Math.floor(rows[0] / side); row * side < rows[1]; row++)
    for (let col = Math.floor(cols[0] / side); col * side < cols[1]; col++) tiles.push({ level, row, col });
  const away = (/** @type {Tile} */ { row, col }) => Math.hypot(row - middle.row, col - middle.col);
  return tiles.sort((a, b) => away(a) - away(b));
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
 * @param {(tile: Tile) => T | undefined} contentOf
 * @returns {{tile: Tile, content: T}[]}
 */
export function tileLayers(window, level, extent, contentOf) {
  const drawn = [];
  for (let tileLevel = coarsest(extent); tileLevel >= level; tileLevel--)
    for (const tile of tilesOf(window, tileLevel)) {
      const content = contentOf(tile);
      if (content) drawn.push({ tile, content });
    }
  return drawn;
}

/**
 * Whether a causal mask hides all keys of a tile from all its queries.
 * @param {Window} units
 * @param {boolean} causal
 */
export const isHidden = ({ rows, cols }, causal) => causal && cols[0] > rows[1] - 1;

// The zoom and position of a map, and the level that they need.

/** @typedef {{row: number | null, col: number | null}} Place */
/**
 * @typedef {object} Ground
 * @property {() => Extent} extent
 * @property {() => Size} size  of the view, in pixels
 * @property {() => boolean} pools  whether small cells are pooled
 * @property {() => void} changed
 */

/** @param {Ground} ground */
export function createCamera({ extent, size, pools, changed }) {
  /** @type {Camera} */
  let camera = { top: 0, left: 0, wide: 1, high: 1 };
  let level = 0;

  /** @param {Camera} next */
  function go(next) {
    if (next.top === camera.top && next.left === camera.left && next.wide === camera.wide && next.high === camera.high) return;
    camera = next;
    level = levelOf(scaleOf(camera), extent(), pools());
    changed();
  }
  const sight = () => windowOf(camera, extent(), size());

  return {
    now: () => camera,
    level: () => level,
    window: sight,
    isWhole: () => isWhole(sight(), extent()),
    /** @param {number} factor @param {Point} point */
    zoom: (factor, point) => go(zoomedCamera(camera, factor, point, extent(), size())),
    /** @param {Point} by */
    move: (by) => go(movedCamera(camera, by, extent(), size())),
    showAll: () => go(wholeCamera(extent(), size())),
    /** @param {Place} place  Brings it into sight. */
    reveal: (place) => go(revealingCamera(camera, place, extent(), size())),
    /** @param {Place} place */
    centre: (place) => go(centredCamera(camera, place, extent(), size())),

    /** @param {Window | null} window  Shows it; null: all. */
    show(window) {
      camera = { top: -1, left: -1, wide: -1, high: -1 };
      go(window ? cameraOf(window, extent(), size()) : wholeCamera(extent(), size()));
    },
  };
}

/**
 * The point about which keys and buttons zoom: the pinned cell if visible, else the middle.
 * @param {Camera} camera
 * @param {Size} size
 * @param {Place} pinned
 * @returns {Point}
 */
export function zoomCentre({ top, left, wide, high }, { width, height }, { row, col }) {
  const x = col === null ? width / 2 : (col + 0.5 - left) * wide;
  const y = row === null ? height / 2 : (row + 0.5 - top) * high;
  return x >= 0 && y >= 0 && x <= width && y <= height ? { x, y } : { x: width / 2, y: height / 2 };
}
