import assert from "node:assert/strict";
import { test } from "node:test";

import {
  attention, axes, blockOf, blocks, extent, headIndices, isSupervised, maskOf, masks, place, placeOf, positionedSteps,
  summaries, texts,
} from "../../static/js/core/wire/model-description.js";
import { thumbnailWeights } from "../../static/js/core/compute/computed-tensors.js";
import { highlightOf, openingHead, explainedPair } from "../../static/js/core/store/highlight.js";
import { workedCell } from "../../static/js/core/compute/attention-row.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, sized, trace } from "../js/trace.js";

/** @param {Partial<import("../../static/js/core/store/link.js").State>} link */
const page = (link) => ({ ...createStore({ ...DEFAULTS, block: "encoder", ...link }).get(), model: MODEL, trace: trace() });

test("tensors have the names of the API", () => {
  assert.equal(place(sized({ encoder: 2, decoder: 3 }), { block: "encoder", layer: 1 }, "q"), "encoder.1.self.q");
  assert.equal(place(MODEL, { block: "decoder", layer: 0 }, "weights"), "decoder.0.self.weights");
  assert.equal(place(sized({ encoder: 2, decoder: 3 }), { block: "cross", layer: 2 }), "decoder.2.cross");
});

test("decoder rows read and write, columns are read", () => {
  const { rows, cols } = axes(MODEL, trace(), "decoder");
  assert.deepEqual(
    [texts(rows), texts(cols)],
    [
      ["<bos> → 这", "这 → <eos>"],
      ["<bos>", "这"],
    ],
  );
  assert.deepEqual(texts(axes(MODEL, trace(), "cross").cols), ["<2zh>", "the₁", "·the₂"]);
});

test("a masked cell has no number", () => {
  const values = attention(MODEL, trace(), { block: "decoder", layer: 0, head: 0 })?.values;
  assert.deepEqual([...(values ?? [])], [1, NaN, 0.25, 0.75]);
});

test("a head or layer that is not there is nothing", () => {
  assert.equal(attention(MODEL, trace(), { block: "decoder", layer: 0, head: 2 }), null);
  assert.equal(attention(MODEL, trace(), { block: "decoder", layer: 1, head: 0 }), null);
  assert.deepEqual(extent(MODEL, "cross"), { layers: 1, heads: 2 });
});

test("hovering wins over a pin, a pin over the first look", () => {
  const pinned = page({ query: 2, key: 0 });
  assert.deepEqual(highlightOf(pinned, null), { query: 2, key: 0, by: "pin" });
  const source = /** @type {const} */ ({ side: "source", index: 1 });
  assert.deepEqual(highlightOf(pinned, { query: source, key: source }), { query: 1, key: 1, by: "hover" });
  assert.deepEqual(highlightOf(page({ block: "cross" }), { query: source, key: source }), {
    query: null,
    key: 1,
    by: "hover",
  });
  assert.deepEqual(highlightOf(page({}), null), { query: 1, key: null, by: "default" });
});

test("the pair of a row is what it looks at most", () => {
  assert.deepEqual(explainedPair(page({ query: 0 })), { query: 0, key: 2 });
  assert.deepEqual(explainedPair(page({ query: 0, key: 1 })), { query: 0, key: 1 });
});

test("a weight is worked out from q and k, the mask left out of the sum", () => {
  const q = { rows: 1, cols: 4, values: Float32Array.of(1, 2, 0, -1) };
  const k = { rows: 3, cols: 4, values: Float32Array.of(1, 1, 1, 1, 2, 0, 0, 0, 9, 9, 9, 9) };
  const found = workedCell(q, k, 0, 0, (key) => key < 2);
  assert.deepEqual([found.scored.sum, found.score, found.masked], [2, 1, false]);
  assert.equal(found.weight, 0.5);
  assert.equal(workedCell(q, k, 0, 2, (key) => key < 2).weight, 0);
});

test("a head is taught where the model says so, across alone", () => {
  /** @type {import("../../static/js/core/wire/schemas.d.ts").Taught[]} */
  const heads = [{ layer: 2, head: 1, rows: "writes", since: 1 }];
  assert.ok(isSupervised({ ...MODEL, taught: heads }, { block: "cross", layer: 2, head: 1 }));
  assert.ok(!isSupervised({ ...MODEL, taught: heads }, { block: "decoder", layer: 2, head: 1 }));
  assert.ok(!isSupervised({ ...MODEL, taught: heads }, { block: "cross", layer: 1, head: 1 }));
  assert.ok(!isSupervised(MODEL, { block: "cross", layer: 2, head: 1 }));
});

test("a page that was not told where opens on the head that tells most", () => {
  assert.deepEqual(openingHead(trace(), MODEL, { block: "cross", view: "alignment" }), { layer: 0, head: 0 });
  assert.deepEqual(openingHead(trace(), MODEL, { block: "decoder", view: "heatmap" }), { layer: 0, head: 0 });
  /** @type {import("../../static/js/core/wire/schemas.d.ts").Aligner[]} */
  const aligners = [
    { layer: 0, head: 1, error_rate: 0.4, rows: "reads" },
    { layer: 2, head: 1, error_rate: 0.5, rows: "writes" },
  ];
  const model = { ...MODEL, aligners };
  assert.deepEqual(openingHead(trace(), model, { block: "cross", view: "heatmap" }), { layer: 2, head: 1 });
  assert.deepEqual(openingHead(trace(), model, { block: "cross", view: "alignment" }), { layer: 0, head: 1 });
  assert.deepEqual(openingHead(trace(), model, { block: "decoder", view: "heatmap" }), { layer: 0, head: 0 });
});

/** Twelve layers of one stack over one text; every third sees all of it, the others a window. */
const MADE = {
  texts: ["words"],
  attentions: Array.from({ length: 12 }, (_, layer) => ({
    place: `trunk/${layer}/attn`,
    stack: "trunk",
    layer,
    kind: /** @type {const} */ ("self"),
    query: "words",
    key: "words",
    heads: layer ? 8 : 4,
    kv_heads: 2,
    mask: layer % 3 === 2 ? "causal" : "window",
    scoring: "scaled-dot",
  })),
};

test("a block of any name, depth and mask is what the table says", () => {
  assert.deepEqual(blocks(MADE).map(({ id, writes }) => [id, writes]), [["trunk", false]]);
  assert.deepEqual(extent(MADE, "trunk"), { layers: 12, heads: 8 });
  assert.equal(place(MADE, { block: "trunk", layer: 11 }, "q"), "trunk/11/attn.q");
  assert.deepEqual(placeOf(MADE, "trunk/7/attn"), { block: "trunk", layer: 7 });
  assert.equal(placeOf(MADE, "trunk.7.attn"), null);
  assert.deepEqual(summaries(MADE, "trunk"), MADE.attentions.map(({ place }) => `summary of ${place}`));
  const small = MADE.attentions.map(({ place }) => `${place}.weights:uint8`);
  assert.deepEqual(thumbnailWeights(MADE, "trunk"), [...small, "trunk/0/attn.mask", "trunk/2/attn.mask"]);
  assert.deepEqual([blockOf(MADE, "cross").rows, blocks(null)], [[], []]);
});

test("rows write where a causal rule is one of several", () => {
  const model = sized({ encoder: 1, decoder: 1 });
  const attentions = model.attentions.map((one) => (one.mask === "causal" ? { ...one, mask: "causal & window-3" } : one));
  const told = blocks({ ...model, attentions }).map(({ id, writes }) => [id, writes]);
  assert.deepEqual(told, [["encoder", false], ["decoder", true], ["cross", true]]);
});

test("layers of one rule share a mask, and heads a key", () => {
  assert.deepEqual(masks(MADE, "trunk"), ["trunk/0/attn.mask", "trunk/2/attn.mask"]);
  assert.equal(maskOf(MADE, { block: "trunk", layer: 8 }), "trunk/2/attn.mask");
  const shared = [0, 3, 4, 7].map((head) => headIndices(MADE, { block: "trunk", layer: 5, head }).kv_head);
  assert.deepEqual(shared, [0, 0, 1, 1]);
  assert.deepEqual(headIndices(MADE, { block: "trunk", layer: 0, head: 3 }), { head: 3, kv_head: 1 });
});

test("the tokens of a text are its own, whatever it is called", () => {
  const run = { ...trace(), tokens: { words: trace().tokens.source }, direction: "" };
  const { rows, cols } = axes(MADE, run, "trunk");
  assert.deepEqual([texts(rows), texts(cols)], [texts(cols), ["<2zh>", "the₁", "·the₂"]]);
  assert.deepEqual(texts(positionedSteps(MADE, run, "trunk")), ["0 <2zh>", "1 the₁", "2 ·the₂"]);
});
