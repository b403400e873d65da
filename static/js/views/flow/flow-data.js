/** What the flow view computes from a trace, once, and the numbers for export. */

import { combine } from "../../core/compute/aggregate-attention.js";
import { named, sinkNeeds, sinkStep, sinkWeights, tensor, withSink } from "../../core/compute/computed-tensors.js";
import {
  attention, axes, blockAt, blockOf, blocksOfStack, isBetweenTexts, place, selfBlock, singleStep,
} from "../../core/wire/model-description.js";
import { traceLabels } from "../../core/wire/tokens.js";
import { memo } from "../../lib/memo.js";
import { shareAtLeaf, crossGraph, network, rollout, stack } from "./flow.js";

/** @import { Graph, Side } from "./flow.js" */
/** @import { Matrix, Tensor, Trace } from "../../core/wire/safetensors.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Step } from "../../core/wire/tokens.js" */

// How a token's vector changes across the layers: its length and its direction.

/**
 * ‖x‖ of every token.
 * @param {Tensor} tensor  (query, feature)
 * @returns {number[]}
 */
export function norms({ shape: [rows, cols], data }) {
  return Array.from({ length: rows }, (_, row) => {
    let sum = 0;
    for (let c = row * cols; c < (row + 1) * cols; c++) sum += data[c] * data[c];
    return Math.sqrt(sum);
  });
}

/**
 * cos(x, y) of every token; NaN if either is the zero vector.
 * @param {Tensor} x  (query, feature)
 * @param {Tensor} y  (query, feature)
 * @returns {number[]}
 */
export function cosines(x, y) {
  const cols = x.shape[1];
  const [long, wide] = [norms(x), norms(y)];
  return long.map((norm, row) => {
    let dot = 0;
    for (let c = row * cols; c < (row + 1) * cols; c++) dot += x.data[c] * y.data[c];
    return dot / (norm * wide[row]);
  });
}

/** How far a scale extends beyond the 90th percentile of lengths. */
const BEYOND = 1.5;

/**
 * The upper end of a scale of lengths: the largest one, unless a few are so large that all others
 * would look the same.
 * @param {number[][]} lengths
 */
export function reach(lengths) {
  const sorted = lengths.flat().filter(Number.isFinite).sort((a, b) => a - b);
  const [largest, usual] = [sorted.at(-1) ?? 0, sorted[Math.floor(0.9 * (sorted.length - 1))] ?? 0];
  return Math.min(largest, BEYOND * usual) || largest || 1;
}

/**
 * The points at which the stream of a stack is read, from its input up to a layer: after every
 * sublayer.
 * @param {string[]} kinds  of a layer's attentions, in the order in which they run
 * @param {number} layers  how many
 * @returns {{layer: number, part: string}[]}  the input is layer −1
 */
export function stations(kinds, layers) {
  const parts = [...kinds, "ffn"];
  const behind = Array.from({ length: layers }, (_, layer) => parts.map((part) => ({ layer, part })));
  return [{ layer: -1, part: "input" }, ...behind.flat()];
}

// The data of a flow from a trace: the mean of every layer's heads, and the residual stream.

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
function stacksOf({ link, model }) {
  const layers = link.layer + 1;
  const { id, query, key } = blockOf(model, link.block);
  if (query === key) return [{ block: id, layers }];
  const read = selfBlock(model, key);
  return [
    { block: selfBlock(model, query).id, layers },
    { block: id, layers },
    { block: read.id, layers: read.rows.length },
  ];
}

/** The kinds of attention in a layer of the current stack. @param {Page} page */
const kindsOf = (page) => blocksOfStack(page.model, blockAt(page).stack).map(({ kind }) => kind);

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
  const weights = stacksOf(page).flatMap(({ block, layers }) =>
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
function graphOf(page) {
  const { trace, model } = page;
  if (!trace || !model) return null;
  const means = stacksOf(page).map(({ block, layers }) =>
    Array.from({ length: layers }, (_, layer) => mean(model, trace, { block, layer })),
  );
  /** @type {Matrix[][]} */
  const stacks = [];
  for (const layers of means) {
    const available = layers.filter((matrix) => matrix !== null);
    if (!available.length || available.length < layers.length) return null;
    stacks.push(available);
  }
  const block = blockAt(page);
  return isBetweenTexts(block) ? crossGraph(stacks[0], stacks[1], stacks[2], block) : stack(stacks[0], block.query);
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
  const available = planes.filter((plane) => plane !== null);
  return available.length === heads ? combine(available, "mean") : null;
}

/**
 * @param {Page} page
 * @returns {Stream | null}  null until all of it is here
 */
function streamOf(page) {
  const { trace } = page;
  const names = streamNames(page);
  const embedding = trace?.tensors[`${blockAt(page).query}.embedding`];
  if (!trace || !embedding) return null;
  const tensorPairs = names.map(({ long, turned }) => ({ long: trace.tensors[long], turned: trace.tensors[turned] }));
  if (tensorPairs.some(({ long, turned }) => !long || !turned)) return null;
  return {
    stations: stations(kindsOf(page), page.link.layer + 1),
    norms: tensorPairs.map(({ long }) => norms(long)),
    cosines: tensorPairs.map(({ turned }) => cosines(turned, embedding)),
  };
}

/**
 * The labels of the inputs and of the top layer.
 * @param {Page["model"]} model
 * @param {Trace} trace
 * @param {string} block
 * @returns {{tops: Step[], leaves: Record<Side, Step[]>}}
 */
function names(model, trace, block) {
  const { rows } = axes(model, trace, block);
  const { texts } = traceLabels(trace);
  const leaves = Object.fromEntries(Object.entries(texts).map(([text, labels]) => [text, labels.map(singleStep)]));
  return { tops: rows, leaves };
}

/**
 * @typedef {object} FlowData
 * @property {Graph} graph
 * @property {Stream | null} stream
 * @property {ReturnType<typeof names>} names
 * @property {ReturnType<typeof network>} network
 * @property {Map<number, (number | undefined)[]>} flows  of each input, by chosen token
 */

/** The number of cached results per trace, since readers switch between a few layers. */
const KEPT = 4;

/**
 * @param {import("../../core/figure/types.js").Context["t"]} t
 * @param {import("../../core/store/store.js").Page} page
 * @returns {FlowData | null}  null until everything is loaded
 */
export function content(t, page) {
  const { trace, model, link } = page;
  if (!trace || !model || !needs(page).every((name) => trace.tensors[name])) return null;
  return memo(trace, `flow ${link.block} ${link.layer}`, () => {
    const graph = graphOf(page);
    if (!graph) return null;
    return { graph, stream: streamOf(page), names: labelled(t, graph, names(model, trace, link.block)), network: network(graph), flows: new Map() };
  }, KEPT);
}

/**
 * The labels, with those of inputs that are learned sinks.
 * @param {import("../../core/figure/types.js").Context["t"]} t
 * @param {Graph} graph
 * @param {ReturnType<typeof names>} labelNames
 */
function labelled(t, { nodes, leaves }, labelNames) {
  const texts = Object.entries(labelNames.leaves).map(([text, steps]) => {
    const sinks = leaves.filter((node) => nodes[node].side === text && nodes[node].index >= steps.length);
    return [text, [...steps, ...sinks.map(() => sinkStep(t))]];
  });
  return { ...labelNames, leaves: Object.fromEntries(texts) };
}

/**
 * The rollout of every token of the layer, and the flow of the chosen one, which takes longer.
 * @param {FlowData} shown
 * @param {number} top
 * @returns {import("../../core/compute/computed-tensors.js").ComputedTensors}
 */
export function numbersOf({ graph, stream, names, network, flows }, top) {
  const { nodes, tops, leaves } = graph;
  const shares = tops.map((node) => rollout(graph, node).nodes);
  const flow = leaves.map((leaf, n) => flows.get(top)?.[n] ?? network.flow(tops[top], leaf).value);
  const stations = stream?.stations ?? [];
  const read = { station: "station", query: "query" };
  const size = [stations.length, tops.length];
  return {
    tokens: {
      query: named(names.tops),
      key: named(leaves.map((node) => names.leaves[nodes[node].side][nodes[node].index])),
      station: stations.map(({ layer, part }) => ({ text: layer < 0 ? part : `${layer}.${part}` })),
    },
    tensors: {
      rollout: tensor({ query: "query", key: "key" }, [tops.length, leaves.length], shares.flatMap((all) => leaves.map((node) => all[node]))),
      [`flow.${top}`]: tensor({ key: "key" }, [leaves.length], flow),
      ...(stream && { length: tensor(read, size, stream.norms.flat()), cosine: tensor(read, size, stream.cosines.flat()) }),
    },
  };
}

// What is shown for a chosen token: the shares of all inputs, and the amount on each edge.

/** @typedef {ReturnType<typeof import("./flow.js").network>} Network */
/**
 * @typedef {object} Shares
 * @property {number} top  index of the chosen token
 * @property {number | null} leaf  index of the highlighted input among the leaves
 * @property {number} named  index of the input that the caption names
 * @property {number[]} rollout  of each leaf
 * @property {(number | undefined)[]} flow  of each leaf; undefined: not computed yet
 * @property {ArrayLike<number>} carried  by each edge
 * @property {number} whole  the total of what is drawn, which has the largest width
 */

/**
 * @param {{graph: Graph, network: Network}} shown
 * @param {{top: number, leaf: number | null}} chosen
 * @param {(number | undefined)[]} flow
 * @param {string} amount  what edges show
 * @returns {Shares}
 */
export function sharesOf({ graph, network }, { top, leaf }, flow, amount) {
  const { nodes, edges } = rollout(graph, graph.tops[top]);
  const shares = graph.leaves.map((node) => nodes[node]);
  const values = amount === "flow" ? flow : shares;
  const largestLeaf = largestOther(values, graph, top);
  const goal = leaf ?? (amount === "flow" ? largestLeaf : null);
  return {
    top,
    leaf: goal,
    named: goal ?? largestLeaf,
    rollout: shares,
    flow,
    carried: carriedByEdges({ graph, network }, edges, top, goal, amount),
    whole: goal === null ? 1 : (values[goal] ?? 1) || 1,
  };
}

/**
 * The amount on each edge, of the rollout or of the flow to one input.
 * @param {{graph: Graph, network: Network}} shown
 * @param {Float64Array} edges  of the rollout from the token
 * @param {number} top
 * @param {number | null} leaf  null: to all inputs
 * @param {string} amount
 */
function carriedByEdges({ graph, network }, edges, top, leaf, amount) {
  if (leaf === null) return edges;
  if (amount === "flow") return network.flow(graph.tops[top], graph.leaves[leaf]).edges;
  const share = shareAtLeaf(graph, graph.leaves[leaf]);
  return edges.map((passed, e) => passed * share[graph.to[e]]);
}

/**
 * The input with the largest share, other than the token's own if possible, which is nearly always
 * the largest.
 * @param {ArrayLike<number | undefined>} values
 * @param {Graph} graph
 * @param {number} top
 */
function largestOther(values, { nodes, leaves, tops }, top) {
  const { side, index } = nodes[tops[top]];
  const ownLeaf = leaves.findIndex((node) => nodes[node].side === side && nodes[node].index === index);
  const order = leaves.map((_, n) => n).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  return order.find((n) => n !== ownLeaf && (values[n] ?? 0) > 0) ?? Math.max(ownLeaf, 0);
}
