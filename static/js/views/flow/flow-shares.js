/** What is shown for a chosen token: the shares of all inputs, and the amount on each edge. */

import { arriving, rollout } from "./flow.js";

/** @import { Graph } from "./flow.js" */
/** @typedef {ReturnType<typeof import("./maxflow.js").network>} Network */
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
  const most = others(values, graph, top);
  const goal = leaf ?? (amount === "flow" ? most : null);
  return {
    top,
    leaf: goal,
    named: goal ?? most,
    rollout: shares,
    flow,
    carried: carry({ graph, network }, edges, top, goal, amount),
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
function carry({ graph, network }, edges, top, leaf, amount) {
  if (leaf === null) return edges;
  if (amount === "flow") return network.flow(graph.tops[top], graph.leaves[leaf]).edges;
  const share = arriving(graph, graph.leaves[leaf]);
  return edges.map((passed, e) => passed * share[graph.to[e]]);
}

/**
 * The input with the largest share, other than the token's own if possible, which is nearly always
 * the largest.
 * @param {ArrayLike<number | undefined>} values
 * @param {Graph} graph
 * @param {number} top
 */
function others(values, { nodes, leaves, tops }, top) {
  const { side, index } = nodes[tops[top]];
  const own = leaves.findIndex((node) => nodes[node].side === side && nodes[node].index === index);
  const order = leaves.map((_, n) => n).sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0));
  return order.find((n) => n !== own && (values[n] ?? 0) > 0) ?? Math.max(own, 0);
}
