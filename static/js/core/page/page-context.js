/**
 * What all figures of a page share: language, colours, plotly.js, and announcements to screen
 * readers.
 */

import { createPlotter } from "../draw/plotly.js";
import { theme } from "../draw/theme.js";
import { translator } from "../../lib/i18n.js";

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
  /** @type {import("../draw/theme.js").Theme | null} */
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
