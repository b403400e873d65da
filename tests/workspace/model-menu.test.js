import assert from "node:assert/strict";
import { test } from "node:test";

import { linkForModel } from "../../static/js/workspace/page-header.js";
import { examplesOf } from "../../static/js/core/store/examples-and-tasks.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { modelLabel, modelsByTask } from "../../static/js/core/store/model-part-names.js";
import { MODEL } from "../js/trace.js";

/** @param {string} task @param {Record<string, string | number>} [changed] */
const zoo = (task, changed = {}) => ({ ...MODEL, id: `zoo-${task}`, zoo: { name: task, task, changed } });
const t = (/** @type {string} */ words) => words;

test("models stand under their tasks, those that translate first", () => {
  const list = [MODEL, zoo("sort"), zoo("reverse"), zoo("sort", { scoring: "additive" })];
  assert.deepEqual(modelsByTask(list).map(({ task, models }) => [task, models.length]), [[null, 1], ["sort", 2], ["reverse", 1]]);
  assert.equal(modelLabel(t, MODEL), MODEL.name);
  assert.equal(modelLabel(t, zoo("sort", { scoring: "additive" })), "Sort: additive scores");
  assert.equal(modelLabel(t, zoo("sort")), "Sort: plain");
});

test("another model of the same task reads the same text, one of another task an example of its own", () => {
  const link = { ...DEFAULTS, source: "b a c", direction: null, query: 2, key: 1, target: "a b c", interventions: [{}] };
  const same = linkForModel(link, zoo("sort"), zoo("sort", { norm: "pre" }));
  assert.deepEqual([same.source, same.target, same.interventions, same.query], ["b a c", null, null, null]);
  assert.equal(linkForModel(link, zoo("sort"), zoo("addition")).source, "27+58");
  const back = linkForModel({ ...link, lang: "zh" }, zoo("sort"), MODEL);
  assert.equal(back.source, examplesOf(MODEL, "zh")[0].text);
  assert.equal(linkForModel({ ...link, source: " " }, MODEL, MODEL).source, examplesOf(MODEL, "en")[0].text);
});
