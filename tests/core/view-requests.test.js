import assert from "node:assert/strict";
import { test } from "node:test";

import { answer, encoding, keyOf, ofThisRun, parameters, runQuestion } from "../../static/js/core/store/view-requests.js";
import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, trace } from "../js/trace.js";

function store() {
  const made = createStore({ ...DEFAULTS, source: "the the", block: "cross" });
  made.set({ model: MODEL });
  return made;
}

test("equal questions are one", () => {
  const page = store().get();
  const wanted = (/** @type {string} */ name) => runQuestion({ ...page }, { select: [name] });
  assert.equal(keyOf(wanted("a")), keyOf(wanted("a")));
  assert.notEqual(keyOf(wanted("a")), keyOf(wanted("b")));
});

test("the order of a question's members says nothing, that of a list does", () => {
  const key = (/** @type {any} */ body) => keyOf({ trace: body });
  assert.equal(key({ a: 1, b: { c: [1, 2], d: null } }), key({ b: { d: null, c: [1, 2] }, a: 1 }));
  assert.notEqual(key({ a: [1, 2] }), key({ a: [2, 1] }));
  assert.notEqual(key({ a: [1, 2] }), key({ a: { 0: 1, 1: 2 } }));
});

test("matrices are asked of the model that is here, or of the one that the link names", () => {
  const page = { ...store().get(), model: null };
  const named = { ...page, link: { ...page.link, model: "named" } };
  assert.deepEqual(parameters(named, ["W"]), { parameters: { model: "named", select: ["W"] } });
  assert.deepEqual(parameters({ ...named, model: MODEL }, ["W"]), { parameters: { model: "en-zh", select: ["W"] } });
  assert.deepEqual(parameters(page, []), { parameters: { model: "", select: [] } });
});

test("a question is about the page's own run, or another", () => {
  const page = store().get();
  assert.equal(ofThisRun(page, runQuestion(page, { select: ["a"], summarise: ["*"], dtype: "uint8" })), true);
  assert.equal(ofThisRun(page, runQuestion(page, { select: [], source: "b" })), false);
  assert.equal(ofThisRun(page, parameters(page, [])), false);
});

test("another run differs from the page's in what was changed, and null takes away", () => {
  const page = { ...store().get(), link: { ...store().get().link, target: "这" } };
  assert.deepEqual(runQuestion(page, { source: "a", target: null, select: ["*.weights"] }), {
    trace: { source: "a", select: ["*.weights"] },
  });
});

test("another run is asked with all that the page's own is asked with", () => {
  const said = {
    source: "a", model: "en-zh", direction: "en-zh", target: "b", decode: { method: "beam", beam: 3 },
    interventions: [{ at: "encoder.0.self", head: 1, do: "zero" }], pad_to: 12,
  };
  const page = { ...store().get(), link: { ...store().get().link, .../** @type {any} */ (said) } };
  assert.deepEqual(runQuestion(page, { select: ["x"] }), { trace: { ...said, select: ["x"] } });
  assert.equal(ofThisRun(page, runQuestion(page, { select: ["x"] })), true);
  for (const [name, other] of Object.entries({ ...said, pad_to: 13, target: "c", direction: "zh-en" }))
    if (other !== /** @type {any} */ (said)[name]) assert.equal(ofThisRun(page, runQuestion(page, { select: [], [name]: other })), false, name);
  assert.equal(ofThisRun(page, { trace: { ...said, source: "a", rows: [1] } }), false, "a member more");
});

test("a key names a question's members in order of their names", () => {
  assert.equal(keyOf(/** @type {any} */ ({ positions: { length: 1, d_model: 2, a: 3, z: 4, b: 5 } })),
    '{"positions":{"a":3,"b":5,"d_model":2,"length":1,"z":4}}');
});

/** An API that counts what it is asked. */
function fakeApi() {
  /** @type {string[]} */
  const asked = [];
  const api = {
    models: async () => [MODEL],
    trace: async (/** @type {any} */ { select }) => {
      asked.push(`trace ${select}`);
      const all = trace();
      const names = Object.keys(all.tensors).filter((name) => select.includes(name));
      return { ...all, tensors: Object.fromEntries(names.map((name) => [name, all.tensors[name]])) };
    },
    answer: async (/** @type {any} */ question) => {
      asked.push(keyOf(question));
      return question.positions;
    },
  };
  return { api: /** @type {any} */ (api), asked };
}

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

test("what a view shows is asked once, and nothing else", async () => {
  const present = store();
  const { api, asked } = fakeApi();
  const table = encoding({ length: 2, d_model: 4 });
  const session = bindSession(present, api, {
    needs: ({ link }) => [link.block === "cross" ? "decoder.0.cross.weights" : "encoder.0.self.weights"],
    asks: () => [table, table],
  });
  session.run();
  await soon();
  assert.equal(present.get().status, "ready");
  assert.deepEqual(answer(present.get(), table), { variant: "sinusoidal", length: 2, d_model: 4 });
  present.go({ block: "encoder" });
  await soon();
  present.go({ block: "cross" });
  await soon();
  assert.deepEqual(asked, ["trace decoder.0.cross.weights", keyOf(table), "trace encoder.0.self.weights"]);
  assert.deepEqual(Object.keys(present.get().trace?.tensors ?? {}), [
    "decoder.0.cross.weights",
    "encoder.0.self.weights",
  ]);
});

test("a layer that the model does not have becomes its last", async () => {
  const present = createStore({ ...DEFAULTS, block: "encoder", source: "the the", layer: 7, head: 9 });
  const { api } = fakeApi();
  bindSession(present, api, { needs: ({ link }) => [`encoder.${link.layer}.self.weights`], asks: () => [] }).run();
  await soon();
  assert.deepEqual([present.get().link.layer, present.get().link.head], [0, 1]);
});
