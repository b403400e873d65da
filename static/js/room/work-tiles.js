/** Works of members as small figures with their sentence and place: on the wall, and in a gallery. */

import { h } from "../lib/dom.js";
import { el } from "../lib/render.js";
import { createSmallFigures, figureState, labOf } from "./small-figures.js";

/** @import { Child } from "../lib/render.js" */
/** @import { Translate } from "../lib/i18n.js" */

/** @typedef {Pick<import("./room.js").Presentable, "says" | "place">} Placing */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {Placing} presented
 * @param {() => void} arrived  called when a figure can be drawn
 */
export function createWorkTiles(page, api, presented, arrived) {
  const { t } = page;
  /** @type {Map<string, HTMLCanvasElement>} */
  const canvases = new Map();
  /** @type {ReturnType<typeof createSmallFigures> | null} */
  let figures = null;

  /**
   * @param {{id: string, link: string}} work
   * @param {Child[]} notes  beside the place
   * @param {Child[]} below
   * @param {object} [attributes]
   */
  return function tile({ id, link }, notes, below, attributes = {}) {
    figures ??= createSmallFigures(page, api, arrived);
    const canvas = canvases.get(id) ?? h("canvas", { "aria-hidden": "true" });
    canvases.set(id, canvas);
    const lab = labOf(link);
    const figure = lab ? null : figureState(link);
    const isDrawn = Boolean(lab ? figures.drawLab(canvas, lab) : figure && figures.draw(canvas, figure));
    canvas.classList.toggle("pending", !isDrawn);
    return el(
      "li",
      { key: id, ...attributes },
      el("div", { className: "picture" }, (figure || lab) && canvas),
      el("p", { className: "sentence" }, figure ? figure.source : presented.says(link)),
      el("p", { className: "place" }, [figure && placeOf(t, presented, link, figure), ...notes]),
      ...below,
    );
  };
}

/** Where a figure is, and what was changed in it. @param {Translate} t @param {Placing} presented @param {string} link @param {NonNullable<ReturnType<typeof figureState>>} figure */
function placeOf(t, presented, link, { layer, head, interventions }) {
  const place = presented.place?.(link) ?? t("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });
  const count = Array.isArray(interventions) ? interventions.length : 0;
  const changes = count === 1 ? t("1 change of the model") : t("{count} changes of the model", { count });
  return count === 0 ? place : `${place} · ${changes}`;
}

/**
 * Where a word of thanks is written before a work is shown to everyone.
 * @param {Translate} t @param {(words: string) => void} take @param {() => void} cancel
 */
export function thanking(t, take, cancel) {
  const field = h("input", { type: "text", maxLength: MAX_THANKS, placeholder: t("Thank you!") });
  const form = h("form", {}, h("label", {}, h("span", {}, t("A word of thanks, for everyone")), field), h("button", { type: "submit", className: "button strong" }, t("Show everyone")), " ", h("button", { type: "button", className: "button quiet", onclick: cancel }, t("Cancel")));
  form.addEventListener("submit", (event) => (event.preventDefault(), take(field.value.trim())));
  return form;
}

const MAX_THANKS = 120;
