import assert from "node:assert/strict";
import { test } from "node:test";

import {
  blamed, changes, found, isChanged, kindOf, linked, plainly, put, same, toggled, touches, without, worded,
} from "../../static/js/state/interventions.js";
import { translator } from "../../static/js/lib/i18n.js";
import { sized, trace } from "./trace.js";

/** @typedef {import("../../static/js/state/interventions.js").Change} Change */

const TWO = sized({ encoder: 2, decoder: 2 });
const { t } = translator({});
const off = { at: "encoder.1.self", head: 3, do: "zero" };
const uniform = { ...off, do: "uniform" };
const cell = { at: "decoder.0.cross", head: 0, do: { set: [1, 2, 0.5], renormalise: true } };

/** @param {any} change */
const says = (change) => plainly(change, { model: TWO, trace: trace() }, t);

test("a change is said in words of the reader", () => {
  assert.equal(says(off), "Encoder, layer 2, head 4: off");
  assert.equal(says({ at: "decoder.0.self", do: "uniform" }), "Decoder, layer 1, all heads: uniform");
  assert.equal(says({ ...off, do: "mean" }), "Encoder, layer 2, head 4: its mean");
  assert.equal(says({ ...off, do: { temperature: 0.5 } }), "Encoder, layer 2, head 4: temperature 0.5");
  assert.match(says({ ...off, do: { freeze: { source: "A dog." } } }), /pattern of “A dog\.”$/);
  assert.equal(says({ at: "encoder.0.self", head: 0, do: { cut: [1, 0] } }), "Encoder, layer 1, head 1: the₁ ↛ <2zh> cut");
  assert.match(says({ at: "source", do: { mask: 2 } }), /^the₂ masked$/);
  assert.equal(says({ at: "source.position", do: { shuffle: 3 } }), "positions shuffled (3)");
  assert.equal(says({ at: "source.position", do: "drop" }), "positions of the sentence dropped");
  assert.equal(says({ at: "target.position", do: "drop" }), "positions of the translation dropped");
  assert.equal(says({ at: "encoder.0.ffn.residual", do: "drop" }), "Encoder, feed-forward, layer 1: residual dropped");
});

test("whether the rest of a row was rescaled is said", () => {
  assert.match(says(cell), /set to 0\.5, the rest of the row is rescaled$/);
  assert.match(says({ ...cell, do: { set: [1, 2, 0.5] } }), /set to 0\.5$/);
});

test("a decoder's row is called by what it writes, its keys by what they are", () => {
  assert.deepEqual(worded({ at: "decoder.0.self", do: { cut: [1, 0] } }, t, TWO).values.query, { side: "target", index: 1, written: true });
  assert.deepEqual(worded(cell, t, TWO).values.key, { side: "source", index: 2 });
});

test("what is not there, or makes no sense, is still said and never throws", () => {
  assert.equal(says({ at: "source", do: { mask: 99 } }), "token 100 masked");
  assert.equal(plainly({ at: "source", do: { mask: 0 } }, { model: null, trace: null }, t), "token 1 masked");
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
  assert.equal(linked([]), null);
  assert.deepEqual(linked([off]), [off]);
});

test("a head has one pattern: the later takes the place of the earlier, in its place", () => {
  assert.deepEqual(put([off, cell], uniform), [uniform, cell]);
  assert.deepEqual(put([off], { ...off, head: 4 }), [off, { ...off, head: 4 }]);
  const hot = { ...off, do: { temperature: 2 } };
  assert.deepEqual(put([off], hot), [off, hot], "its temperature is another thing");
  const colder = { ...off, do: { temperature: 0.5 } };
  assert.deepEqual(put([hot], colder), [colder]);
});

test("a cell is set or cut, a token masked once, positions shuffled or dropped", () => {
  const cut = { ...cell, do: { cut: [1, 2] } };
  assert.deepEqual(put([cell], cut), [cut]);
  assert.deepEqual(put([cell], { ...cell, do: { cut: [1, 3] } }).length, 2);
  const mask = { at: "source", do: { mask: 2 } };
  assert.deepEqual(put([mask], mask), [mask]);
  assert.deepEqual(put([{ at: "source.position", do: "drop" }], { at: "source.position", do: { shuffle: 1 } }).length, 1);
  assert.deepEqual(put([{ at: "source.position", do: "drop" }], { at: "target.position", do: "drop" }).length, 2);
});

test("on and off again leaves what was there", () => {
  const list = [cell];
  assert.deepEqual(toggled(toggled(list, off), off), list);
  assert.deepEqual(toggled([off], uniform), [uniform]);
  assert.deepEqual(without([off, cell], uniform), [cell], "by what it is about");
  assert.equal(found([off, cell], uniform), off);
  assert.equal(found([cell], off), null);
  assert.ok(same({ at: "a", do: { set: [1, 2, 0.5], renormalise: true } }, { do: { renormalise: true, set: [1, 2, 0.5] }, head: null, at: "a" }));
  assert.deepEqual(list, [cell], "lists are not written into");
});

test("a problem says which of them it is about", () => {
  assert.equal(blamed({ field: "interventions[2].do.mask" }), 2);
  assert.equal(blamed({ field: "interventions" }), -1);
  assert.equal(blamed({ field: "source" }), null);
  assert.equal(blamed(null), null);
});

test("which heads anything is done to", () => {
  assert.ok(touches([off], "encoder.1.self", 3));
  assert.ok(!touches([off], "encoder.1.self", 2));
  assert.ok(touches([{ at: "encoder.1.self", do: "zero" }], "encoder.1.self", 7));
  assert.ok(!touches(/** @type {any} */ ([null, 5]), "encoder.1.self", 3));
});
