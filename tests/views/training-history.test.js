import assert from "node:assert/strict";
import { test } from "node:test";
import { attention, axes } from "../../static/js/core/wire/model-description.js";
import { fileRequest, nameOf } from "../../static/js/workspace/export-menu.js";
import { additionalContents } from "../../static/js/core/store/share-contents.js";
import { counted, formation, learned, placeOf, scores, subject, traceAt, watched } from "../../static/js/views/training/training-history.js";
import { keyOf } from "../../static/js/core/store/view-requests.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, trace } from "../js/trace.js";

const STEPS = [0, 40, 400];

/** The small trace at three steps; the decoder's own attention forms from even to what it is. */
function found() {
  const { tokens, output, tensors } = trace();
  const { "decoder.0.self.weights": weights, "decoder.0.self.mask": mask } = tensors;
  const even = { ...weights, data: Float32Array.from(weights.data, () => 0.5) };
  return /** @type {import("../../static/js/views/training/training-history.js").Learned} */ ({
    model: "en-zh",
    digest: "0",
    snapshots: STEPS.map((step) => ({ step, loss: 9 / (step + 1), bleu: { "en-zh": step / 10 } })),
    examples: [
      { source: "A", direction: "en-zh", text: "甲" },
      { source: "the the", direction: "en-zh", text: "这" },
    ],
    example: 1,
    direction: "en-zh",
    tokens,
    output: { text: output.text, tokens: output.tokens },
    texts: ["", "的的", "这"],
    tensors: {
      "decoder.0.self.mask": mask,
      "0.decoder.0.self.weights": even,
      "40.decoder.0.self.weights": even,
      "400.decoder.0.self.weights": weights,
    },
  });
}

/** @param {Record<string, unknown>} [options] @param {object} [more] @returns {import("../../static/js/core/store/store.js").Page} */
const page = (options = {}, more = {}) =>
  /** @type {any} */ ({
    link: { ...DEFAULTS, source: "Hi", block: "decoder", view: "training", options: { example: 1, snapshot: null, ...options } },
    model: { ...MODEL, examples: 2 },
    answers: { [keyOf({ learning: { model: "en-zh", example: 1 } })]: found() },
    share: null,
    ...more,
  });

test("one question an example, the last one for a number beyond, none where nothing was watched", () => {
  assert.deepEqual(watched(page({ snapshot: 40 })), [{ learning: { model: "en-zh", example: 1 } }]);
  assert.deepEqual(watched(page({ example: 9 })), watched(page()));
  assert.deepEqual(watched(page({}, { model: MODEL })), []);
  assert.equal(learned(page({}, { model: MODEL })), undefined);
});

test("a head takes shape where the part of its weight that lies as in the end rises most", () => {
  const [even, near, last] = [[0.5, 0.5], [0.25, 0.75], [0.1, 0.9]].map(([a, b]) => ({ rows: 2, cols: 2, values: Float32Array.of(1, NaN, a, b) }));
  const found = formation([even, near, last]);
  // Of the second row Σ min: 0.1 + 0.5, then 0.1 + 0.75, then all; the first row is 1 throughout.
  assert.equal(found?.place, 1);
  assert.ok(Math.abs((found?.before ?? 0) - 0.8) < 1e-6);
  assert.ok(Math.abs((found?.after ?? 0) - 0.925) < 1e-6);
  assert.equal(formation([last]), null);
});

test("a link means the nearest snapshot there is, and without one the last", () => {
  assert.deepEqual([null, 0, 19, 21, 399, 9999].map((step) => placeOf(found(), step)), [2, 0, 0, 1, 2, 2]);
});

test("what a snapshot saw is a trace that the page reads like any other", () => {
  const all = found();
  const seen = traceAt(all, 1);
  assert.equal(traceAt(all, 1), seen);
  assert.deepEqual(Object.keys(seen.tensors).sort(), ["decoder.0.self.mask", "decoder.0.self.weights"]);
  const own = trace();
  const state = { block: /** @type {const} */ ("decoder"), layer: 0, head: 0 };
  assert.deepEqual(attention(MODEL, traceAt(all, 2), state), attention(MODEL, own, state));
  assert.deepEqual([...(attention(MODEL, seen, state)?.values ?? [])], [0.5, NaN, 0.5, 0.5]);
  assert.deepEqual(axes(MODEL, seen, "decoder"), axes(MODEL, own, "decoder"));
});

test("what is taken away is the fixed sentence at its step, not the one that was typed", () => {
  const view = /** @type {any} */ ({ id: "training", frame: { rail: "none" }, needs: () => [], asks: watched, subject });
  const shown = subject(page({ snapshot: 40 }));
  assert.equal(shown?.source, "the the");
  assert.equal(shown?.says((text, values) => text.replace("{step}", String(values?.step))), "step 40");
  assert.equal(
    nameOf(page({ snapshot: 40 }), view, "png"),
    "headlight-en-zh-training-decoder-layer-1-head-1-example-2-step-40.png",
  );
  const look = { theme: /** @type {const} */ ("light"), options: {} };
  assert.deepEqual(fileRequest(page(), view, "npz", look), {
    path: "/api/models/en-zh/learning/1",
    accept: "application/x-npz",
  });
  const asks = watched(page());
  assert.deepEqual(additionalContents(page(), view), { select: [], asks });
  const share = /** @type {any} */ ({ id: "abc", asks, model: MODEL, state: {} });
  assert.equal(fileRequest(page({}, { share }), view, "json", look).path, "/api/shares/abc/asks/0");
  assert.equal(subject(page({}, { answers: {} })), null);
});

test("steps are counted in thousands", () => {
  assert.deepEqual([0, 400, 12800].map(counted), ["0", "400", "12,800"]);
});

test("a snapshot is as good as its BLEU, or its share of right answers, in percent", () => {
  assert.deepEqual(scores(found().snapshots), [{ direction: "en-zh", values: [0, 4, 40] }]);
  const tasks = STEPS.map((step) => ({ step, loss: null, bleu: {}, accuracy: step / 400 }));
  assert.deepEqual(scores(tasks), [{ direction: null, values: [0, 10, 100] }]);
});
