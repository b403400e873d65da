/**
 * How attention composes across layers: rollout and flow (Abnar & Zuidema 2020, "Quantifying
 * Attention Flow in Transformers", https://arxiv.org/abs/2005.00928, section 3).
 *
 * A is the mean of a layer's heads. The residual connection adds the input unchanged, so it gets
 * weight ½: Ã = ½A + ½I. The layers form a graph of tokens with edge weights Ã.
 *
 *     rollout   the product Ã_l · … · Ã_1: of all paths down from a token, the share at each input
 *     flow      the most that can flow down to an input if each edge carries at most its weight
 *
 * In a decoder the same rule applies to both attentions, once with the decoder's own tokens and
 * once with the encoder's; the graph continues through the encoder. Abnar & Zuidema have no
 * decoder; Ferrando et al. 2022 (https://arxiv.org/abs/2205.11631) combine both stacks in this way,
 * with other weights.
 */

/** @import { Matrix } from "../../core/wire/safetensors.js" */

/** @typedef {string} Side  a text */
/** @typedef {{side: Side, column: number, index: number}} Node  column 0 is the input */
/**
 * @typedef {object} Graph  edges point down; a node's edges come after all edges that lead to it
 * @property {Node[]} nodes
 * @property {number[]} from  the upper node of each edge
 * @property {number[]} to  the lower node of each edge
 * @property {number[]} weight
 * @property {number[]} tops  the node of each token of the top layer
 * @property {number[]} leaves  the nodes of the input tokens
 */

/**
 * A stack of self-attention. The weight on learned sinks, which are no tokens, ends at one more leaf.
 * @param {Matrix[]} layers  the mean of each layer's heads, first layer first; a column after those of
 *   the tokens is that of a sink
 * @param {Side} side
 * @returns {Graph}
 */
export function stack(layers, side) {
  const graph = empty();
  const columns = [...layers.keys(), layers.length].map((column) =>
    add(graph, side, column, layers[0].rows),
  );
  const [{ rows }] = layers;
  const sunk = layers.some(({ cols }) => cols > rows) ? [graph.nodes.push({ side, column: 0, index: rows }) - 1] : [];
  for (let l = layers.length; l > 0; l--) {
    mix(graph, columns[l], columns[l - 1], layers[l - 1]);
    if (layers[l - 1].cols > rows) sink(graph, columns[l], sunk[0], layers[l - 1]);
  }
  return { ...graph, tops: columns[layers.length], leaves: [...columns[0], ...sunk] };
}

/**
 * Two stacks, one of which attends to the other.
 * @param {Matrix[]} self  the self-attention of the attending stack, layer by layer
 * @param {Matrix[]} joins  its cross-attention
 * @param {Matrix[]} read  the self-attention of the other stack, all layers
 * @param {{query: Side, key: Side}} sides
 * @returns {Graph}
 */
export function crossGraph(self, joins, read, { query, key }) {
  const graph = empty();
  const source = [...read.keys(), read.length].map((column) =>
    add(graph, key, column, read[0].rows),
  );
  const memory = source[read.length];
  const target = [...self.keys(), self.length].map((column) =>
    add(graph, query, column, self[0].rows),
  );
  for (let l = self.length; l > 0; l--) {
    // The nodes between a layer's two attentions are drawn at the same place as those after them.
    const between = add(graph, query, l, self[0].rows);
    keep(graph, target[l], between);
    weigh(graph, target[l], memory, joins[l - 1]);
    mix(graph, between, target[l - 1], self[l - 1]);
  }
  for (let l = read.length; l > 0; l--) mix(graph, source[l], source[l - 1], read[l - 1]);
  return { ...graph, tops: target[self.length], leaves: [...source[0], ...target[0]] };
}

/**
 * How much of a token's rollout passes through each node and edge.
 * @param {Graph} graph
 * @param {number} top  a node
 * @returns {{nodes: Float64Array, edges: Float64Array}}
 */
export function rollout({ nodes, from, to, weight }, top) {
  const mass = new Float64Array(nodes.length);
  mass[top] = 1;
  const edges = new Float64Array(weight.length);
  for (let e = 0; e < edges.length; e++) {
    edges[e] = mass[from[e]] * weight[e];
    mass[to[e]] += edges[e];
  }
  return { nodes: mass, edges };
}

/**
 * The share of each node's amount that ends at one input. Multiplied by the amount on an edge into
 * the node, it is the part of a rollout that takes this edge and arrives at the input.
 * @param {Graph} graph
 * @param {number} leaf  a node
 * @returns {Float64Array}
 */
export function shareAtLeaf({ nodes, from, to, weight }, leaf) {
  const share = new Float64Array(nodes.length);
  share[leaf] = 1;
  for (let e = from.length - 1; e >= 0; e--) share[from[e]] += weight[e] * share[to[e]];
  return share;
}

/**
 * Add the residual edges, with weight ½.
 * @param {Graph} graph
 * @param {number[]} above
 * @param {number[]} below
 */
function keep(graph, above, below) {
  above.forEach((node, i) => edge(graph, node, below[i], 0.5));
}

/**
 * Add the attention edges, with half their weights.
 * @param {Graph} graph
 * @param {number[]} above
 * @param {number[]} below
 * @param {Matrix} weights
 */
function weigh(graph, above, below, { cols, values }) {
  above.forEach((node, i) =>
    below.forEach((lower, j) => edge(graph, node, lower, 0.5 * (values[i * cols + j] || 0))),
  );
}

/**
 * Add both at once for self-attention, where they connect the same tokens.
 * @param {Graph} graph
 * @param {number[]} above
 * @param {number[]} below
 * @param {Matrix} weights
 */
function mix(graph, above, below, { cols, values }) {
  above.forEach((node, i) =>
    below.forEach((lower, j) =>
      edge(graph, node, lower, 0.5 * (values[i * cols + j] || 0) + (i === j ? 0.5 : 0)),
    ),
  );
}

/**
 * Add the edges to a sink, with half the weights of the last column.
 * @param {Graph} graph
 * @param {number[]} above
 * @param {number} below
 * @param {Matrix} weights
 */
function sink(graph, above, below, { cols, values }) {
  above.forEach((node, i) => edge(graph, node, below, 0.5 * values[(i + 1) * cols - 1]));
}

/** @param {Graph} graph @param {number} above @param {number} below @param {number} weight */
function edge({ from, to, weight: weights }, above, below, weight) {
  if (weight <= 0) return;
  from.push(above);
  to.push(below);
  weights.push(weight);
}

/** @param {Graph} graph @param {Side} side @param {number} column @param {number} count */
function add({ nodes }, side, column, count) {
  return Array.from({ length: count }, (_, index) => nodes.push({ side, column, index }) - 1);
}

/** @returns {Graph} */
const empty = () => ({ nodes: [], from: [], to: [], weight: [], tops: [], leaves: [] });

// Maximum flow through a graph from one node to another: Dinic 1970, with breadth-first levels and
// blocking flows. By the max-flow min-cut theorem the result is exact, up to EPSILON.

/** Smaller amounts are ignored: below this, sums of float64 are rounding errors. */
export const EPSILON = 1e-12;

/**
 * Prepare a graph; the result computes the flow between any two of its nodes.
 * @param {{nodes: ArrayLike<unknown>, from: number[], to: number[], weight: number[]}} graph
 */
export function network({ nodes, from, to, weight }) {
  const size = nodes.length;
  // Edge e and its reverse are arcs 2e and 2e + 1.
  const head = new Int32Array(2 * from.length);
  const room = new Float64Array(2 * from.length);
  const { starts, arcs } = adjacency(size, from, to);
  for (let e = 0; e < from.length; e++) {
    head[2 * e] = to[e];
    head[2 * e + 1] = from[e];
  }
  const level = new Int32Array(size);
  const next = new Int32Array(size);
  const queue = new Int32Array(size);

  /** @param {number} source @param {number} sink @returns {boolean} whether the sink is reached */
  function levels(source, sink) {
    level.fill(-1);
    level[source] = 0;
    queue[0] = source;
    for (let read = 0, write = 1; read < write; read++) {
      const node = queue[read];
      for (let a = starts[node]; a < starts[node + 1]; a++) {
        const arc = arcs[a];
        if (room[arc] <= EPSILON || level[head[arc]] >= 0) continue;
        level[head[arc]] = level[node] + 1;
        queue[write++] = head[arc];
      }
    }
    return level[sink] >= 0;
  }

  /** @param {number} node @param {number} sink @param {number} limit */
  function push(node, sink, limit) {
    if (node === sink) return limit;
    let sent = 0;
    for (; next[node] < starts[node + 1]; next[node]++) {
      const arc = arcs[next[node]];
      if (room[arc] <= EPSILON || level[head[arc]] !== level[node] + 1) continue;
      const passed = push(head[arc], sink, Math.min(limit - sent, room[arc]));
      room[arc] -= passed;
      room[arc ^ 1] += passed;
      sent += passed;
      if (limit - sent <= EPSILON) return sent;
    }
    return sent;
  }

  return {
    /**
     * @param {number} source
     * @param {number} sink
     * @returns {{value: number, edges: Float64Array}}  the amount on each edge, for one of the
     *   possible maximum flows
     */
    flow(source, sink) {
      for (let e = 0; e < from.length; e++) {
        room[2 * e] = weight[e];
        room[2 * e + 1] = 0;
      }
      let value = 0;
      while (levels(source, sink)) {
        next.set(starts.subarray(0, size));
        value += push(source, sink, Infinity);
      }
      const edges = new Float64Array(from.length);
      for (let e = 0; e < edges.length; e++) edges[e] = room[2 * e + 1];
      return { value, edges };
    },
  };
}

/**
 * The arcs that leave each node, including reverse arcs.
 * @param {number} size
 * @param {number[]} from
 * @param {number[]} to
 */
function adjacency(size, from, to) {
  const starts = new Int32Array(size + 1);
  for (let e = 0; e < from.length; e++) {
    starts[from[e] + 1]++;
    starts[to[e] + 1]++;
  }
  for (let node = 0; node < size; node++) starts[node + 1] += starts[node];
  const free = starts.slice();
  const arcs = new Int32Array(2 * from.length);
  for (let e = 0; e < from.length; e++) {
    arcs[free[from[e]]++] = 2 * e;
    arcs[free[to[e]]++] = 2 * e + 1;
  }
  return { starts, arcs };
}
