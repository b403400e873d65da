import assert from "node:assert/strict";
import { test } from "node:test";

import {
  blamedIndex, changes, withSameTarget, isChanged, kindOf, linkValueOf, plainChange, putChange, isSameChange, toggleChange, touchesHead, withoutChange, changeWording,
} from "../../static/js/core/store/interventions.js";
import { translator } from "../../static/js/lib/i18n.js";
import { sized, trace } from "../js/trace.js";

const TWO = sized({ encoder: 2, decoder: 2 });
const { t } = translator({});
const off = { at: "encoder.1.self", head: 3, do: "zero" };
const uniform = { ...off, do: "uniform" };
const cell = { at: "decoder.0.cross", head: 0, do: { set: [1, 2, 0.5], renormalise: true } };

/** @param {any} change */
const says = (change) => plainChange(change, { model: TWO, trace: trace() }, t);

test("a change is said in words of the reader", () => {
  assert.equal(says(off), "Encoder, layer 2, head 4: off");
  assert.equal(says({ at: "decoder.0.self", do: "uniform" }), "Decoder, layer 1, all heads: uniform");
  assert.equal(says({ ...off, do: "mean" }), "Encoder, layer 2, head 4: its mean");
  assert.equal(says({ ...off, do: { temperature: 0.5 } }), "Encoder, layer 2, head 4: temperature 0.5");
  assert.match(says({ ...off, do: { freeze: { source: "A dog." } } }), /pattern of “A dog\.”$/);
  const patch = { patch: { source: "A dog." } };
  assert.equal(says({ at: `${off.at}.mix`, head: off.head, do: patch }), says(off).replace(/: .*$/, ": mix taken from “A dog.”"));
  const stream = { at: "encoder.0.ffn.norm", do: { patch: { source: "A dog.", rows: [[1, 2]] } } };
  assert.equal(says(stream), "Encoder, feed-forward, layer 1: norm at the₂ taken from “A dog.”");
  assert.match(says({ at: "source.input", do: patch }), /^source: input taken from “A dog\.”$/);
  const along = (/** @type {object} */ to, /** @type {object} */ more = {}) => says({ at: `${off.at}.mix`, head: off.head, do: { patch: { source: "A dog.", to, ...more } } });
  const { at, head } = off;
  assert.match(along({ at: `${at}.q`, head }), /: mix taken from “A dog\.”, only directly for q of .+ head \d$/);
  assert.match(along({ at: "decoder.1.ffn.norm" }), /, only directly for the logits$/);
  assert.match(along({ at: "encoder.0.ffn.norm" }), /, only directly for norm of Encoder, feed-forward, layer 1$/);
  assert.match(along({ at: `${at}.q`, head }, { rows: [[1, 1]] }), /: mix at .+ taken from “A dog\.”, only directly for q of /);
  assert.equal(says({ at: "encoder.0.self", head: 0, do: { cut: [1, 0] } }), "Encoder, layer 1, head 1: the₁ ↛ <2zh> cut");
  assert.match(says({ at: "source", do: { mask: 2 } }), /^the₂ masked$/);
  assert.equal(says({ at: "source.position", do: { shuffle: 3 } }), "positions shuffled (3)");
  assert.equal(says({ at: "source.position", do: "drop" }), "positions of the sentence dropped");
  assert.equal(says({ at: "target.position", do: "drop" }), "positions of the output dropped");
  assert.equal(says({ at: "encoder.0.ffn.residual", do: "drop" }), "Encoder, feed-forward, layer 1: residual dropped");
});

test("a change of numbers is said with its part", () => {
  const zero = { do: "zero" };
  assert.equal(says({ at: "encoder.1.ffn.output", ...zero }), "Encoder, feed-forward, layer 2: off");
  assert.equal(says({ at: "encoder.1.self.output", ...zero }), "Encoder self-attention, layer 2: off");
  assert.equal(says({ at: "decoder.0.self.output", do: { scale: 2 } }), "Decoder self-attention, layer 1: ×2");
  assert.equal(says({ at: "decoder.1.cross.output", ...zero }), "Cross-attention, layer 2: off");
  assert.equal(says({ at: "encoder.1.ffn.hidden", units: [16], do: { fill: -3 } }), "Encoder, feed-forward, layer 2, unit 17: set to -3");
  assert.equal(says({ at: "encoder.1.ffn.hidden", units: [0, 2], ...zero }), "Encoder, feed-forward, layer 2, units 1, 3: off");
  assert.equal(says({ at: "encoder.1.ffn.hidden", ...zero }), "Encoder, feed-forward, layer 2, hidden units: off");
  assert.equal(says({ at: "encoder.1.self.mix", head: 3, do: { scale: 0.5 } }), "Encoder, layer 2, head 4: ×0.5");
  assert.equal(says({ at: "encoder.1.self.mix", do: { scale: 0.5 } }), "Encoder, layer 2, all heads: ×0.5");
  assert.equal(says({ at: "encoder.1.self.v", head: 3, do: { scale: 0.5 } }), "Encoder, layer 2, head 4, v: ×0.5");
  assert.equal(says({ at: "source.input", do: { add: [1, 2] } }), "Encoder, input: a vector added");
  const [to, minus] = [{ source: "A dog.", row: 1 }, { source: "A cat.", row: 2 }];
  assert.equal(says({ at: "source.input", do: { add: { to, times: 2 } } }), "Encoder, input: plus 2 × token 2 of “A dog.”");
  assert.equal(says({ at: "source.input", do: { add: { to, minus } } }), "Encoder, input: plus (token 2 of “A dog.” minus token 3 of “A cat.”)");
});

test("several heads, edges and rows are said", () => {
  assert.equal(says({ at: "encoder.1.self", heads: [0, 3], do: "zero" }), "Encoder, layer 2, heads 1 and 4: off");
  assert.equal(says({ at: "encoder.1.self", heads: [0, 1, 3], do: "uniform" }), "Encoder, layer 2, heads 1, 2, 4: uniform");
  assert.equal(says({ at: "encoder.1.self", head: 0, do: { cut: [[0, 1], [2, 1]] } }), "Encoder, layer 2, head 1: 2 edges cut");
  assert.equal(says({ at: "encoder.1.self", head: 0, rows: [1], do: "zero" }), "Encoder, layer 2, head 1: off, only at the₁");
  assert.equal(says({ at: "encoder.1.ffn.output", rows: [2, 1], do: "zero" }), "Encoder, feed-forward, layer 2: off, only at 2 tokens");
  for (const odd of [{ heads: 3 }, { rows: "x" }, { units: {} }, { heads: [null] }])
    assert.equal(typeof says({ at: "encoder.1.ffn.hidden", do: "zero", ...odd }), "string");
});

test("a part's numbers are changed once, apart from its heads' pattern", () => {
  const scale = { at: "encoder.1.ffn.output", do: { scale: 2 } };
  assert.deepEqual(putChange([scale], { ...scale, do: "zero" }), [{ ...scale, do: "zero" }]);
  const unit = { at: "encoder.1.ffn.hidden", units: [3], do: { fill: 1 } };
  assert.deepEqual(putChange([unit], { ...unit, units: [4] }), [unit, { ...unit, units: [4] }], "another unit");
  assert.deepEqual(putChange([off], { at: `${off.at}.mix`, head: 3, do: { scale: 2 } }).length, 2);
  assert.deepEqual(putChange([off], { at: off.at, heads: [3], do: "zero" }).length, 2, "several heads are one target");
  assert.equal(isSameChange({ ...off, head: undefined, heads: [1] }, { ...off, head: undefined, heads: [2] }), false);
});

test("a change of several heads touches each of them", () => {
  const both = [{ at: "encoder.1.self", heads: [0, 3], do: "zero" }];
  assert.deepEqual([0, 1, 3].map((head) => touchesHead(both, "encoder.1.self", head)), [true, false, true]);
});

test("whether the rest of a row was rescaled is said", () => {
  assert.match(says(cell), /set to 0\.5, the rest of the row is rescaled$/);
  assert.match(says({ ...cell, do: { set: [1, 2, 0.5] } }), /set to 0\.5$/);
});

test("a decoder's row is called by what it writes, its keys by what they are", () => {
  assert.deepEqual(changeWording({ at: "decoder.0.self", do: { cut: [1, 0] } }, t, TWO).values.query, { side: "target", index: 1, written: true });
  assert.deepEqual(changeWording(cell, t, TWO).values.key, { side: "source", index: 2 });
});

test("what is not there, or makes no sense, is still said and never throws", () => {
  assert.equal(says({ at: "source", do: { mask: 99 } }), "token 100 masked");
  assert.equal(plainChange({ at: "source", do: { mask: 0 } }, { model: null, trace: null }, t), "token 1 masked");
  for (const odd of [null, 5, "zero", [], {}, { at: 3, do: "zero" }, { at: "x", do: { melt: 1 } }, { at: "x", do: null }])
    assert.equal(says(odd), "a change that cannot be read", JSON.stringify(odd));
  assert.equal(says({ at: "nowhere", head: 1, do: "zero" }), "nowhere: off");
  assert.equal(kindOf(/** @type {any} */ (null)), "");
});

test("a link's list is read as it is; nothing is nothing", () => {
  assert.deepEqual(changes({ interventions: null }), []);
  assert.deepEqual(changes({ interventions: [off] }), [off]);
  assert.deepEqual(changes({ interventions: 5 }), [5], "what cannot be read can be taken away");
  assert.equal(isChanged({ interventions: [] }), false);
  assert.equal(linkValueOf([]), null);
  assert.deepEqual(linkValueOf([off]), [off]);
});

test("a head has one pattern: the later takes the place of the earlier, in its place", () => {
  assert.deepEqual(putChange([off, cell], uniform), [uniform, cell]);
  assert.deepEqual(putChange([off], { ...off, head: 4 }), [off, { ...off, head: 4 }]);
  const hot = { ...off, do: { temperature: 2 } };
  assert.deepEqual(putChange([off], hot), [off, hot], "its temperature is another thing");
  const colder = { ...off, do: { temperature: 0.5 } };
  assert.deepEqual(putChange([hot], colder), [colder]);
});

test("a tensor is patched once, a token of it apart from the others", () => {
  const patch = (/** @type {string} */ source, /** @type {any} */ rows) => ({ at: "encoder.0.ffn.norm", do: { patch: { source, ...(rows ? { rows } : {}) } } });
  assert.deepEqual(putChange([patch("a", null)], patch("b", null)), [patch("b", null)]);
  assert.deepEqual(putChange([patch("a", [[1, 2]])], patch("b", [[0, 2]])), [patch("b", [[0, 2]])], "by our row");
  assert.equal(putChange([patch("a", [[1, 2]])], patch("a", [[1, 1]])).length, 2);
  assert.equal(putChange([patch("a", null)], { ...patch("a", null), at: "encoder.1.ffn.norm" }).length, 2);
  const along = (/** @type {object} */ to) => ({ at: "encoder.0.ffn.norm", do: { patch: { source: "a", to } } });
  const ends = [along({ at: "decoder.0.cross.v", head: 0 }), along({ at: "decoder.0.cross.v", head: 1 }), along({ at: "decoder.0.cross.k", head: 0 })];
  assert.equal(ends.reduce((list, one) => putChange(list, one), [patch("a", null)]).length, 4, "and each path from it");
  assert.equal(putChange(ends, ends[1]).length, 3);
});

test("a cell is set or cut, a token masked once, positions shuffled or dropped", () => {
  const cut = { ...cell, do: { cut: [1, 2] } };
  assert.deepEqual(putChange([cell], cut), [cut]);
  assert.deepEqual(putChange([cell], { ...cell, do: { cut: [1, 3] } }).length, 2);
  const mask = { at: "source", do: { mask: 2 } };
  assert.deepEqual(putChange([mask], mask), [mask]);
  assert.deepEqual(putChange([{ at: "source.position", do: "drop" }], { at: "source.position", do: { shuffle: 1 } }).length, 1);
  assert.deepEqual(putChange([{ at: "source.position", do: "drop" }], { at: "target.position", do: "drop" }).length, 2);
});

test("on and off again leaves what was there", () => {
  const list = [cell];
  assert.deepEqual(toggleChange(toggleChange(list, off), off), list);
  assert.deepEqual(toggleChange([off], uniform), [uniform]);
  assert.deepEqual(withoutChange([off, cell], uniform), [cell], "by what it is about");
  assert.equal(withSameTarget([off, cell], uniform), off);
  assert.equal(withSameTarget([cell], off), null);
  assert.ok(isSameChange({ at: "a", do: { set: [1, 2, 0.5], renormalise: true } }, { do: { renormalise: true, set: [1, 2, 0.5] }, head: null, at: "a" }));
  assert.deepEqual(list, [cell], "lists are not written into");
});

test("a problem says which of them it is about", () => {
  assert.equal(blamedIndex({ field: "interventions[2].do.mask" }), 2);
  assert.equal(blamedIndex({ field: "interventions" }), -1);
  assert.equal(blamedIndex({ field: "source" }), null);
  assert.equal(blamedIndex(null), null);
});

test("which heads anything is done to", () => {
  assert.ok(touchesHead([off], "encoder.1.self", 3));
  assert.ok(!touchesHead([off], "encoder.1.self", 2));
  assert.ok(touchesHead([{ at: "encoder.1.self", do: "zero" }], "encoder.1.self", 7));
  const mix = { at: "encoder.1.self.mix", head: 3, do: { patch: { source: "a" } } };
  assert.ok(touchesHead([mix], "encoder.1.self", 3), "the tensor of a head");
  assert.ok(!touchesHead([mix], "encoder.1.self", 2));
  assert.ok(!touchesHead([mix], "encoder.1.sel", 3));
  assert.ok(touchesHead([{ ...mix, head: null }], "encoder.1.self", 2));
  assert.ok(!touchesHead([{ at: "encoder.1.self.residual", do: "drop" }], "encoder.1.self", 2), "not the residual around it");
  assert.ok(!touchesHead(/** @type {any} */ ([null, 5]), "encoder.1.self", 3));
});
