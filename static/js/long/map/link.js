/** The window in the link: `queries` and `keys`, each "from-to" in tokens, whatever a cell stands for. */

/** @import { Window, Range } from "./map-window.js" */
/** @import { Axis } from "./axes.js" */
/** @import { Axes } from "./requests.js" */

/**
 * @param {Axes} axes
 * @param {{queries?: string | null, keys?: string | null}} options
 * @returns {Window | null}  in units; null: all
 */
export function windowInLink({ rows, cols }, options) {
  const [down, across] = [rangeOf(rows, options.queries), rangeOf(cols, options.keys)];
  if (!down && !across) return null;
  return { rows: down ?? [0, rows.count], cols: across ?? [0, cols.count] };
}

/** @param {Axis} axis @param {string | null | undefined} words @returns {Range | null}  null: nothing that the text has */
function rangeOf(axis, words) {
  const [from, to] = (words ?? "").split("-").map(Number);
  const last = axis.tokens.length;
  if (!words || !(from < to) || from >= last) return null;
  return [axis.unitOf(from), axis.unitOf(Math.min(to, last) - 1) + 1];
}

/** @param {Axes} axes @param {Window | null} window  in units; null: all */
export function linkOfWindow({ rows, cols }, window) {
  const words = (/** @type {Axis} */ axis, /** @type {Range} */ [from, to]) => `${axis.tokensOf(from)[0]}-${axis.tokensOf(to - 1)[1]}`;
  return { queries: window && words(rows, window.rows), keys: window && words(cols, window.cols) };
}
