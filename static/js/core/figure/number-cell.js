/** The background colour of a number in a table, and a legible text colour. */

import { colour, contrast, css, diverging, rgb, sequential } from "../draw/scale.js";

/** @import { Theme } from "../draw/theme.js" */

/** The contrast of WCAG 2 AA; black or white has it on any background. */
const READABLE = 4.5;
/** @type {import("../draw/scale.js").Rgb[]} */
const EXTREMES = [[0, 0, 0], [255, 255, 255]];
/** The part of the scale used for signed numbers, to keep tables with many of them calm. */
const DEPTH = 0.6;

/**
 * @param {Theme} theme
 * @param {number | null} value  null: none
 * @param {number} most  the largest absolute value of its table
 * @param {"signed" | "share" | "mask"} scale
 * @returns {Record<string, string>}  a style
 */
export function cellStyle(theme, value, most, scale) {
  if (value === null || scale === "mask" || !most) return {};
  const at = scale === "share" ? value : 0.5 + (DEPTH * value) / most / 2;
  const ground = colour(scale === "share" ? sequential(theme) : diverging(theme), at);
  const letters = [rgb(theme.ink), rgb(theme.paper), ...EXTREMES].find((one) => contrast(ground, one) >= READABLE) ?? EXTREMES[0];
  return { "background-color": css(ground), color: css(letters) };
}

/** @param {(number | null)[][]} rows  The largest number, in size. */
export const largest = (rows) => Math.max(...rows.flat().map((value) => Math.abs(value ?? 0)));
