/** The data of a flow from a trace: the mean of every layer's heads, and the residual stream. */

import { alone, attention, axes, between, blockAt, blockOf, place, stacked, within } from "../../core/wire/attentions.js";
import { both, stack } from "./flow.js";
import { sinkNeeds, sinkWeights, withSink } from "../../core/compute/sinks.js";
import { sides } from "../../core/wire/tokens.js";
import { combine } from "../../core/compute/aggregate-attention.js";
import { cosines, norms, stations } from "./residual-stream.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace, Matrix } from "../../core/wire/wire.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Graph, Side } from "./flow.js" */
/**
 * @typedef {object} Stream
 * @property {ReturnType<typeof stations>} stations
 * @property {number[][]} norms  [station][token]
 * @property {number[][]} cosines  [station][token]
 */

/**
 * The attentions that a flow passes through, up to the selected layer; with cross-attention, also
 * all layers of the other stack.
 * @param {Page} page
 * @returns {{block: string, layers: number}[]}
 */
function passed({ link, model }) {
  const own = link.layer + 1;
  const { id, query, key } = blockOf(model, link.block);
  if (query === key) return [{ block: id, layers: own }];
  const read = within(model, key);
  return [
    { block: within(model, query).id, layers: own },
    { block: id, layers: own },
    { block: read.id, layers: read.rows.length },
  ];
}

/** The kinds of attention in a layer of the current stack. @param {Page} page */
const kindsOf = (page) => stacked(page.model, blockAt(page).stack).map(({ kind }) => kind);

/** @param {Page} page  The tensors of the residual stream. */
function streamNames(page) {
  const { stack, query } = blockAt(page);
  // The norms of a pre-norm model are not part of its stream.
  const turned = page.model?.norm === "pre" ? "residual" : "norm";
  return stations(kindsOf(page), page.link.layer + 1).map(({ layer, part }) =>
    part === "input"
      ? { long: `${query}.input`, turned: `${query}.input` }
      : { long: `${stack}.${layer}.${part}.residual`, turned: `${stack}.${layer}.${part}.${turned}` },
  );
}

/** @param {Page} page @returns {string[]} */
export function needs(page) {
  const weights = passed(page).flatMap(({ block, layers }) =>
    Array.from({ length: layers }, (_, layer) => [
      ...["weights", "mask"].map((name) => place(page.model, { block, layer }, name)),
      ...sinkNeeds(page.model, { block, layer }),
    ]).flat(),
  );
  const stream = streamNames(page).flatMap(({ long, turned }) => [long, turned]);
  return [...new Set([...weights, `${blockAt(page).query}.embedding`, ...stream])];
}

/**
 * @param {Page} page
 * @returns {Graph | null}  null until all of it is here
 */
export function graphOf(page) {
  const { trace, model } = page;
  if (!trace || !model) return null;
  const means = passed(page).map(({ block, layers }) =>
    Array.from({ length: layers }, (_, layer) => mean(model, trace, { block, layer })),
  );
  /** @type {Matrix[][]} */
  const found = [];
  for (const layers of means) {
    const here = layers.filter((matrix) => matrix !== null);
    if (!here.length || here.length < layers.length) return null;
    found.push(here);
  }
  const here = blockAt(page);
  return between(here) ? both(found[0], found[1], found[2], here) : stack(found[0], here.query);
}

/**
 * Its last column is that of a learned sink, if there is one within a single text.
 * @param {Page["model"]} model
 * @param {Trace} trace
 * @param {{block: string, layer: number}} at
 */
function mean(model, trace, { block, layer }) {
  const heads = blockOf(model, block).rows[layer]?.heads ?? 0;
  const planes = Array.from({ length: heads }, (_, head) => {
    const matrix = attention(model, trace, { block, layer, head });
    return matrix && withSink(matrix, sinkWeights(model, trace, { block, layer, head }));
  });
  const found = planes.filter((plane) => plane !== null);
  return found.length === heads ? combine(found, "mean") : null;
}

/**
 * @param {Page} page
 * @returns {Stream | null}  null until all of it is here
 */
export function streamOf(page) {
  const { trace } = page;
  const names = streamNames(page);
  const embedding = trace?.tensors[`${blockAt(page).query}.embedding`];
  if (!trace || !embedding) return null;
  const found = names.map(({ long, turned }) => ({ long: trace.tensors[long], turned: trace.tensors[turned] }));
  if (found.some(({ long, turned }) => !long || !turned)) return null;
  return {
    stations: stations(kindsOf(page), page.link.layer + 1),
    norms: found.map(({ long }) => norms(long)),
    cosines: found.map(({ turned }) => cosines(turned, embedding)),
  };
}

/**
 * The labels of the inputs and of the top layer.
 * @param {Page["model"]} model
 * @param {Trace} trace
 * @param {string} block
 * @returns {{tops: Step[], leaves: Record<Side, Step[]>}}
 */
export function names(model, trace, block) {
  const { rows } = axes(model, trace, block);
  const { texts } = sides(trace);
  const leaves = Object.fromEntries(Object.entries(texts).map(([text, labels]) => [text, labels.map(alone)]));
  return { tops: rows, leaves };
}
