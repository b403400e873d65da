/** Where a teacher marks the right cells of a figure that a class is asked to point at. */

import { Problem, failure } from "../core/wire/problem.js";
import { wording } from "../core/figure/problem-wording.js";
import { el } from "../lib/render.js";
import { axesOf, cellPicker, cellsOf } from "./cells.js";
import { answerSources, ask } from "./question.js";

/** @typedef {{link: string, axes: import("../core/wire/schemas.d.ts").Axes, share?: string}} PointedFigure  share: whose numbers it shows */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {() => void} drawn  called when the figure has arrived
 * @param {() => string | null} share  whose numbers the figure shows; null: those of the model
 */
export function createPointPicker(page, api, drawn, share) {
  const { t } = page;
  let link = "";
  /** @type {import("./cells.js").CellChoice[] | null} */
  let choices = null;
  /** @type {Problem | null} */
  let problem = null;

  /** @param {string} query */
  async function read(query) {
    [link, choices, problem] = [query, null, null];
    const reply = await cellsOf(ask(page, answerSources(api, share()), { kind: "point", link: query, page: "workspace", words: "" })).catch(failure);
    if (link !== query) return;
    if (reply instanceof Problem) problem = reply;
    else choices = reply;
    drawn();
  }

  /** @param {string | null} figureLink */
  function status(figureLink) {
    if (!figureLink) return t("Open a figure with attention first: the class points at its cells.");
    if (problem) return wording(t, problem);
    if (!choices) return t("Loading…");
    return choices.length ? t("Tap the cells that are right; none to ask for opinions.") : t("This figure cannot be pointed at here.");
  }

  return {
    /** The figure, once it has arrived. @returns {PointedFigure | null} */
    figure: () => (choices?.length ? { link, axes: axesOf(choices), ...(share() ? { share: share() ?? "" } : {}) } : null),
    /**
     * @param {string | null} figureLink  what is on the screen, as a query string; null: no figure
     * @param {string[]} cells  that are right
     * @param {(cells: string[]) => void} change
     */
    view(figureLink, cells, change) {
      if (figureLink && figureLink !== link) void read(figureLink);
      const toggle = (/** @type {string} */ id) => change(cells.includes(id) ? cells.filter((cell) => cell !== id) : [...cells, id]);
      return el("div", { key: "point", className: "pointing" },
        el("p", { key: "status", className: "hint", role: "status" }, status(figureLink)),
        figureLink === link && choices !== null && choices.length > 0 && cellPicker(t, choices, { chosen: cells, fixed: false, choose: toggle }));
    },
  };
}
