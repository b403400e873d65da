/**
 * Labels beside their points, where they lie on no other label and on no other point. What finds
 * no room has none, and is shown when it is asked for.
 */

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{width: number, height: number}} Size */

/** Where a label may stand about its point, the best places first: [across, down], from −1 to 1. */
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
 * @param {Size[]} sizes  of their labels
 * @param {Size} room
 * @param {{gap?: number, mark?: number, first?: number[]}} [options]  space between a point and its
 *   label, half a point's mark, and which points are served first
 * @returns {(Box | null)[]}  a place for each label, or none
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
