/**
 * What all figures of a page share: language, colours, plotly.js, and announcements to screen
 * readers.
 */

import { translator } from "../../lib/i18n.js";
import { createPlotter } from "../draw/plotly.js";

// The light and dark themes: CSS defines the colours, and charts read them here.

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
 * @property {boolean} [projected]  whether the page is in projector mode
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

/** @param {Window} window @returns {Theme} */
function theme(window) {
  const style = window.getComputedStyle(window.document.documentElement);
  const entries = NAMES.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]);
  return { ...Object.fromEntries(entries), size: labelSize(window), projected: window.document.documentElement.hasAttribute("data-projector") };
}

/**
 * @param {Window} window
 * @returns {number}  pixels
 */
function labelSize(window) {
  const style = window.getComputedStyle(window.document.documentElement);
  return Number.parseFloat(style.getPropertyValue("--small"));
}

/**
 * @param {Window} window
 * @param {object} of
 * @param {string} [of.plotly]  the address of plotly.js; absent: not available
 * @param {HTMLElement} of.live  the page's live region, for screen readers
 * @param {import("../../lib/i18n.js").Messages} [of.messages]  absent: English
 * @returns {import("../figure/types.js").PageContext & {restyle: () => void}}  call `restyle` after
 *   the page's colours or sizes have changed
 */
export function createPageContext(window, { plotly, live, messages = {} }) {
  /** @type {Set<() => void>} */
  const themed = new Set();
  /** @type {Theme | null} */
  let present = null;
  return {
    ...translator(messages),
    plotter: plotly ? createPlotter(window.document, plotly) : null,
    announce: (text) => void (live.textContent = text),
    theme: () => (present ??= theme(window)),
    onTheme(listener) {
      themed.add(listener);
      return () => void themed.delete(listener);
    },
    restyle() {
      present = null;
      themed.forEach((listener) => listener());
    },
  };
}

// The button for the light and dark themes, and the light theme on paper.

/** @param {Window} window @param {HTMLButtonElement} button @param {() => void} changed */
export function bindTheme(window, button, changed) {
  const root = window.document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
  const show = () => {
    button.setAttribute("aria-pressed", String(dark()));
    changed();
  };
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    remember(window, root.dataset.theme);
    show();
  });
  system.addEventListener("change", show);
  button.setAttribute("aria-pressed", String(dark()));
  bindPaper(window, changed);
}

/** @param {Window} window @param {string} name */
function remember(window, name) {
  try {
    window.localStorage.setItem("theme", name);
  } catch {
    // Without storage, the choice still applies to this page.
  }
}

/**
 * On paper, a page has light colours whatever its theme, and its figures are drawn again: for the
 * width of the sheet, where the page's CSS gives one to `[data-paper]`.
 * @param {Window} window
 * @param {() => void} redraw
 */
function bindPaper(window, redraw) {
  const { dataset } = window.document.documentElement;
  /** @type {string | undefined} */
  let chosen;
  window.addEventListener("beforeprint", () => {
    chosen = dataset.theme;
    Object.assign(dataset, { theme: "light", paper: "" });
    redraw();
  });
  window.addEventListener("afterprint", () => {
    if (chosen) dataset.theme = chosen;
    else delete dataset.theme;
    delete dataset.paper;
    redraw();
  });
}
