/**
 * Place labels beside their points without overlapping other labels or points. A label for which
 * there is no room gets none; it is shown only when its point is highlighted.
 */

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{width: number, height: number}} Size */

/** Candidate positions of a label around its point, best first: [across, down], from −1 to 1. */
export const PLACES = /** @type {const} */ ([
  [1, 0],
  [-1, 0],
  [0, -1],
  [0, 1],
  [1, -1],
  [-1, -1],
  [1, 1],
  [-1, 1],
]);

/**
 * @param {Point[]} points
 * @param {Size[]} sizes  of the labels
 * @param {Size} room
 * @param {{gap?: number, mark?: number, first?: number[]}} [options]  space between a point and its
 *   label, half the size of a point's mark, and which points get their label first
 * @returns {(Box | null)[]}  the position of each label, or null
 */
export function spread(points, sizes, room, { gap = 8, mark = 6, first = [] } = {}) {
  const marks = points.map((point) => square(point, mark));
  /** @type {(Box | null)[]} */
  const boxes = points.map(() => null);
  const order = [...new Set([...first, ...points.keys()])];
  for (const i of order) {
    const free = PLACES.map((place) => beside(points[i], sizes[i], place, gap)).find(
      (box) =>
        inside(box, room) &&
        !boxes.some((other) => other && touch(box, other)) &&
        !marks.some((other, j) => j !== i && touch(box, other)),
    );
    boxes[i] = free ?? null;
  }
  return boxes;
}

/**
 * @param {Point} point
 * @param {Size} size
 * @param {readonly [number, number]} place
 * @param {number} gap
 * @returns {Box}
 */
export function beside({ x, y }, { width, height }, [across, down], gap) {
  const reach = across && down ? gap * 0.7 : gap;
  return {
    left: x - width / 2 + across * (width / 2 + reach),
    top: y - height / 2 + down * (height / 2 + reach),
    width,
    height,
  };
}

/** @param {Point} point @param {number} half @returns {Box} */
const square = ({ x, y }, half) => ({ left: x - half, top: y - half, width: half * 2, height: half * 2 });

/** @param {Box} box @param {Size} room */
const inside = ({ left, top, width, height }, room) =>
  left >= 0 && top >= 0 && left + width <= room.width && top + height <= room.height;

/** @param {Box} a @param {Box} b */
export const touch = (a, b) =>
  a.left < b.left + b.width &&
  b.left < a.left + a.width &&
  a.top < b.top + b.height &&
  b.top < a.top + a.height;
