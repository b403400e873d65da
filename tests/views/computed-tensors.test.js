import assert from "node:assert/strict";
import { test } from "node:test";

import { csv } from "../../static/js/lib/csv.js";
import { npz } from "../../static/js/lib/npz.js";
import { json, matrix, tensor } from "../../static/js/core/compute/computed-tensors.js";
import { startedSweep, withChanges, headTensors } from "../../static/js/views/whatif/head-sweep.js";
import { MODEL } from "../js/trace.js";

const shown = {
  tokens: { word: [{ text: "a" }, { text: "b" }] },
  tensors: {
    scores: matrix({ rows: 2, cols: 2, values: Float32Array.of(1, 0.5, NaN, 0) }, "word", "word"),
    mask: { ...tensor({ query: null }, [2], [1, 0]), dtype: "bool" },
  },
};

test("a document nests by shape, and says what is not a number as the API does", () => {
  const { kind, tokens, tensors } = JSON.parse(json(shown, { kind: "made" }));
  assert.equal(kind, "made");
  assert.deepEqual(tokens, shown.tokens);
  assert.deepEqual(tensors.scores.data, [[1, 0.5], [null, 0]]);
  assert.deepEqual(tensors.scores.over, { query: "word", key: "word" });
  assert.deepEqual(tensors.mask, { dims: ["query"], over: {}, shape: [2], dtype: "bool", data: [true, false] });
});

test("a table names the tokens that an axis follows, whatever they are called", () => {
  const lines = csv(shown, ["scores"]).split("\r\n");
  assert.match(lines[0], /tensor,query,query_token,key,key_token,value$/);
  assert.deepEqual(lines.slice(1, 4), ["scores,0,a,0,a,1", "scores,0,a,1,b,0.5", "scores,1,b,0,a,NaN"]);
});

test("an archive says how long each file is and what its bytes come to", async () => {
  const view = new DataView(await npz({ x: tensor({ query: null }, [1], [2]) }).arrayBuffer());
  const text = new TextDecoder("latin1").decode(view.buffer);
  assert.equal(view.getUint32(0, true), 0x04034b50);
  // An array of one float32: a header of 128 bytes, and 4.
  assert.deepEqual([view.getUint32(18, true), view.getUint32(22, true)], [132, 132]);
  assert.equal(text.slice(30, 35), "x.npy");
  assert.match(text, /'descr': '<f4', 'fortran_order': False, 'shape': \(1,\)/);
  assert.equal(view.getFloat32(35 + 128, true), 2);
});

test("a sweep has a tensor for each attention, without numbers where a head was not tried", () => {
  const one = { at: "decoder.0.self", head: 1, delta: [-0.5, 0.25], divergence: [1, 2], contrast: [0, 0], recovered: null };
  const found = headTensors(withChanges(startedSweep({ changes: 6, logprobs: [-1, -2] }), { changes: [one], done: 1 }), MODEL);
  assert.deepEqual([...found.logprobs.data], [-1, -2]);
  assert.deepEqual([...found["decoder.0.self.delta"].data], [NaN, NaN, -0.5, 0.25]);
  assert.deepEqual([...found["decoder.0.self.divergence"].data], [NaN, NaN, 1, 2]);
  assert.deepEqual(found["decoder.0.cross.delta"].shape, [2, 2]);
});
