import assert from "node:assert/strict";
import { test } from "node:test";
import { fileRequest, nameOf, tensorsBehind } from "../../static/js/workspace/export-menu.js";
import { choiceOption } from "../../static/js/core/store/link-options.js";
import { encoding, runQuestion } from "../../static/js/core/store/view-requests.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { sized } from "../js/trace.js";

/** @type {any} */
const page = {
  link: { ...DEFAULTS, source: "Hi & bye", block: "cross", layer: 1, head: 2, options: { scale: "log" } },
  model: sized({ encoder: 2, decoder: 2 }),
  share: null,
};
/** @type {any} */
const view = { id: "attention", frame: { rail: "both" }, needs: () => ["decoder.1.cross.weights"] };
const options = { scale: choiceOption("linear", "log") };

test("what is behind a view is what it shows of the run, whole", () => {
  assert.deepEqual(tensorsBehind(page, view), ["decoder.1.cross.weights"]);
  const small = { ...view, needs: () => ["a.weights:uint8", "a.weights", "a.mask", "summary of a"] };
  assert.deepEqual(tensorsBehind(page, small), ["a.weights", "a.mask"]);
  const own = { ...view, needs: () => ["a"], asks: () => [runQuestion(page, { select: ["a", "b"] })] };
  assert.deepEqual(tensorsBehind(page, own), ["a", "b"]);
  const other = { ...view, needs: () => [], asks: () => [runQuestion(page, { source: "No", select: ["*.q"] }), encoding({ length: 3, d_model: 8 })] };
  assert.deepEqual(tensorsBehind(page, other), ["target.position"], "another run is not this one");
});

test("a file's name says model, view, layer and head, as far as the view has them", () => {
  assert.equal(nameOf(page, view, "csv"), "headlight-en-zh-attention-cross-layer-2-head-3.csv");
  const layer = { ...view, id: "lines", frame: { rail: "layer" } };
  assert.equal(nameOf(page, layer, "svg"), "headlight-en-zh-lines-cross-layer-2.svg");
  const none = { ...view, id: "flow", frame: { rail: "none" } };
  assert.equal(nameOf(page, none, "png"), "headlight-en-zh-flow-cross.png");
});

test("the server is asked for the numbers of the view, in the form of the file", () => {
  const { path, accept, body } = fileRequest(page, view, "npz", { theme: "dark", options });
  assert.deepEqual([path, accept], ["/api/trace", "application/x-npz"]);
  assert.deepEqual(body, { source: "Hi & bye", select: ["decoder.1.cross.weights"] });
});

test("a handout is asked for with all that the address bar holds", () => {
  const { path, body } = fileRequest(page, view, "html", { theme: "dark", options });
  assert.equal(path, "/api/handout?theme=dark");
  const { state } = /** @type {any} */ (body);
  assert.equal(state.scale, "log");
  assert.equal(state.layer, 1);
  assert.ok(!("options" in state) && !("target" in state));
});

test("of a share it is what was frozen", () => {
  const shared = { ...page, share: { id: "abc", model: page.model, state: { ...page.link, options: undefined } } };
  assert.equal(fileRequest(shared, view, "json", { theme: "light", options }).path, "/api/shares/abc");
  assert.equal(
    fileRequest(shared, view, "html", { theme: "light", options }).path,
    "/s/abc/handout.html?lang=en&theme=light",
  );
  const departed = { ...shared, link: { ...page.link, source: "another" } };
  assert.equal(fileRequest(departed, view, "json", { theme: "light", options }).path, "/api/trace", "what the reader has changed was not");
  assert.equal(fileRequest(departed, view, "html", { theme: "light", options }).path, "/api/handout?theme=light");
});
