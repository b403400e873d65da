/**
 * The plane: queries as circles, keys as squares, labels if there is room, lines to the best keys.
 */

import { beside, PLACES, spread, touch } from "./label-placement.js";
import { drawing, fine, s } from "../../core/draw/svg.js";

/** @import { Theme } from "../../core/page/page-context.js" */
/** @import { Point, Box } from "./label-placement.js" */
/** @import { Found } from "./qk-plane.js" */
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
/** @typedef {{query: number, key: number | null, best: Found[]}} Lit */

/** Half the size of a mark, and the distance from its middle to its label, for labels of 13 px. */
const [MARK, GAP] = [5, 9];

/** @param {Omit<Layout, "boxes">} content @returns {Layout} */
export function lay(content) {
  const { points, sizes, width, height, origin, unit } = content;
  // The origin is a mark too: no label covers it.
  const boxes = spread([...points, origin], [...sizes, { width: 0, height: 0 }], { width, height }, { gap: GAP * unit, mark: (MARK + 1) * unit });
  return { ...content, boxes: boxes.slice(0, -1) };
}

/** @param {Layout} layout @param {Lit} lit @param {Theme} theme */
export function picture(layout, lit, theme) {
  const { width, height, points, queries } = layout;
  const strong = new Set([lit.query, ...lit.best.map(({ key }) => queries + key), ...(lit.key === null ? [] : [queries + lit.key])]);
  const boxes = shown(layout, strong);
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
function shown({ points, sizes, boxes, width, height, unit }, strong) {
  const all = [...boxes];
  const lit = [...strong].flatMap((i) => boxes[i] ?? []);
  for (const i of strong) {
    if (boxes[i]) continue;
    const places = PLACES.map((place) => beside(points[i], sizes[i], place, GAP * unit)).filter(
      ({ left, top, ...size }) => left >= 0 && top >= 0 && left + size.width <= width && top + size.height <= height,
    );
    all[i] = places.find((place) => !lit.some((other) => touch(place, other))) ?? places[0] ?? null;
    if (all[i]) lit.push(all[i]);
  }
  return all.map((box, i) => (box && !strong.has(i) && lit.some((other) => touch(box, other)) ? null : box));
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
 * @param {Lit} lit
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
 * @param {number} at
 * @param {number} step
 * @param {number} room
 */
const border = (at, step, room) => (step > 0 ? (room - at) / step : step < 0 ? -at / step : Infinity);

/** @param {Layout} layout @param {Lit} lit @param {Theme} theme */
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
