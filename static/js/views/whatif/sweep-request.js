/** The request for a sweep: which parts of the model are changed, one at a time, and how. */

import { place } from "../../core/wire/attentions.js";
import { request } from "../../core/wire/request.js";
import { writing } from "./before-after.js";
import { otherSentence } from "../../core/store/comparison.js";
import { changes, linked } from "../../core/store/interventions.js";
import { pathEnd } from "./path-end.js";
import { partsOf } from "./sweep-grids.js";

/** @import { Page } from "../../core/store/store.js" */

/**
 * As the API takes it: for the original translation, on the model as trained or as changed.
 * @param {Page} page
 * @param {import("../../core/wire/wire.js").Trace | null} before  the original run
 */
export function sweepRequest(page, before) {
  const { model, link } = page;
  const interventions = link.options.over ? linked(changes(link)) : null;
  const written = before ? writing(link, before) : {};
  const { select: _, ...body } = request(model, { ...link, ...written, interventions, options: {}, pad_to: null }, []);
  return { ...body, ...(link.options.ablation === "patch" ? patched(page) : ablated(page)) };
}

/** @param {Page} page */
function ablated({ model, link }) {
  const over = {
    heads: {},
    tokens: {},
    sublayers: { over: "sublayers" },
    pairs: { over: "pairs", among: [place(model, link)] },
  };
  return { effect: link.options.ablation, ...over[/** @type {keyof typeof over} */ (partsOf(link.options))] };
}

/** @param {Page} page */
function patched(page) {
  const { options } = page.link;
  const against = options.against === null ? {} : { against: options.against };
  return { effect: { patch: { ...otherRun(page), ...along(page) } }, over: partsOf(options), ...against };
}

/** The sentence that patches are taken from. @param {Page} page */
export const otherRun = (page) => ({ source: otherSentence(page), ...(page.link.direction ? { direction: page.link.direction } : {}) });

/** The end of the path, if a patch acts along one only. @param {Page} page */
export function along(page) {
  const to = pathEnd(page);
  return to ? { to } : {};
}
