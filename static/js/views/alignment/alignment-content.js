/** The data of the alignment view: the weights, and the words that they connect. */

import { alignment } from "../../compute/alignment.js";
import { across, attention, extent } from "../../data/attentions.js";
import { combine } from "../../compute/aggregate-attention.js";
import { labels, languages } from "../../data/tokens.js";
import { rowsOf } from "./summary.js";

/** @typedef {import("../../state/store.js").Page} Page */
/** @typedef {import("./summary.js").Shown} Shown */

/** @param {Page} page */
export function layers({ link, model }) {
  if (link.options.of !== "all" || !model) return [link.layer];
  return [...Array(extent(model, across(model).id).layers).keys()];
}

/** @param {Page} page @returns {Shown | null}  null until all of it is here */
export function content(page) {
  const { trace, model } = page;
  const matrix = weights(page);
  if (!trace || !matrix) return null;
  const by = rowsOf(page);
  const found = alignment({ read: trace.tokens[across(model).key], written: trace.output.tokens }, matrix, by);
  const [from, to] = languages(trace.direction);
  return { page, found, by, source: labels(found.source.tokens, from), target: labels(found.target.tokens, to) };
}

/** @param {Page} page @returns {import("../../data/wire.js").Matrix | null}  null until all of it is here */
function weights(page) {
  const { trace, link, model } = page;
  if (!trace || !model) return null;
  const { id: block } = across(model);
  const heads = link.options.of === "head" ? [link.head] : [...Array(extent(model, block).heads).keys()];
  const planes = layers(page).flatMap((layer) => heads.map((head) => attention(model, trace, { block, layer, head })));
  const found = planes.filter((plane) => plane !== null);
  return found.length === planes.length ? combine(found, "mean") : null;
}
