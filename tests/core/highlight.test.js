import assert from "node:assert/strict";
import { test } from "node:test";

import { highlightOf, openingHead, explainedPair } from "../../static/js/core/store/highlight.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, sized, tensor, trace } from "../js/trace.js";

/** @import { State } from "../../static/js/core/store/link.js" */
/** @param {Partial<State>} [link] */
const page = (link = {}) => ({ ...createStore({ ...DEFAULTS, block: "encoder", ...link }).get(), model: MODEL, trace: trace() });
/** @param {string} side @param {number} index */
const ref = (side, index) => ({ side, index });

test("what is hovered is lit, then what is pinned, then what is worth a first look", () => {
  const pinned = page({ query: 1, key: 2 });
  assert.deepEqual(highlightOf(pinned, { query: ref("source", 0), key: null }), { query: 0, key: null, by: "hover" });
  assert.deepEqual(highlightOf(pinned, { query: null, key: ref("source", 1) }), { query: null, key: 1, by: "hover" });
  assert.deepEqual(highlightOf(pinned, null), { query: 1, key: 2, by: "pin" });
  assert.deepEqual(highlightOf(page(), null), { query: 1, key: null, by: "default" }, "the word that looks hardest at another");
  assert.deepEqual(highlightOf(page({ query: 0 }), null), { query: 0, key: null, by: "pin" });
  assert.deepEqual(highlightOf({ ...page(), trace: null }, null), { query: null, key: null, by: "default" });
  assert.deepEqual(highlightOf(page({ layer: 5 }), null), { query: null, key: null, by: "default" });
});

test("a token is lit on the axis that follows its side", () => {
  const cross = page({ block: "cross" });
  assert.deepEqual(highlightOf(cross, { query: ref("target", 1), key: ref("source", 2) }), { query: 1, key: 2, by: "hover" });
  assert.deepEqual(highlightOf(cross, { query: ref("target", 1), key: ref("target", 1) }), { query: 1, key: null, by: "hover" });
  assert.equal(highlightOf(cross, { query: ref("source", 1), key: null }).by, "default");
});

test("a word that looks at itself is not the first look, but one that writes what it reads is", () => {
  const found = trace();
  found.tensors["encoder.0.self.weights"] = tensor(["head", "query", "key"], [1, 3, 3], [1, 0, 0, 0, 0.9, 0.1, 0, 0.6, 0.4]);
  assert.equal(highlightOf({ ...page(), trace: found }, null).query, 2);
  found.tensors["decoder.0.cross.weights"] = tensor(["head", "query", "key"], [1, 2, 3], [0, 0.9, 0.1, 0, 0.5, 0.5]);
  assert.equal(highlightOf({ ...page({ block: "cross" }), trace: found }, null).query, 0);
});

test("the pair to explain is what is lit, or what the row looks at most", () => {
  assert.deepEqual(explainedPair(page({ query: 0, key: 1 })), { query: 0, key: 1 });
  assert.deepEqual(explainedPair(page({ query: 2 })), { query: 2, key: 0 });
  assert.deepEqual(explainedPair(page()), { query: 1, key: 2 });
  assert.deepEqual(explainedPair(page({ query: 0, key: 9 })), { query: 0, key: 2 }, "a key that is not there");
  assert.equal(explainedPair(page({ query: 3, key: 0 })), null, "a row that is not there");
  assert.deepEqual(explainedPair(page({ query: 2 }), { query: null, key: ref("source", 1) }), { query: 2, key: 1 });
  assert.deepEqual(explainedPair(page({ query: 2 }), { query: ref("source", 0), key: null }), { query: 0, key: 2 });
  assert.equal(explainedPair({ ...page(), trace: null }), null);
});

test("a page that was not told where opens on the head that tells most", () => {
  const two = sized({ encoder: 2, decoder: 1 });
  const found = trace();
  const dull = [1, 0, 0, 1, 0, 0, 1, 0, 0];
  const sharp = [1, 0, 0, 0, 0.1, 0.9, 0, 0.9, 0.1];
  const blunt = [1, 0, 0, 0, 0.4, 0.6, 0, 0.6, 0.4];
  const dims = ["head", "query", "key"];
  found.tensors["encoder.0.self.weights"] = tensor(dims, [2, 3, 3], [...dull, ...blunt]);
  found.tensors["encoder.1.self.weights"] = tensor(dims, [2, 3, 3], [...sharp, ...sharp]);
  const at = (/** @type {Partial<State>} */ link) => openingHead(found, two, { block: "encoder", view: "attention", ...link });
  assert.deepEqual(at({}), { layer: 1, head: 0 });
  delete found.tensors["encoder.1.self.weights"];
  assert.deepEqual(at({}), { layer: 0, head: 1 });
  found.tensors = {};
  assert.deepEqual(at({}), { layer: 0, head: 0 });
});

test("across, it opens on the head that aligns best while it writes; the alignment view by any rows", () => {
  const aligners = /** @type {any[]} */ ([
    { layer: 1, head: 3, rows: "reads", error_rate: 0.1 },
    { layer: 0, head: 1, rows: "writes", error_rate: 0.2 },
  ]);
  const model = { ...MODEL, aligners };
  assert.deepEqual(openingHead(trace(), model, { block: "cross", view: "attention" }), { layer: 0, head: 1 });
  assert.deepEqual(openingHead(trace(), model, { block: "cross", view: "alignment" }), { layer: 1, head: 3 });
  assert.deepEqual(openingHead(trace(), model, { block: "encoder", view: "alignment" }), { layer: 0, head: 0 });
});
