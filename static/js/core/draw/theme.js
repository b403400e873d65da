/** The light and dark themes: CSS defines the colours, and charts read them here. */

/**
 * @typedef {object} Theme
 * @property {string} paper
 * @property {string} ink
 * @property {string} muted
 * @property {string} attention
 * @property {string} q
 * @property {string} k
 * @property {string} v
 * @property {string} hatch
 * @property {string} rule  lines between empty cells
 * @property {string} font
 * @property {number} size  of labels, in pixels; a projector's are larger
 */

const NAMES = /** @type {const} */ ([
  "paper",
  "ink",
  "muted",
  "attention",
  "q",
  "k",
  "v",
  "hatch",
  "rule",
  "font",
]);

/**
 * @param {Window} window
 * @returns {Theme}
 */
export function theme(window) {
  const style = window.getComputedStyle(window.document.documentElement);
  const entries = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return { ...Object.fromEntries(entries), size: labelSize(window) };
}

/**
 * @param {Window} window
 * @returns {number}  pixels
 */
function labelSize(window) {
  const style = window.getComputedStyle(window.document.documentElement);
  return Number.parseFloat(style.getPropertyValue("--small"));
}
