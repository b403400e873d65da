/** The page's main figure, and what surrounds it. */

import { find } from "../lib/dom.js";
import { bindTheme } from "../core/page/theme-switch.js";
import { createPageContext } from "../core/page/page-context.js";
import { format } from "../core/store/link.js";
import { createFigure } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";
import { surround } from "./view-tabs.js";
import { screenful } from "./figure-height.js";

/**
 * Create the page's main figure, and the context for the chrome around it.
 * @param {Omit<import("../views/create-figure.js").Plan, "root" | "page">} plan
 * @param {import("../core/wire/api.js").Api} api
 * @param {{messages?: import("../lib/i18n.js").Messages, plotly?: string}} [words]  of
 *   `createPageContext`
 * @returns {import("./types.js").Desk}
 */
export function createDesk(plan, api, words) {
  const page = createPageContext(window, { ...words, live: find("#announce") });
  bindTheme(window, /** @type {HTMLButtonElement} */ (find("#theme")), page.restyle);
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
