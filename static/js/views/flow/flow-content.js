/** What the flow view computes from a trace, once, and the numbers for export. */

import { rollout } from "./flow.js";
import { network } from "./maxflow.js";
import { named, tensor } from "../../core/compute/computed-tensors.js";
import { sinkStep } from "../../core/compute/sinks.js";
import { memo } from "../../lib/memo.js";
import { graphOf, names, needs, streamOf } from "./layer-means.js";

/** @import { Graph } from "./flow.js" */
/**
 * @typedef {object} Shown
 * @property {Graph} graph
 * @property {import("./layer-means.js").Stream | null} stream
 * @property {ReturnType<typeof names>} names
 * @property {ReturnType<typeof network>} network
 * @property {Map<number, (number | undefined)[]>} flows  of each input, by chosen token
 */

/** The number of cached results per trace, since readers switch between a few layers. */
const KEPT = 4;

/**
 * @param {import("../../core/figure/types.js").Context["t"]} t
 * @param {import("../../core/store/store.js").Page} page
 * @returns {Shown | null}  null until everything is loaded
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
 * @param {ReturnType<typeof names>} found
 */
function labelled(t, { nodes, leaves }, found) {
  const texts = Object.entries(found.leaves).map(([text, steps]) => {
    const sinks = leaves.filter((node) => nodes[node].side === text && nodes[node].index >= steps.length);
    return [text, [...steps, ...sinks.map(() => sinkStep(t))]];
  });
  return { ...found, leaves: Object.fromEntries(texts) };
}

/**
 * The rollout of every token of the layer, and the flow of the chosen one, which takes longer.
 * @param {Shown} shown
 * @param {number} top
 * @returns {import("../../core/compute/computed-tensors.js").Shown}
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
