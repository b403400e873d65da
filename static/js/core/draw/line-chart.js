/** Curves over integers, as SVG, with their names at their ends and one marked position. */

import { textRuler } from "./matrix-labels.js";
import { drawing, fine, s } from "./svg.js";

/** @import { Theme } from "../page/page-context.js" */

/** @typedef {{name: string, values: ArrayLike<number>, colour: string, dash?: string}} Curve */
/**
 * @typedef {object} Plot
 * @property {Curve[]} curves
 * @property {[number, number]} range  of the values
 * @property {{x: string, y: string}} titles
 * @property {number} width
 * @property {number} height
 * @property {string[]} [places]  labels of the positions, including future ones; absent: numbers
 * @property {number | null} markedIndex  the marked position
 * @property {{to: number, label: string}} [band]  shaded, from the first position to this one
 * @property {number} [right]  width for the names in pixels, so that charts above each other align;
 *   absent: as needed
 * @property {(value: number) => string} format
 */

const TOP = 12;
/** Two lines of text below the curves. @param {Pick<Theme, "size">} theme */
const bottom = ({ size }) => 5 + 3 * size;
const LEFT = 52;

/** @param {Plot} plot @param {Theme} theme @returns {SVGSVGElement} */
export function plot({ curves, range, titles, width, height, places, markedIndex, band, format, right: names }, theme) {
  const right = names ?? margins(curves, theme).right;
  const measure = textRuler(theme);
  const base = height - bottom(theme);
  const count = Math.max(1, places?.length ?? 0, ...curves.map(({ values }) => values.length));
  const [low, high] = range;
  const across = width - LEFT - right;
  const x = (/** @type {number} */ i) => LEFT + (across * i) / Math.max(1, count - 1);
  const y = (/** @type {number} */ value) =>
    TOP + ((high - value) / (high - low)) * (base - TOP);
  const beyond = Math.min(across / Math.max(1, count - 1) / 2, across + LEFT - x(band?.to ?? 0));
  const shaded = band ? shade(band, x(band.to) + beyond, base, measure(band.label), theme) : [];
  const grid = s("g", { stroke: theme.hatch, "stroke-opacity": 0.6, "stroke-width": 1 });
  const words = s("g", { fill: theme.muted, "dominant-baseline": "central" });
  for (const value of ticks(low, high)) {
    grid.append(s("path", { d: `M${LEFT} ${fine(y(value))}H${fine(x(count - 1))}` }));
    words.append(s("text", { x: LEFT - 8, y: fine(y(value)), "text-anchor": "end" }, format(value)));
  }
  const called = places ?? Array.from({ length: count }, (_, i) => String(i));
  const labelWidth = Math.max(36, ...called.map((name) => measure(name) + 8));
  for (const i of steps(count, across / labelWidth, places ? LABEL_STEPS : ROUND))
    words.append(s("text", { x: fine(x(i)), y: base + theme.size + 3, "text-anchor": "middle" }, called[i]));
  words.append(
    s("text", { x: fine(x((count - 1) / 2)), y: fine(base + 2.6 * theme.size), "text-anchor": "middle" }, titles.x),
    s("text", { x: LEFT, y: TOP - 4, "text-anchor": "start", "dominant-baseline": "auto" }, titles.y),
  );
  const mark =
    markedIndex !== null && markedIndex < count
      ? [s("path", { d: `M${fine(x(markedIndex))} ${TOP}V${base}`, stroke: theme.ink, "stroke-dasharray": "2 3" })]
      : [];
  const ends = spread(curves.map(({ values }) => y(values[values.length - 1] ?? 0)), theme.size + 3, base);
  const lines = curves.map((curve, i) => line(curve, x, y, ends[i], markedIndex, x(count - 1) + 10));
  const svg = drawing(width, height, theme, ...shaded, grid, ...mark, words, ...lines);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", curves.map(({ name }) => name).join("; "));
  return svg;
}

/**
 * @param {{label: string}} band  whose label is shown if there is room
 * @param {number} end
 * @param {number} base
 * @param {number} wide  the name
 * @param {Theme} theme
 */
function shade({ label }, end, base, wide, theme) {
  return [
    s("rect", { class: "band", x: LEFT, y: TOP, width: fine(end - LEFT), height: base - TOP, fill: theme.hatch, "fill-opacity": 0.22 }),
    s("text", { x: fine(end - 6), y: fine(base - theme.size), fill: theme.muted, "text-anchor": "end" }, end - LEFT > wide + 12 ? label : ""),
  ];
}

/**
 * Margins for the axis and the names of curves.
 * @param {Curve[]} curves
 * @param {Theme} theme
 */
export function margins(curves, theme) {
  const measure = textRuler(theme);
  return { left: LEFT, right: Math.max(0, ...curves.map(({ name }) => measure(name))) + 20 };
}

/**
 * @param {Curve} curve
 * @param {(i: number) => number} x
 * @param {(value: number) => number} y
 * @param {number} end  y of its name
 * @param {number | null} markedIndex
 * @param {number} right
 */
function line({ name, values, colour, dash }, x, y, end, markedIndex, right) {
  const points = Array.from(values, (value, i) => `${fine(x(i))} ${fine(y(value))}`);
  const dots = values.length <= 40 ? Array.from(values, (_, i) => i) : markedIndex !== null && markedIndex < values.length ? [markedIndex] : [];
  return s(
    "g",
    { "data-curve": name },
    s("path", {
      d: points.length ? `M${points.join("L")}` : "",
      fill: "none",
      stroke: colour,
      "stroke-width": 2,
      "stroke-linejoin": "round",
      "stroke-dasharray": dash ?? null,
    }),
    ...dots.map((i) =>
      s("circle", { cx: fine(x(i)), cy: fine(y(values[i])), r: i === markedIndex ? 5 : 2.5, fill: colour }),
    ),
    s("text", { x: fine(right), y: fine(end), fill: colour, "dominant-baseline": "central" }, name),
  );
}

/**
 * Move names apart so that they do not overlap.
 * @param {number[]} preferred
 * @param {number} least  distance
 * @param {number} bottom
 */
function spread(preferred, least, bottom) {
  const order = preferred.map((_, i) => i).sort((a, b) => preferred[a] - preferred[b]);
  const placed = [...preferred];
  order.forEach((i, n) => {
    if (n) placed[i] = Math.max(placed[i], placed[order[n - 1]] + least);
  });
  let limit = bottom;
  for (const i of order.reverse()) {
    placed[i] = Math.min(placed[i], limit);
    limit = placed[i] - least;
  }
  return placed;
}

/** About five round values. @param {number} low @param {number} high */
function ticks(low, high) {
  const rough = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5].find((unit) => unit * power >= rough * 0.99) ?? 10);
  const first = Math.ceil(low / step - 1e-9);
  const count = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length: count }, (_, i) => (first + i) * step);
}

/** Distances between labelled positions. */
const ROUND = [1, 2, 5, 10, 20, 50, 100, 200, 500];
const LABEL_STEPS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20];

/** @param {number} count @param {number} room  for so many names @param {number[]} sizes */
function steps(count, room, sizes) {
  const maxLabels = Math.max(2, room);
  const step = sizes.find((size) => count / size <= maxLabels) ?? sizes[sizes.length - 1];
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => i * step);
}
