import assert from "node:assert/strict";
import { test } from "node:test";

import { completed } from "../../static/js/core/wire/model-description.js";
import { request, stateFromBody } from "../../static/js/core/wire/request.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL } from "../js/trace.js";

const ONE = { ...MODEL, texts: ["words"], capabilities: ["decode"] };
const LINK = { ...DEFAULTS, source: "Hi", direction: "en-zh", target: "嗨" };

test("a model of two texts is asked with both, one of one with that", () => {
  assert.deepEqual(request(MODEL, LINK, []), { source: "Hi", direction: "en-zh", target: "嗨", select: [] });
  assert.deepEqual(request(ONE, LINK, []), { words: "Hi", select: [] });
  assert.deepEqual(request(null, { ...LINK, target: null, direction: null }, ["a"]), { source: "Hi", select: ["a"] });
});

test("only a model with a chat template is asked for a chat", () => {
  const able = { ...ONE, capabilities: ["chat"] };
  const link = { ...LINK, chat: /** @type {const} */ (true) };
  assert.deepEqual(request(able, link, []), { words: "Hi", chat: true, select: [] });
  assert.deepEqual(request(ONE, link, []), { words: "Hi", select: [] });
  assert.equal(request(MODEL, link, []).chat, undefined);
});

test("a model of one direction is not asked for another", () => {
  const oneWay = { ...MODEL, directions: ["in-out"] };
  assert.deepEqual(request(oneWay, LINK, []), { source: "Hi", target: "嗨", select: [] });
  assert.equal(request({ ...MODEL, directions: ["en-zh", "zh-en"] }, LINK, []).direction, "en-zh");
});

test("a share's state is read as a link says it", () => {
  assert.deepEqual(stateFromBody(ONE, { words: "Hi", layer: 1 }), { source: "Hi", layer: 1 });
  assert.deepEqual(stateFromBody(MODEL, { source: "Hi" }), { source: "Hi" });
});

test("a model from before the table is filled in; one that has it is left", () => {
  assert.deepEqual(MODEL.attentions.map(({ place, mask }) => [place, mask]), [
    ["encoder.0.self", "padding"],
    ["decoder.0.self", "causal"],
    ["decoder.0.cross", "padding"],
  ]);
  assert.equal(completed(ONE), ONE);
  const older = completed({ ...MODEL, capabilities: ["decode"] });
  assert.deepEqual(older.capabilities, ["decode", "candidates"]);
});
