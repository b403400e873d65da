import assert from "node:assert/strict";
import { test } from "node:test";

import { floors, isLit } from "../../static/js/state/model-map.js";
import { sized } from "./trace.js";

/** @param {string} stack @param {string} mask @param {number} layers */
const stackOf = (stack, mask, layers) =>
  Array.from({ length: layers }, (_, layer) => ({
    place: `${stack}.${layer}.self`, stack, layer, kind: "self", query: "text", key: "text", heads: 12, kv_heads: 12, mask, scoring: "scaled-dot",
  }));

test("an encoder and a decoder are two towers, and the decoder's floors have two cells", () => {
  const [encoder, decoder] = floors(sized({ encoder: 2, decoder: 3 }));
  assert.deepEqual([encoder.stack, encoder.kinds, encoder.writes, encoder.layers.length], ["encoder", ["self"], false, 2]);
  assert.deepEqual([decoder.stack, decoder.kinds, decoder.writes, decoder.layers.length], ["decoder", ["self", "cross"], true, 3]);
  assert.deepEqual(decoder.layers[1], { layer: 1, cells: [{ block: "decoder", layer: 1 }, { block: "cross", layer: 1 }] });
});

test("a model of one stack is one tower, of twelve floors if it has them", () => {
  const [encoder, ...none] = floors({ texts: ["text"], attentions: stackOf("encoder", "padding", 12) });
  assert.deepEqual([none, encoder.layers.length, encoder.writes], [[], 12, false]);
  const [decoder] = floors({ texts: ["text"], attentions: stackOf("decoder", "causal", 2) });
  assert.equal(decoder.writes, true);
});

test("a layer without an attention of a kind has no cell for it", () => {
  const model = sized({ encoder: 1, decoder: 2 });
  const attentions = model.attentions.filter(({ place }) => place !== "decoder.0.cross");
  const [, decoder] = floors({ ...model, attentions });
  assert.deepEqual(decoder.layers.map(({ cells }) => cells), [
    [{ block: "decoder", layer: 0 }],
    [{ block: "decoder", layer: 1 }, { block: "cross", layer: 0 }],
  ]);
});

test("without a model there is nothing to draw", () => assert.deepEqual(floors(null), []));

test("a part is lit in the layer that a view names, or in all of them", () => {
  const named = [{ part: "network", stack: "decoder", layer: 1 }, { part: "residual", stack: "encoder" }, { part: "attention", block: "cross", layer: 2 }];
  const lit = /** @type {import("../../static/js/state/types.js").ModelPart[]} */ (named);
  assert.equal(isLit(lit, { part: "network", stack: "decoder", layer: 1 }), true);
  assert.equal(isLit(lit, { part: "network", stack: "decoder", layer: 0 }), false);
  assert.equal(isLit(lit, { part: "network", stack: "encoder", layer: 1 }), false);
  assert.equal(isLit(lit, { part: "sum", stack: "decoder", layer: 1 }), false);
  assert.equal(isLit(lit, { part: "residual", stack: "encoder" }), true);
  assert.equal(isLit(lit, { part: "residual", stack: "decoder" }), false);
  assert.equal(isLit(lit, { part: "attention", block: "cross", layer: 2 }), true);
  assert.equal(isLit(lit, { part: "attention", block: "decoder", layer: 2 }), false);
  assert.equal(isLit([{ part: "residual" }], { part: "residual", stack: "decoder" }), true, "of every stack");
});
