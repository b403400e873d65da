import assert from "node:assert/strict";
import { test } from "node:test";

import { DEFAULTS } from "../../static/js/core/store/link.js";
import { pathEnds, endsInHead, pathEnd } from "../../static/js/views/whatif/sweep-grids.js";
import { sized } from "../js/trace.js";

const model = { ...sized({ encoder: 2, decoder: 2 }, { encoder: 4, decoder: 4 }), capabilities: ["lens"] };
const t = (/** @type {string} */ words) => words;
/** @param {string} through @param {object} [more] */
const page = (through, more = {}) => ({ model: { ...model, ...more }, link: { ...DEFAULTS, block: "cross", layer: 1, head: 3, options: { through } } });

test("a path ends in an input of the selected head, or in what the logits are read from", () => {
  assert.equal(pathEnd(page("all")), null);
  assert.deepEqual(pathEnd(page("q")), { at: "decoder.1.cross.q", head: 3 });
  assert.deepEqual(pathEnd(page("v")), { at: "decoder.1.cross.v", head: 3 });
  assert.deepEqual(pathEnd(page("end", { norm: "post" })), { at: "decoder.1.ffn.norm" });
  assert.deepEqual(pathEnd(page("end", { norm: "pre" })), { at: "decoder.1.ffn.residual" });
});

test("heads that share keys have the number of theirs", () => {
  const attentions = model.attentions.map((one) => ({ ...one, kv_heads: 2 }));
  assert.deepEqual(pathEnd(page("k", { attentions })), { at: "decoder.1.cross.k", head: 1 });
  assert.deepEqual(pathEnd(page("q", { attentions })), { at: "decoder.1.cross.q", head: 3 });
});

test("it is offered where the stream is known", () => {
  assert.equal(Object.keys(pathEnds(t, model)).length, 5);
  assert.deepEqual(pathEnds(t, { ...model, capabilities: [] }), {});
  assert.deepEqual(pathEnds(t, null), {});
  assert.equal(pathEnd(page("q", { capabilities: [] })), null);
  assert.deepEqual(["all", "q", "k", "v", "end"].map((through) => endsInHead(page(through).link)), [false, true, true, true, false]);
});
