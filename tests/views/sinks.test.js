import assert from "node:assert/strict";
import { test } from "node:test";

import {
  hasSink, headThumbnail, layerThumbnail, sinkNeeds, sinkWeights, sinksNeeded, thumbnailTensors, withSink,
} from "../../static/js/core/compute/computed-tensors.js";
import { sinkDivision, drawThumbnail, writeTile } from "../../static/js/core/draw/head-grid.js";
import { network, rollout, stack } from "../../static/js/views/flow/flow.js";

const row = (/** @type {number} */ layer, /** @type {string} */ scoring) => ({
  place: `decoder.${layer}.self`, stack: "decoder", layer, kind: "self", query: "text", key: "text", heads: 2, kv_heads: 2, mask: "causal", scoring, qk: true,
});
const MODEL = /** @type {any} */ ({ texts: ["text"], attentions: [row(0, "scaled-dot-product + sink"), row(1, "scaled-dot-product")], directions: [] });
const tensor = (/** @type {number[]} */ shape, /** @type {number[]} */ data) => ({ dims: [], over: {}, shape, dtype: "float32", data: Float32Array.from(data) });
const TRACE = /** @type {any} */ ({
  id: "a",
  tokens: { text: [] },
  tensors: {
    "decoder.0.self.weights": tensor([2, 2, 2], [0.5, 0, 0.25, 0.25, 1, 0, 0.5, 0.5]),
    "decoder.0.self.sink": tensor([2, 2], [0.5, 0.5, 0, 0]),
  },
});
const AT = { block: "decoder", layer: 0, head: 0 };

test("a sink is asked for where there is one", () => {
  assert.deepEqual(MODEL.attentions.map(hasSink), [true, false]);
  assert.equal(hasSink(undefined), false);
  assert.deepEqual(sinkNeeds(MODEL, { block: "decoder", layer: 1 }), []);
  assert.deepEqual(sinksNeeded(MODEL, "decoder"), ["decoder.0.self.sink"]);
  assert.ok(thumbnailTensors(MODEL, "decoder").includes("decoder.0.self.sink"));
});

test("a sink is one more column, with which a row sums to 1", () => {
  const sink = sinkWeights(MODEL, TRACE, AT);
  assert.deepEqual([...(sink ?? [])], [0.5, 0.5]);
  const matrix = { rows: 2, cols: 2, values: Float32Array.of(0.5, 0, 0.25, 0.25) };
  assert.deepEqual(withSink(matrix, sink), { rows: 2, cols: 3, values: Float32Array.of(0.5, 0, 0.5, 0.25, 0.25, 0.5) });
  assert.deepEqual(withSink(matrix, null), matrix);
  assert.equal(sinkWeights(MODEL, TRACE, { ...AT, layer: 1 }), null);
  assert.equal(sinkWeights(MODEL, TRACE, { ...AT, head: 2 }), null);
});

test("a thumbnail ends in the sink's column, and that of a layer in its mean", () => {
  const picture = headThumbnail(MODEL, TRACE, AT);
  assert.ok(picture);
  assert.deepEqual([...(layerThumbnail(MODEL, TRACE, AT)?.sink ?? [])], [0.25, 0.25]);
  const table = Uint32Array.from({ length: 256 }, (_, i) => i);
  /** @type {Uint32Array} */
  let pixels = new Uint32Array();
  const context = {
    createImageData: (/** @type {number} */ w, /** @type {number} */ h) => ({ data: { buffer: (pixels = new Uint32Array(w * h)).buffer } }),
    putImageData: () => {},
  };
  const canvas = /** @type {any} */ ({ getContext: () => context });
  drawThumbnail(canvas, picture, table);
  assert.deepEqual([canvas.width, canvas.height], [3, 2]);
  assert.deepEqual([...pixels], [128, 0, 128, 64, 64, 128]);
  drawThumbnail(canvas, { ...picture, sink: null }, table);
  assert.deepEqual([...pixels], [128, 0, 64, 64]);
});

test("a tile has the sink's column at its right, apart", () => {
  const picture = { rows: 1, cols: 2, values: Float32Array.of(1, 0), may: null, sink: Float32Array.of(0.5) };
  assert.deepEqual(sinkDivision(picture, 12), { inner: 6, from: 9, across: 3 });
  assert.deepEqual(sinkDivision({ cols: 2 }, 12), { inner: 12, from: 12, across: 0 });
  const pixels = new Uint32Array(12).fill(999);
  writeTile(pixels, 12, { left: 0, top: 0, size: 1, wide: 12 }, picture, { table: Uint32Array.from({ length: 256 }, (_, i) => i), paper: 1, hatch: 2 });
  assert.deepEqual([...pixels], [255, 255, 255, 0, 0, 0, 999, 999, 999, 128, 128, 128]);
});

test("what goes to sinks is the rollout that reaches no token", () => {
  const first = { rows: 2, cols: 3, values: Float32Array.of(0.5, 0, 0.5, 0.2, 0.4, 0.4) };
  const second = { rows: 2, cols: 2, values: Float32Array.of(1, 0, 0.5, 0.5) };
  for (const layers of [[first, second], [second, first], [first, first]]) {
    const graph = stack(layers, "text");
    assert.equal(graph.leaves.length, 3);
    const paths = network(graph);
    graph.tops.forEach((top, i) => {
      const { nodes } = rollout(graph, top);
      const shares = graph.leaves.map((leaf) => nodes[leaf]);
      // By hand: A = ½(weights + I) for each layer, and the sink gets ½ its column of what arrives there.
      let [at, sunk] = [[0, 1].map((j) => Number(j === i)), 0];
      for (const { cols, values } of [...layers].reverse()) {
        sunk += cols === 3 ? at.reduce((sum, one, r) => sum + one * 0.5 * values[r * 3 + 2], 0) : 0;
        at = [0, 1].map((j) => at.reduce((sum, one, r) => sum + one * 0.5 * (values[r * cols + j] + Number(j === r)), 0));
      }
      [...at, sunk].forEach((share, n) => assert.ok(Math.abs(share - shares[n]) < 1e-6));
      assert.ok(Math.abs(shares.reduce((a, b) => a + b) - 1) < 1e-6, "all of it arrives");
      assert.ok(paths.flow(top, graph.leaves[2]).value >= sunk - 1e-6, "a flow is at least the rollout");
    });
  }
  assert.equal(stack([second, second], "text").leaves.length, 2);
});
