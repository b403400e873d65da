/** What all figures of the page share, and what stands around the main one. */

import { createPlotter } from "../draw/chart.js";
import { find } from "../lib/dom.js";
import { translator } from "../lib/i18n.js";
import { bindTheme, theme } from "../draw/theme.js";
import { format } from "../state/link.js";
import { createFigure } from "../views/figure.js";
import { OPTIONS } from "../views/index.js";
import { surround } from "../chrome/stage.js";
import { screenful } from "../chrome/screen.js";

/** @typedef {import("../state/contract.js").Surroundings} Surroundings */

/**
 * @param {import("../lib/i18n.js").Messages} messages
 * @param {string} plotly  where plotly.js is
 * @returns {Surroundings & {restyle: () => void}}
 */
export function createSurroundings(messages, plotly) {
  /** @type {Set<() => void>} */
  const themed = new Set();
  /** @type {import("../draw/theme.js").Theme | null} */
  let present = null;
  const restyle = () => {
    present = null;
    themed.forEach((listener) => listener());
  };
  bindTheme(window, find("#theme"), restyle);
  return {
    ...translator(messages),
    plotter: createPlotter(document, plotly),
    theme: () => (present ??= theme(window)),
    restyle,
    onTheme(listener) {
      themed.add(listener);
      return () => void themed.delete(listener);
    },
    announce: (text) => (find("#announce").textContent = text),
  };
}

/**
 * The page's main figure, whose names in the page are its own, and what the chrome around it is given.
 * @param {Omit<import("../views/figure.js").Plan, "root" | "page">} plan
 * @param {import("../data/api.js").Api} api
 * @param {ReturnType<typeof createSurroundings>} page
 * @returns {import("../chrome/desk.js").Desk}
 */
export function createDesk(plan, api, page) {
  const figure = createFigure({
    root: find("#view"),
    page,
    name: "",
    main: true,
    measure: screenful,
    legend: find("#legend"),
    caption: find("#caption"),
    onView: surround,
    ...plan,
  });
  const { onTheme, restyle } = page;
  return { ...figure.context, figure, api, onTheme, restyle, format: (link) => format(link, OPTIONS) };
}
