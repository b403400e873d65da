import assert from "node:assert/strict";
import { test } from "node:test";

import { foldedTower, isLit, towersOf, withoutVectors } from "../../static/js/workspace/model-map.js";
import { sized } from "../js/trace.js";

/** @param {string} stack @param {string} mask @param {number} layers */
const stackOf = (stack, mask, layers) =>
  Array.from({ length: layers }, (_, layer) => ({
    place: `${stack}.${layer}.self`, stack, layer, kind: /** @type {const} */ ("self"), query: "text", key: "text", heads: 12, kv_heads: 12, mask, scoring: "scaled-dot",
  }));

test("an encoder and a decoder are two towers, and the decoder's floors have two cells", () => {
  const [encoder, decoder] = towersOf(sized({ encoder: 2, decoder: 3 }));
  assert.deepEqual([encoder.stack, encoder.kinds, encoder.writes, encoder.layers.length], ["encoder", ["self"], false, 2]);
  assert.deepEqual([decoder.stack, decoder.kinds, decoder.writes, decoder.layers.length], ["decoder", ["self", "cross"], true, 3]);
  assert.deepEqual(decoder.layers[1], { layer: 1, cells: [{ block: "decoder", layer: 1 }, { block: "cross", layer: 1 }] });
});

test("a model of one stack is one tower, of twelve floors if it has them", () => {
  const [encoder, ...none] = towersOf({ texts: ["text"], attentions: stackOf("encoder", "padding", 12) });
  assert.deepEqual([none, encoder.layers.length, encoder.writes], [[], 12, false]);
  const [decoder] = towersOf({ texts: ["text"], attentions: stackOf("decoder", "causal", 2) });
  assert.equal(decoder.writes, true);
});

test("a layer without an attention of a kind has no cell for it", () => {
  const model = sized({ encoder: 1, decoder: 2 });
  const attentions = model.attentions.filter(({ place }) => place !== "decoder.0.cross");
  const [, decoder] = towersOf({ ...model, attentions });
  assert.deepEqual(decoder.layers.map(({ cells }) => cells), [
    [{ block: "decoder", layer: 0 }],
    [{ block: "decoder", layer: 1 }, { block: "cross", layer: 0 }],
  ]);
});

test("without a model there is nothing to draw", () => assert.deepEqual(towersOf(null), []));

test("a part is lit in the layer that a view names, or in all of them", () => {
  const named = [{ part: "network", stack: "decoder", layer: 1 }, { part: "residual", stack: "encoder" }, { part: "attention", block: "cross", layer: 2 }];
  const lit = /** @type {import("../../static/js/core/figure/types.js").ModelPart[]} */ (named);
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

/** @param {number} count @param {number} at @param {number[]} [seen] */
const drawn = (count, at, seen) => {
  const [{ layers }] = towersOf({ texts: ["text"], attentions: stackOf("decoder", "causal", count) });
  return foldedTower(layers, at, seen).map((one) => ("from" in one ? `${one.from}–${one.to}` : one.layer));
};

test("few layers are all drawn", () => assert.deepEqual(drawn(7, 0), [0, 1, 2, 3, 4, 5, 6]));

test("of many layers the ends and those around the place that is shown are drawn", () => {
  assert.deepEqual(drawn(30, 15), [0, "1–13", 14, 15, 16, "17–28", 29]);
  assert.deepEqual(drawn(8, 0), [0, 1, "2–6", 7]);
  assert.deepEqual(drawn(12, 0), [0, 1, "2–10", 11]);
  assert.deepEqual(drawn(12, 11), [0, "1–9", 10, 11]);
  assert.deepEqual(drawn(12, 3), [0, 1, 2, 3, 4, "5–10", 11], "a fold of one layer is that layer");
  assert.deepEqual(drawn(12, 6, [2]), [0, 1, 2, "3–4", 5, 6, 7, "8–10", 11]);
  assert.deepEqual(drawn(30, 99), drawn(30, 29), "a layer that this stack has not");
});

test("every layer is drawn or in one fold", () => {
  for (const count of [8, 9, 12, 30])
    for (let at = 0; at < count; at++) {
      const all = drawn(count, at).flatMap((one) => {
        if (typeof one === "number") return [one];
        const [from, to] = one.split("–").map(Number);
        assert.ok(to > from);
        return Array.from({ length: to - from + 1 }, (_, i) => from + i);
      });
      assert.deepEqual(all, Array.from({ length: count }, (_, i) => i));
      assert.ok(drawn(count, at).includes(at));
    }
});

test("the layers without q and k are named, of a model that has them in others", () => {
  const rows = stackOf("decoder", "causal", 8);
  /** @param {number[]} layers  without */
  const model = (...layers) => ({ texts: ["text"], attentions: rows.map((row) => ({ ...row, qk: !layers.includes(row.layer) })) });
  assert.deepEqual(withoutVectors(model(0, 2, 3, 4, 7)), [{ block: "decoder", layers: "1, 3–5, 8", count: 5 }]);
  assert.deepEqual(withoutVectors(model(6)), [{ block: "decoder", layers: "7", count: 1 }]);
  assert.deepEqual(withoutVectors(model()), []);
  assert.deepEqual(withoutVectors(model(0, 1, 2, 3, 4, 5, 6, 7)), []);
});
