import assert from "node:assert/strict";
import { test } from "node:test";

import { bestHead, format, headInLink, headShares, parse, stateOfTask, workspaceLink, zooWithModels } from "../../static/js/zoo/zoo-link.js";
import { changedName, comparedByPart } from "../../static/js/core/store/examples-and-tasks.js";
import { sized } from "../js/trace.js";

const t = (/** @type {string} */ text, /** @type {Record<string, any>} */ values = {}) =>
  text.replace(/\{(\w+)\}/g, (_, name) => String(values[name]));

const SEED = { digest: "", parameters: 0, steps: 0 };

/** @param {string} name @param {string} task @param {Record<string, number[]>} looks */
const model = (name, task, looks = {}) => ({
  id: `zoo-${name}`,
  name,
  task,
  changed: {},
  trained: /** @type {[number, number]} */ ([1, 12]),
  seeds: [
    { ...SEED, seed: 1, shipped: false, curve: [], accuracy: {}, looks: { "decoder.0.cross": [1, 1] } },
    { ...SEED, seed: 2, shipped: true, curve: [], accuracy: {}, looks },
  ],
});
const TOLD = {
  tasks: [],
  models: [
    model("sort", "sort", { "decoder.0.cross": [0.2, 0.7], "encoder.0.self": [0.1, 0.6] }),
    model("sort-a", "sort"),
    model("sort-b", "sort"),
    model("copy", "copy"),
    model("not-served", "sort"),
  ],
};
const INFOS = ["sort", "sort-a", "sort-b", "copy"].map((name) => ({ ...sized({ encoder: 2, decoder: 1 }), id: `zoo-${name}` }));
const ZOO = zooWithModels(TOLD, INFOS);

test("only what is served is there", () => {
  assert.deepEqual(ZOO.models.map(({ name }) => name), ["sort", "sort-a", "sort-b", "copy"]);
});

test("a link holds the task, the models, the text and the heads, and says nothing that is not there", () => {
  const said = "task=sort&models=sort-b,sort,copy&source=b+a&at=sort:encoder.1.self.1,sort-b:encoder.9.self.0,sort:x";
  const state = parse(said, ZOO);
  assert.deepEqual(state, {
    task: "sort",
    models: ["sort", "sort-b"],
    source: "b a",
    headsByModel: { sort: { place: "encoder.1.self", head: 1 } },
  });
  assert.deepEqual(parse(format(state), ZOO), state);
  const text = { ...state, source: "a&b=c#d “它”" };
  assert.deepEqual(parse(format(text), ZOO), text);
  assert.deepEqual(parse("at=sort:encoder.1.self.2", ZOO).headsByModel, {}, "there are two heads, 0 and 1");
});

test("without a word, or with wrong ones, it opens on the first models of a task", () => {
  assert.deepEqual(parse("", ZOO), { task: "sort", models: ["sort", "sort-a"], source: "", headsByModel: {} });
  assert.equal(parse("task=dance", ZOO).task, "sort");
  assert.deepEqual(parse("task=copy&models=sort", ZOO).models, ["copy"]);
  assert.deepEqual(stateOfTask(ZOO, "sort", ["sort-b"]).models, ["sort-b"]);
  assert.equal(parse("", { tasks: [], models: [] }).task, "");
});

test("the best head is that of the seed that is served", () => {
  const [sort, plain] = ZOO.models;
  assert.deepEqual(bestHead(sort), { place: "decoder.0.cross", head: 1, share: 0.7 });
  assert.equal(headShares(sort).length, 2 * (2 + 2));
  assert.equal(headShares(sort).find(({ place }) => place === "decoder.0.self")?.share, null);
  assert.equal(bestHead(plain).share, null);
});

test("the workspace opens on the same head", () => {
  const [sort] = ZOO.models;
  assert.deepEqual(headInLink(sort, { place: "encoder.1.self", head: 3 }), { block: "encoder", layer: 1, head: 3 });
  assert.deepEqual(headInLink(sort, { place: "decoder.0.cross", head: 0 }), { block: "cross", layer: 0, head: 0 });
  assert.equal(
    workspaceLink(sort, "b a", { place: "decoder.0.cross", head: 1 }, "zh"),
    "/?model=zoo-sort&source=b+a&view=attention&block=cross&layer=0&head=1&lang=zh",
  );
});

test("a model is called by what is changed in it", () => {
  assert.equal(changedName(t, {}), "plain");
  assert.equal(changedName(t, { norm: "pre", warmup: 1 }), "pre-norm, no warm-up");
  assert.equal(changedName(t, { encoder_mask: "window-3" }), "window of 3");
  assert.equal(changedName(t, { heads: 8 }), "8 heads");
  assert.equal(changedName(t, { d_ff: 7 }), "d_ff 7");
});

test("the plain model is named by the part that models are compared by", () => {
  const names = (/** @type {Record<string, string | number>[]} */ ...changes) => comparedByPart(changes.map((changed) => ({ changed }))).map(({ changed }) => changedName(t, changed));
  assert.deepEqual(names({}, { positions: "learned" }, { positions: "none" }), ["sinusoidal positions", "learned positions", "no positions"]);
  assert.deepEqual(names({}, { encoder_mask: "window-3" }), ["full attention", "window of 3"]);
  assert.deepEqual(names({}, { scoring: "dot" }, { norm: "pre" }), ["plain", "unscaled scores", "pre-norm"]);
  assert.deepEqual(names({}), ["plain"]);
});
