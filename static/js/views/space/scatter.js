/**
 * The plane: queries as circles, keys as squares, labels if there is room, lines to the best keys.
 */

import { drawing, fine, s } from "../../core/draw/svg.js";

/** @import { RankedKey } from "./qk-plane.js" */
/** @import { Theme } from "../../core/page/page-context.js" */

/**
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {Point[]} points  queries, then keys
 * @property {Point} origin  the mean query and the mean key
 * @property {Point[]} directions  of each query, as a step from the origin, in pixels
 * @property {string[]} labels  of the points
 * @property {{width: number, height: number}[]} sizes  of the labels
 * @property {(Box | null)[]} boxes  positions of the labels; null: no room
 * @property {number} queries  number of queries among the points
 * @property {number} unit  scale relative to the font size of 13 px
 */
/** @typedef {{query: number, key: number | null, best: RankedKey[]}} PointHighlight */

/** Half the size of a mark, and the distance from its middle to its label, for labels of 13 px. */
const [MARK, GAP] = [5, 9];

/** @param {Omit<Layout, "boxes">} content @returns {Layout} */
export function layoutOf(content) {
  const { points, sizes, width, height, origin, unit } = content;
  // The origin is a mark too: no label covers it.
  const boxes = spread([...points, origin], [...sizes, { width: 0, height: 0 }], { width, height }, { gap: GAP * unit, mark: (MARK + 1) * unit });
  return { ...content, boxes: boxes.slice(0, -1) };
}

/** @param {Layout} layout @param {PointHighlight} lit @param {Theme} theme */
export function picture(layout, lit, theme) {
  const { width, height, points, queries } = layout;
  const strong = new Set([lit.query, ...lit.best.map(({ key }) => queries + key), ...(lit.key === null ? [] : [queries + lit.key])]);
  const boxes = visibleBoxes(layout, strong);
  const order = [...points.keys()].sort((a, b) => Number(strong.has(a)) - Number(strong.has(b)));
  const drawn = drawing(
    width,
    height,
    theme,
    zero(layout, theme),
    arrow(layout, lit, theme),
    ...lines(layout, lit, theme),
    ...order.map((i) => mark(layout, i, strong.has(i), theme)),
    ...order.flatMap((i) => label(layout, i, boxes[i], strong.has(i), theme) ?? []),
  );
  drawn.setAttribute("aria-hidden", "true");
  return drawn;
}

/**
 * Highlighted points always have a label; labels that they would cover are hidden.
 * @param {Layout} layout
 * @param {Set<number>} strong
 * @returns {(Box | null)[]}
 */
function visibleBoxes({ points, sizes, boxes, width, height, unit }, strong) {
  const all = [...boxes];
  const lit = [...strong].flatMap((i) => boxes[i] ?? []);
  for (const i of strong) {
    if (boxes[i]) continue;
    const places = PLACES.map((place) => beside(points[i], sizes[i], place, GAP * unit)).filter(
      ({ left, top, ...size }) => left >= 0 && top >= 0 && left + size.width <= width && top + size.height <= height,
    );
    all[i] = places.find((place) => !lit.some((litBox) => touch(place, litBox))) ?? places[0] ?? null;
    if (all[i]) lit.push(all[i]);
  }
  return all.map((box, i) => (box && !strong.has(i) && lit.some((litBox) => touch(box, litBox)) ? null : box));
}

/** A cross at the means. @param {Layout} layout @param {Theme} theme */
function zero({ origin: { x, y } }, theme) {
  const d = `M${fine(x - 7)} ${fine(y)}h14M${fine(x)} ${fine(y - 7)}v14`;
  return s("path", { d, stroke: theme.muted, "stroke-width": 2, fill: "none" });
}

/**
 * A line from the origin in the direction of the highlighted query: keys far out in that direction
 * have a large q · k.
 * @param {Layout} layout
 * @param {PointHighlight} lit
 * @param {Theme} theme
 */
function arrow({ directions, origin, width, height }, { query }, theme) {
  const { x, y } = directions[query];
  const far = Math.min(border(origin.x, x, width), border(origin.y, y, height));
  const d = Number.isFinite(far) ? `M${fine(origin.x)} ${fine(origin.y)}L${fine(origin.x + far * x)} ${fine(origin.y + far * y)}` : "";
  return s("path", { d, stroke: theme.q, "stroke-width": 1.5, "stroke-dasharray": "2 4", fill: "none" });
}

/**
 * How many steps lead to the border.
 * @param {number} position
 * @param {number} step
 * @param {number} room
 */
const border = (position, step, room) => (step > 0 ? (room - position) / step : step < 0 ? -position / step : Infinity);

/** @param {Layout} layout @param {PointHighlight} lit @param {Theme} theme */
function lines({ points, queries }, { query, best }, theme) {
  const from = points[query];
  return best.map(({ key, weight }) => {
    const to = points[queries + key];
    return s("line", {
      x1: fine(from.x),
      y1: fine(from.y),
      x2: fine(to.x),
      y2: fine(to.y),
      stroke: theme.attention,
      "stroke-width": fine(1 + 6 * weight),
      "stroke-opacity": 0.75,
      "data-key": key,
    });
  });
}

/** @param {Layout} layout @param {number} i @param {boolean} strong @param {Theme} theme */
function mark({ points, queries, unit }, i, strong, theme) {
  const { x, y } = points[i];
  const half = (strong ? MARK + 1.5 : MARK) * unit;
  const ink = { stroke: i < queries ? theme.q : theme.k, "stroke-width": strong ? 2 : 1.5, "data-point": i };
  if (i < queries) return s("circle", { cx: fine(x), cy: fine(y), r: half, fill: strong ? theme.q : theme.paper, ...ink });
  return s("rect", {
    x: fine(x - half + 0.5),
    y: fine(y - half + 0.5),
    width: 2 * half - 1,
    height: 2 * half - 1,
    fill: strong ? theme.k : theme.paper,
    ...ink,
  });
}

/** @param {Layout} layout @param {number} i @param {Box | null} box @param {boolean} strong @param {Theme} theme */
function label({ labels, queries }, i, box, strong, theme) {
  if (!box) return null;
  return s(
    "text",
    {
      lang: /\p{Script=Han}/u.test(labels[i]) ? "zh-Hans" : "en",
      x: fine(box.left),
      y: fine(box.top + box.height * 0.76),
      fill: i < queries ? theme.q : theme.k,
      "font-weight": strong ? 700 : 400,
      stroke: theme.paper,
      "stroke-width": 4,
      "stroke-linejoin": "round",
      "paint-order": "stroke",
    },
    labels[i],
  );
}

// Place labels beside their points without overlapping other labels or points. A label for which
// there is no room gets none; it is shown only when its point is highlighted.

/** @typedef {{x: number, y: number}} Point */
/** @typedef {{left: number, top: number, width: number, height: number}} Box */
/** @typedef {{width: number, height: number}} Size */

/** Candidate positions of a label around its point, best first: [across, down], from −1 to 1. */
const PLACES = /** @type {const} */ ([
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
        !boxes.some((placedBox) => placedBox && touch(box, placedBox)) &&
        !marks.some((mark, j) => j !== i && touch(box, mark)),
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
function beside({ x, y }, { width, height }, [across, down], gap) {
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
