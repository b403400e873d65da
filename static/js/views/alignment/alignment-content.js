/** The data of the alignment view: the weights, and the words that they connect. */

import { alignment } from "../../core/compute/alignment.js";
import { across, attention, extent } from "../../core/wire/attentions.js";
import { combine } from "../../core/compute/aggregate-attention.js";
import { agreement, attributed, largest, tensors } from "./source-words.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { plane } from "../../core/wire/wire.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Alignment, Rows } from "../../core/compute/alignment.js" */
/** @import { Label } from "../../core/wire/tokens.js" */
/**
 * @typedef {object} Shown
 * @property {Page} page
 * @property {Alignment} found
 * @property {Rows} by
 * @property {"attention" | import("./source-words.js").Method} method  what `found` holds
 * @property {number} most  the value of the widest line: 1, or the largest attribution
 * @property {number[] | null} agree  τ of each written word's attributions with its attention
 * @property {Label[]} source
 * @property {Label[]} target
 */

/** @param {Page} page */
export function layers({ link, model }) {
  if (link.options.of !== "all" || !model) return [link.layer];
  return [...Array(extent(model, across(model).id).layers).keys()];
}

/**
 * Whether attributions can be shown: the model has them, and they are in the trace if nothing more
 * can be requested.
 * @param {Page} page
 */
export function attributes({ model, trace, share, live }) {
  if (!model?.capabilities?.includes("attribution")) return false;
  return !share || live || Boolean(trace?.tensors["inside.occlusion"]);
}

/** What is shown: attention, or a kind of attribution. @param {Page} page @returns {Shown["method"]} */
export function methodOf(page) {
  const { connects: by } = page.link.options;
  const kept = by !== "attention" && Boolean(page.trace?.tensors[tensors(by)[0]]);
  return kept || attributes(page) ? by : "attention";
}

/** The attributions that are needed. @param {Page} page @returns {string[]} */
export function needed(page) {
  const method = methodOf(page);
  return method === "attention" ? [] : tensors(method);
}

/** @param {Page} page @returns {Shown | null}  null until all of it is here */
export function content(page) {
  const { trace, model } = page;
  const matrix = weights(page);
  if (!trace || !matrix) return null;
  const by = rowsOf(page);
  const tokens = { read: trace.tokens[across(model).key], written: trace.output.tokens };
  const attended = alignment(tokens, matrix, by);
  const method = methodOf(page);
  const values = method === "attention" ? null : trace.tensors[tensors(method)[0]];
  if (values === undefined) return null;
  const found = values ? attributed(tokens, plane(values)) : attended;
  const [from, to] = languages(trace.direction);
  const more = values
    ? { method, most: largest(found.soft) || 1, agree: agreement(found.soft, attended.soft) }
    : { method, most: 1, agree: null };
  return { page, found, by, ...more, source: labels(found.source.tokens, from), target: labels(found.target.tokens, to) };
}

/** @param {Page} page @returns {import("../../core/wire/wire.js").Matrix | null}  null until all of it is here */
function weights(page) {
  const { trace, link, model } = page;
  if (!trace || !model) return null;
  const { id: block } = across(model);
  const heads = link.options.of === "head" ? [link.head] : [...Array(extent(model, block).heads).keys()];
  const planes = layers(page).flatMap((layer) => heads.map((head) => attention(model, trace, { block, layer, head })));
  const found = planes.filter((plane) => plane !== null);
  return found.length === planes.length ? combine(found, "mean") : null;
}

/**
 * The kind of rows by which the selected head aligns best of all heads, if any.
 * @param {Page} page
 */
export function excellence({ link, model }) {
  if (link.options.of !== "head") return undefined;
  return model?.aligners?.find(
    ({ layer, head, rows }) =>
      layer === link.layer && head === link.head && [null, rows].includes(link.options.rows),
  );
}

/**
 * The chosen rows, else those by which the head aligns best.
 * @param {Page} page
 * @returns {Rows}
 */
export const rowsOf = (page) => page.link.options.rows ?? excellence(page)?.rows ?? "writes";
