import assert from "node:assert/strict";
import { test } from "node:test";

import { shareAtLeaf, crossGraph, network, rollout, stack } from "../../static/js/views/flow/flow.js";

/** Numbers between 0 and 1, the same each time. @param {number} seed */
function random(seed) {
  let state = seed;
  return () => (state = (state * 16807) % 2147483647) / 2147483647;
}

/** Rows that add up to 1. @param {number} rows @param {number} cols @param {() => number} next @param {boolean} [causal] */
function weights(rows, cols, next, causal = false) {
  const values = new Float64Array(rows * cols);
  for (let i = 0; i < rows; i++) {
    const open = causal ? i + 1 : cols;
    const row = Array.from({ length: open }, () => next() ** 3 + 1e-3);
    const sum = row.reduce((a, b) => a + b);
    row.forEach((value, j) => (values[i * cols + j] = value / sum));
  }
  return { rows, cols, values: /** @type {any} */ (values) };
}

/** ½A + ½I @param {ReturnType<typeof weights>} matrix */
const mixed = ({ rows, cols, values }) =>
  Array.from({ length: rows }, (_, i) =>
    Array.from({ length: cols }, (_, j) => 0.5 * values[i * cols + j] + (i === j ? 0.5 : 0)),
  );

/** @param {number[][]} a @param {number[][]} b */
const times = (a, b) =>
  a.map((row) => b[0].map((_, j) => row.reduce((sum, value, k) => sum + value * b[k][j], 0)));

/**
 * The smallest cut that parts two nodes, by trying every one: the other side of the theorem.
 * @param {import("../../static/js/views/flow/flow.js").Graph} graph @param {number} source @param {number} sink
 */
function smallestCut({ nodes, from, to, weight }, source, sink) {
  const others = nodes.map((_, node) => node).filter((node) => node !== source && node !== sink);
  let best = Infinity;
  for (let choice = 0; choice < 2 ** others.length; choice++) {
    const side = new Set([source, ...others.filter((_, bit) => choice & (1 << bit))]);
    let cut = 0;
    from.forEach((node, e) => (cut += side.has(node) && !side.has(to[e]) ? weight[e] : 0));
    best = Math.min(best, cut);
  }
  return best;
}

test("rollout is the product of the layers", () => {
  const next = random(1);
  const layers = [1, 2, 3].map(() => weights(5, 5, next));
  const expected = layers.map(mixed).reduce((below, layer) => times(layer, below));
  const graph = stack(layers, "source");
  graph.tops.forEach((top, i) => {
    const { nodes, edges } = rollout(graph, top);
    graph.leaves.forEach((leaf, j) => assert.ok(Math.abs(nodes[leaf] - expected[i][j]) < 1e-12));
    const last = graph.from.flatMap((node, e) => (graph.nodes[node].column === 1 ? [edges[e]] : []));
    assert.ok(Math.abs(last.reduce((a, b) => a + b) - 1) < 1e-12, "all of it arrives");
  });
});

test("what arrives at an input is what the rollout says of it", () => {
  const next = random(17);
  const graph = crossGraph([weights(3, 3, next, true)], [weights(3, 4, next)], [weights(4, 4, next)], { query: "target", key: "source" });
  const top = graph.tops[2];
  const { nodes, edges } = rollout(graph, top);
  for (const leaf of graph.leaves) {
    const share = shareAtLeaf(graph, leaf);
    assert.ok(Math.abs(share[top] - nodes[leaf]) < 1e-12);
    const through = edges.map((passed, e) => (graph.from[e] === top ? passed * share[graph.to[e]] : 0));
    assert.ok(Math.abs(through.reduce((a, b) => a + b) - nodes[leaf]) < 1e-12);
  }
});

test("flow is the smallest cut, tried exhaustively", () => {
  for (let seed = 1; seed < 9; seed++) {
    const next = random(seed * 97);
    const graph = stack([1, 2, 3].map(() => weights(3, 3, next, seed % 2 === 0)), "target");
    const { flow } = network(graph);
    for (const top of graph.tops)
      for (const leaf of graph.leaves)
        assert.ok(Math.abs(flow(top, leaf).value - smallestCut(graph, top, leaf)) < 1e-9);
  }
});

test("a flow keeps within its edges and loses nothing on the way", () => {
  const next = random(5);
  const graph = stack([1, 2, 3, 4].map(() => weights(12, 12, next)), "source");
  const { flow } = network(graph);
  for (const leaf of graph.leaves.slice(0, 4)) {
    const { value, edges } = flow(graph.tops[3], leaf);
    const balance = new Float64Array(graph.nodes.length);
    edges.forEach((carried, e) => {
      assert.ok(carried <= graph.weight[e] + 1e-12);
      balance[graph.from[e]] -= carried;
      balance[graph.to[e]] += carried;
    });
    balance[graph.tops[3]] += value;
    balance[leaf] -= value;
    assert.ok(balance.every((rest) => Math.abs(rest) < 1e-9));
    assert.ok(value <= 1 + 1e-12);
  }
});

test("nothing comes from behind a causal mask", () => {
  const next = random(3);
  const graph = stack([1, 2].map(() => weights(4, 4, next, true)), "target");
  const { nodes } = rollout(graph, graph.tops[1]);
  assert.deepEqual([...graph.leaves].map((leaf) => nodes[leaf] > 0), [true, true, false, false]);
  assert.equal(network(graph).flow(graph.tops[1], graph.leaves[3]).value, 0);
});

test("what is masked is no edge", () => {
  const masked = { rows: 2, cols: 2, values: Float32Array.of(1, NaN, 0.5, 0.5) };
  const graph = stack([masked], "target");
  assert.deepEqual(graph.weight, [1, 0.25, 0.75]);
});

test("through cross attention the encoder's rollout is weighed by what the decoder looks at", () => {
  const next = random(11);
  const encoder = [1, 2].map(() => weights(4, 4, next));
  const own = [1, 2].map(() => weights(3, 3, next, true));
  const cross = [1, 2].map(() => weights(3, 4, next));
  const graph = crossGraph(own, cross, encoder, { query: "target", key: "source" });
  const memory = encoder.map(mixed).reduce((below, layer) => times(layer, below));
  /** @type {number[][]} */
  let target = [0, 1, 2].map((i) => [0, 1, 2].map((j) => (i === j ? 1.0 : 0.0)));
  let source = target.map(() => [0, 0, 0, 0]);
  own.forEach((layer, l) => {
    [target, source] = [times(mixed(layer), target), times(mixed(layer), source)];
    const looked = times(
      [0, 1, 2].map((i) => [...cross[l].values].slice(4 * i, 4 * i + 4)),
      memory,
    );
    target = target.map((row) => row.map((value) => value / 2));
    source = source.map((row, i) => row.map((value, j) => value / 2 + looked[i][j] / 2));
  });
  graph.tops.forEach((top, i) => {
    const { nodes } = rollout(graph, top);
    const found = graph.leaves.map((leaf) => nodes[leaf]);
    [...source[i], ...target[i]].forEach((value, j) => assert.ok(Math.abs(found[j] - value) < 1e-12));
    assert.ok(Math.abs(found.reduce((a, b) => a + b) - 1) < 1e-12);
  });
});

test("flow through both stacks is the smallest cut as well", () => {
  const next = random(23);
  const graph = crossGraph([weights(2, 2, next, true)], [weights(2, 3, next)], [weights(3, 3, next)], { query: "target", key: "source" });
  const { flow } = network(graph);
  for (const top of graph.tops)
    for (const leaf of graph.leaves)
      assert.ok(Math.abs(flow(top, leaf).value - smallestCut(graph, top, leaf)) < 1e-9);
});
