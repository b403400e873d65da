/** What a flow is made of, read off a trace: the mean of every layer's heads, and the stream. */

import { attention, axes, extent, place } from "../../data/blocks.js";
import { both, stack } from "../../compute/flow.js";
import { combine } from "../../compute/reshape.js";
import { cosines, norms, stations } from "../../compute/residual-stream.js";

/** @typedef {import("../../state/store.js").Page} Page */
/** @typedef {import("../../data/wire.js").Trace} Trace */
/** @typedef {import("../../data/wire.js").Matrix} Matrix */
/** @typedef {import("../../data/tokens.js").Step} Step */
/** @typedef {import("../../compute/flow.js").Graph} Graph */
/** @typedef {import("../../compute/flow.js").Side} Side */
/** @typedef {import("../../state/link.js").State["block"]} Kind */
/**
 * @typedef {object} Stream
 * @property {ReturnType<typeof stations>} stations
 * @property {number[][]} norms  [station][token]
 * @property {number[][]} cosines  [station][token]
 */

/**
 * The attentions that a flow goes through, up to the layer that is picked; the whole encoder where
 * it goes through cross attention.
 * @param {Page} page
 * @returns {{block: Kind, layers: number}[]}
 */
function passed({ link, model }) {
  const own = link.layer + 1;
  if (link.block !== "cross") return [{ block: link.block, layers: own }];
  return [
    { block: "decoder", layers: own },
    { block: "cross", layers: own },
    { block: "encoder", layers: model ? extent(model, "encoder").layers : 0 },
  ];
}

/** The stack that is looked at. @param {Page} page */
function stackOf({ link }) {
  return link.block === "encoder"
    ? { stack: /** @type {const} */ ("encoder"), side: "source" }
    : { stack: /** @type {const} */ ("decoder"), side: "target" };
}

/** @param {Page} page  The tensors of the residual stream. */
function streamNames(page) {
  const { stack, side } = stackOf(page);
  return stations(stack, page.link.layer + 1).map(({ layer, part }) =>
    part === "input"
      ? { long: `${side}.input`, turned: `${side}.input` }
      : { long: `${stack}.${layer}.${part}.residual`, turned: `${stack}.${layer}.${part}.norm` },
  );
}

/** @param {Page} page @returns {string[]} */
export function needs(page) {
  const weights = passed(page).flatMap(({ block, layers }) =>
    Array.from({ length: layers }, (_, layer) => ["weights", "mask"].map((name) => place({ block, layer }, name))).flat(),
  );
  const stream = streamNames(page).flatMap(({ long, turned }) => [long, turned]);
  return [...new Set([...weights, `${stackOf(page).side}.embedding`, ...stream])];
}

/**
 * @param {Page} page
 * @returns {Graph | null}  null until all of it is here
 */
export function graphOf(page) {
  const { trace, model, link } = page;
  if (!trace || !model) return null;
  const means = passed(page).map(({ block, layers }) =>
    Array.from({ length: layers }, (_, layer) => mean(trace, block, layer, extent(model, block).heads)),
  );
  /** @type {Matrix[][]} */
  const found = [];
  for (const layers of means) {
    const here = layers.filter((matrix) => matrix !== null);
    if (!here.length || here.length < layers.length) return null;
    found.push(here);
  }
  if (link.block === "cross") return both(found[0], found[1], found[2]);
  return stack(found[0], link.block === "encoder" ? "source" : "target");
}

/** @param {Trace} trace @param {Kind} block @param {number} layer @param {number} heads */
function mean(trace, block, layer, heads) {
  const planes = Array.from({ length: heads }, (_, head) => attention(trace, { block, layer, head }));
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
  const { stack, side } = stackOf(page);
  const embedding = trace?.tensors[`${side}.embedding`];
  if (!trace || !embedding) return null;
  const found = names.map(({ long, turned }) => ({ long: trace.tensors[long], turned: trace.tensors[turned] }));
  if (found.some(({ long, turned }) => !long || !turned)) return null;
  return {
    stations: stations(stack, page.link.layer + 1),
    norms: found.map(({ long }) => norms(long)),
    cosines: found.map(({ turned }) => cosines(turned, embedding)),
  };
}

/**
 * What stands at the inputs and at the top.
 * @param {Trace} trace
 * @param {Kind} block
 * @returns {{tops: Step[], leaves: Record<Side, Step[]>}}
 */
export function names(trace, block) {
  const { rows } = axes(trace, block);
  return { tops: rows, leaves: { source: axes(trace, "encoder").cols, target: axes(trace, "decoder").cols } };
}
