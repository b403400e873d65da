/**
 * Maximum flow through a graph from one node to another: Dinic 1970, with breadth-first levels and
 * blocking flows. By the max-flow min-cut theorem the result is exact, up to EPSILON.
 */

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

  /** @param {number} node @param {number} sink @param {number} most @returns {number} */
  function push(node, sink, most) {
    if (node === sink) return most;
    let sent = 0;
    for (; next[node] < starts[node + 1]; next[node]++) {
      const arc = arcs[next[node]];
      if (room[arc] <= EPSILON || level[head[arc]] !== level[node] + 1) continue;
      const passed = push(head[arc], sink, Math.min(most - sent, room[arc]));
      room[arc] -= passed;
      room[arc ^ 1] += passed;
      sent += passed;
      if (most - sent <= EPSILON) return sent;
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
