/**
 * Colour scales. Each is a straight line through OKLab, along which a value lies at its power
 * `LIFT`: steps shrink evenly towards the strong end, so that small values are seen. It is cut into
 * stops between which Plotly and our canvas both mix plain sRGB: the same value has the same colour
 * in either. app/figures/heatmap.py has the same scale.
 */

import { el } from "../../lib/dom.js";
import { memo } from "../../lib/memo.js";
import { plainly } from "../../lib/numbers.js";

/** @import { Child } from "../../lib/dom.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Theme } from "../page/page-context.js" */

/** @typedef {[number, number, number]} Rgb  0–255 */
/** @typedef {Rgb[]} Stops  evenly spaced from the scale's low end to its high end */
/** @typedef {{paper: string, ink: string, attention: string, q: string, k: string}} Palette */

const STEPS = 16;
/** Without it a weight of 0.15 has a contrast of 1.3 to an empty cell; with it, of at least 1.7. */
const LIFT = 0.65;
/** With it a share of 0.06 has a contrast of at least 1.7 to an empty cell, instead of 1.27. */
const SHARES_LIFT = 0.42;
/**
 * Number of stops of a logarithmic scale for Plotly, enough that interpolation errors are
 * invisible.
 */
const LOG_STEPS = 128;

/**
 * The scale for values from 0 to 1.
 * @param {Palette} palette
 * @returns {Stops}
 */
export function sequential(palette) {
  const [paper, attention] = [rgb(palette.paper), rgb(palette.attention)];
  return memo(palette, "sequential", () => between(paper, attention, 0.045));
}

/**
 * The scale for shares of attention among sentences: most are small, since a row has many, while the
 * first sentence has all of its own.
 * @param {Palette} palette
 * @returns {Stops}
 */
export function shares(palette) {
  return memo(palette, "shares", () => between(rgb(palette.paper), rgb(palette.attention), 0.045, SHARES_LIFT));
}

/**
 * The scale for signed values, around 0.
 * @param {Palette} palette
 * @returns {Stops}
 */
export function diverging(palette) {
  const { q, k } = palette;
  const middle = rgb(palette.paper);
  const half = (/** @type {string} */ end) => between(middle, rgb(end));
  const work = () => [...half(q).reverse(), ...half(k).slice(1)];
  return memo(palette, "diverging", work);
}

/**
 * @param {Stops} stops
 * @param {number} fraction  0–1, clamped
 * @returns {Rgb}
 */
export function colour(stops, fraction) {
  const place = Math.min(Math.max(fraction, 0), 1) * (stops.length - 1);
  const low = Math.min(Math.floor(place), stops.length - 2);
  const [a, b] = [stops[low], stops[low + 1]];
  const mixed = a.map((channel, i) => Math.round(channel + (b[i] - channel) * (place - low)));
  return /** @type {Rgb} */ (mixed);
}

/**
 * A colour scale in Plotly's format.
 * @param {Stops} stops
 * @param {number} [floor]  the minimum of a logarithmic scale that ends at 1
 * @returns {[number, string][]}
 */
export function colorscale(stops, floor) {
  if (!floor) return stops.map((stop, i) => [i / (stops.length - 1), css(stop)]);
  const steps = Array.from({ length: LOG_STEPS + 1 }, (_, i) => i / LOG_STEPS);
  const above = steps.map((fraction) => /** @type {[number, string]} */ ([floor ** (1 - fraction), css(colour(stops, fraction))]));
  return [[0, css(stops[0])], ...above];
}

/**
 * The position of a value from 0 to 1 on a logarithmic scale; values below the minimum count as the
 * minimum.
 * @param {number} value
 * @param {number} floor
 */
export function logarithmic(value, floor) {
  return value <= floor ? 0 : 1 - Math.log(value) / Math.log(floor);
}

/**
 * A colour scale as a CSS gradient, for a legend.
 * @param {Stops} stops
 */
export function gradient(stops) {
  return `linear-gradient(to right, ${stops.map(css).join(", ")})`;
}

/** @param {Rgb} colour */
export function css([r, g, b]) {
  return `rgb(${r}, ${g}, ${b})`;
}

/**
 * @param {string} hex  "#rrggbb"
 * @returns {Rgb}
 */
export function rgb(hex) {
  const n = Number.parseInt(hex.trim().slice(1), 16);
  if (!/^#[0-9a-f]{6}$/i.test(hex.trim())) throw new TypeError(`unknown colour: ${hex}`);
  return [n >> 16, (n >> 8) & 255, n & 255];
}

/**
 * WCAG 2 contrast ratio.
 * @param {Rgb} a
 * @param {Rgb} b
 */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

/**
 * @param {Rgb} from
 * @param {Rgb} to
 * @param {number} [bloom]  chroma added half-way, in the hue of `to`: the middle is not grey
 * @param {number} [lift]  the power at which a value lies
 * @returns {Stops}
 */
function between(from, to, bloom = 0, lift = LIFT) {
  const [a, b] = [oklab(from), oklab(to)];
  const chroma = Math.hypot(b[1], b[2]);
  return Array.from({ length: STEPS + 1 }, (_, i) => {
    const fraction = (i / STEPS) ** lift;
    const extraChroma = (bloom * Math.sin(Math.PI * fraction)) / chroma;
    const [L, x, y] = a.map((channel, c) => channel + (b[c] - channel) * fraction);
    return fromOklab([L, x + b[1] * extraChroma, y + b[2] * extraChroma]);
  });
}

/**
 * Colours for several items, of equal lightness and evenly spaced hues.
 * @param {number} count
 * @param {Palette} palette  light colours on a dark background, dark ones on a light background
 * @returns {Rgb[]}
 */
export function hues(count, { paper }) {
  const lightness = luminance(rgb(paper)) > 0.5 ? 0.52 : 0.76;
  return Array.from({ length: count }, (_, i) => {
    const angle = ((292 + (360 * i) / count) * Math.PI) / 180;
    return fromOklab([lightness, 0.14 * Math.cos(angle), 0.14 * Math.sin(angle)]);
  });
}

/** @param {Rgb} colour */
function luminance(colour) {
  const [r, g, b] = colour.map(linear);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @param {number} channel  sRGB 0–255 */
function linear(channel) {
  const c = channel / 255;
  return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
}

/** @param {number} c  linear light 0–1 */
function gamma(c) {
  const coded = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
  return Math.round(Math.min(Math.max(coded, 0), 1) * 255);
}

/**
 * Björn Ottosson, "A perceptual color space for image processing" (2020).
 * @param {Rgb} colour
 * @returns {Rgb}  L, a, b
 */
function oklab(colour) {
  const [r, g, b] = colour.map(linear);
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

/** @param {Rgb} lab @returns {Rgb} */
function fromOklab([L, a, b]) {
  const l = (L + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (L - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (L - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    gamma(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    gamma(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    gamma(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

// The colours of weights: linear, or logarithmic from the least that the page prints.

/** Where a logarithmic scale begins: the least that the page prints. */
const FLOOR = 1e-4;
const RANGE = /** @type {[number, number]} */ ([0, 1]);

/**
 * @param {Pick<import("../figure/types.js").Context, "theme">} context
 * @param {Pick<import("../store/store.js").Page, "link">} page
 * @param {boolean} [groups]  whether cells are sentences or paragraphs
 * @returns {import("./matrix-canvas.js").Shade}
 */
export const shadeOf = ({ theme }, { link }, groups = false) => ({ stops: (groups ? shares : sequential)(theme()), range: RANGE, floor: link.options.scale === "log" ? FLOOR : undefined });

// A share of 1 as a bar in its track.

/** @param {number} share */
export const shareBar = (share) =>
  el("span", { className: "track" }, el("span", { className: "bar", style: { width: `${share * 100}%` } }));

// Computed numbers as a table in which each cell has the colour of its number.

// The background colour of a number in a table, and a legible text colour.

/** The contrast of WCAG 2 AA; black or white has it on any background. */
const READABLE = 4.5;
/** @type {Rgb[]} */
const EXTREMES = [[0, 0, 0], [255, 255, 255]];
/** The part of the scale used for signed numbers, to keep tables with many of them calm. */
const DEPTH = 0.6;

/**
 * @param {Theme} theme
 * @param {number | null} value  null: none
 * @param {number} limit  the largest absolute value of its table
 * @param {"signed" | "share" | "mask"} scale
 * @returns {Record<string, string>}  a style
 */
export function cellStyle(theme, value, limit, scale) {
  if (value === null || scale === "mask" || !limit) return {};
  const fraction = scale === "share" ? value : 0.5 + (DEPTH * value) / limit / 2;
  const ground = colour(scale === "share" ? sequential(theme) : diverging(theme), fraction);
  const letters = [rgb(theme.ink), rgb(theme.paper), ...EXTREMES].find((letterColour) => contrast(ground, letterColour) >= READABLE) ?? EXTREMES[0];
  return { "background-color": css(ground), color: css(letters) };
}

/** @param {(number | null)[][]} rows  The largest number, in size. */
export const largest = (rows) => Math.max(...rows.flat().map((value) => Math.abs(value ?? 0)));

/**
 * @typedef {object} Numbers
 * @property {string} title
 * @property {number[][]} values
 * @property {string[]} rows  labels
 * @property {string[]} cols
 * @property {"signed" | "share" | "mask"} scale
 */

/** What a mask adds to a score. @param {boolean} isOpen  whether the query may look at the key */
export const maskTerm = (isOpen) => (isOpen ? "0" : "−∞");

/** @param {Numbers} of @param {Theme} theme @param {Translate} t @param {(value: number) => string} [format] */
export function numberTable({ title, values, rows, cols, scale }, theme, t, format = plainly) {
  const limit = largest(values);
  return headedTable({ title, rows, cols }, t, (i, j) => {
    const value = values[i][j];
    const masked = scale === "mask" && !value;
    const words = scale !== "mask" ? {} : { title: masked ? t("masked") : t("not masked") };
    const text = scale === "mask" ? maskTerm(Boolean(value)) : format(value);
    return el("td", { key: j, className: masked ? "hatched" : "", style: cellStyle(theme, value, limit, scale), "data-at": `${i},${j}`, ...words }, text);
  });
}

/**
 * @param {Pick<Numbers, "title" | "rows" | "cols">} of
 * @param {Translate} t
 * @param {(row: number, col: number) => Child} cell
 */
export function headedTable({ title, rows, cols }, t, cell) {
  const headed = cols.some(Boolean);
  return el(
    "div",
    { className: "scrolled", tabIndex: 0, role: "group", "aria-label": title || t("Numbers") },
    el(
      "table",
      { className: "number-table" },
      title && el("caption", {}, title),
      headed && el("thead", {}, el("tr", {}, el("td", {}), ...cols.map((name, j) => el("th", { key: j, scope: "col" }, name)))),
      el(
        "tbody",
        {},
        rows.map((name, i) => el("tr", { key: i }, name ? el("th", { scope: "row" }, name) : el("td", {}), ...cols.map((_, j) => cell(i, j)))),
      ),
    ),
  );
}
