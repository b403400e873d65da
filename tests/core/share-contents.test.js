import assert from "node:assert/strict";
import { test } from "node:test";

import { additionalContents, isDeparted, answerFromShare, parametersFromShare, isFixed, isMissingFromShare } from "../../static/js/core/store/share-contents.js";
import { answer, encoding, keyOf, parameters, runQuestion } from "../../static/js/core/store/view-requests.js";
import { frozen } from "../../static/js/core/store/data-sources.js";
import { bindSession } from "../../static/js/core/store/trace-requests.js";
import { createStore } from "../../static/js/core/store/store.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { MODEL, trace } from "../js/trace.js";

/** @type {import("../../static/js/core/store/link.js").State} */
const LINK = { ...DEFAULTS, source: "the the", block: "cross" };
const page = () => ({ ...createStore(LINK).get(), model: MODEL });
const other = () => runQuestion(page(), { source: "a", select: ["*.weights"] });
const gain = () => parameters(page(), ["encoder.0.self.gain"]);

test("a share asks for what it does not hold anyway", () => {
  const own = runQuestion(page(), { select: ["encoder.*.self.weights", "decoder.probabilities"] });
  const deeper = runQuestion(page(), { select: ["encoder.0.norm"] });
  const view = {
    needs: () => [
      "encoder.0.self.q",
      "encoder.0.self.scores",
      "encoder.0.self.scores",
      "encoder.0.self.weights:uint8",
      "summary of encoder.0.self",
    ],
    asks: () => [own, deeper, other(), other(), gain(), encoding({ length: 2, d_model: 4 })],
  };
  assert.deepEqual(additionalContents(page(), view), {
    select: ["encoder.0.self.scores"],
    asks: [deeper, other(), gain()],
  });
});

test("a share lacks what a view needs and it does not hold, when nobody can be asked", () => {
  const share = /** @type {any} */ ({ trace: trace() });
  const opened = { ...page(), share, trace: share.trace, live: false };
  const has = { needs: () => ["decoder.0.cross.weights"] };
  const lacks = { needs: () => ["decoder.0.cross.weights", "inside.lens.candidates"] };
  assert.equal(isMissingFromShare(opened, has), false);
  assert.equal(isMissingFromShare(opened, lacks), true);
  assert.equal(isMissingFromShare(opened, { needs: () => ["decoder.0.cross.weights:uint8"] }), false, "it is there whole");
  assert.equal(isMissingFromShare(opened, { needs: () => ["summary of nothing"] }), true);
  assert.equal(isMissingFromShare({ ...opened, live: true }, lacks), false, "the model is still there");
  assert.equal(isMissingFromShare({ ...opened, share: null }, lacks), false);
});

const pictures = () => runQuestion(page(), { select: ["decoder.*.cross.weights"] });

test("questions about a share's own run are answered out of its trace", () => {
  /** @type {any} */
  const share = { trace: trace(), model: MODEL, state: { source: "the the", block: "cross" } };
  const opened = { ...page(), share };
  const found = answerFromShare(opened, pictures());
  assert.ok(found?.tensors["decoder.0.cross.weights"]);
  assert.ok(!found?.tensors["encoder.0.self.weights"]);
  assert.equal(answerFromShare(opened, other()), null);
  assert.equal(answerFromShare(opened, gain()), null);
  assert.equal(answerFromShare(page(), pictures()), null);
  const departed = { ...opened, link: { ...LINK, source: "a" } };
  const its = runQuestion(departed, { select: ["decoder.*.cross.weights"] });
  assert.equal(answerFromShare(departed, its), null, "what the reader has changed is another run");
});

test("parameters are answered out of those that were frozen together", () => {
  const tensor = { dims: [], shape: [1], data: [1] };
  const all = parameters(page(), ["*.scoring.*"]);
  const names = ["encoder.0.self.scoring.w", "encoder.0.self.scoring.b"];
  /** @type {any} */
  const opened = {
    ...page(),
    share: { trace: trace(), asks: [other(), all] },
    answers: { [keyOf(all)]: Object.fromEntries(names.map((name) => [name, tensor])) },
  };
  const one = parameters(page(), names.slice(1));
  assert.deepEqual(parametersFromShare(opened, one), { [names[1]]: tensor });
  assert.equal(parametersFromShare(opened, parameters(page(), [...names, "encoder.positions.pi"])), null);
  assert.equal(parametersFromShare({ ...opened, answers: {} }, one), null, "it could not be read");
  assert.equal(parametersFromShare({ ...opened, share: null }, one), null);
  assert.equal(parametersFromShare(opened, { parameters: { model: "another", select: names } }), null);
  assert.equal(parametersFromShare(opened, other()), null);
});

test("a share without its model answers what it holds, and says so of the rest", async () => {
  // As the server says it: the same members in another order.
  const asked = [{ trace: { select: ["*.weights"], source: "a" } }, gain()];
  /** @type {any} */
  const api = {
    models: async () => [{ ...MODEL, digest: "another" }],
    readShare: async () => ({ id: "1", state: { source: "the the", block: "cross" }, model: MODEL, asks: asked, trace: trace() }),
    readAnswer: async (/** @type {any} */ _, /** @type {number} */ n) => `answer ${n}`,
    answer: async () => assert.fail("nothing may be asked"),
    trace: async () => assert.fail("nothing may be run"),
  };
  const store = createStore(LINK);
  const late = runQuestion(page(), { source: "b", select: ["*.weights"] });
  const wishes = { needs: () => ["encoder.0.norm"], asks: () => [other(), gain(), late, pictures()] };
  await bindSession(store, frozen(api, { id: "1", initial: LINK, options: {} }), wishes).run();
  await new Promise((resolve) => setTimeout(resolve));
  const says = store.get();
  assert.equal(keyOf(asked[0]), keyOf(other()));
  assert.deepEqual([answer(says, other()), answer(says, gain())], ["answer 0", "answer 1"]);
  assert.equal(/** @type {any} */ (answer(says, late)).kind, "frozen");
  assert.ok("tensors" in /** @type {any} */ (answer(says, pictures())));
  assert.deepEqual([says.status, says.problem], ["ready", null], "that a tensor is not in it is said above the view");
});

const OFF = [{ at: "decoder.0.cross", head: 0, do: "zero" }];

test("a share of a changed model holds the model as trained as well, and is the same whichever is shown", () => {
  const changed = { ...page(), link: { ...LINK, interventions: OFF } };
  const view = { needs: () => ["encoder.0.norm", "decoder.0.cross.weights"] };
  const held = additionalContents(changed, view);
  assert.deepEqual(held.select, ["encoder.0.norm"]);
  assert.deepEqual(held.asks, [runQuestion(page(), { select: ["*.weights", "*.mask", "*.q", "*.k", "*.v", "encoder.0.norm"] })]);
  const trained = { ...changed, link: { ...changed.link, options: { as: "trained" } } };
  assert.deepEqual(additionalContents(trained, view), held);
  assert.deepEqual(additionalContents(page(), view).asks, []);
});

test("a share is changed once something else is asked of its model, and not when it is looked at elsewhere", () => {
  const share = /** @type {any} */ ({ model: MODEL, state: { source: "the the", interventions: OFF } });
  const of = (/** @type {object} */ link) => isDeparted({ ...page(), share, link: { ...LINK, interventions: [...OFF], ...link } });
  assert.deepEqual([of({}), of({ head: 1, view: "lines" }), of({ options: { as: "trained" } })], [false, false, false]);
  assert.deepEqual([of({ interventions: null }), of({ source: "a" }), of({ pad_to: 9 })], [true, true, true]);
  assert.equal(isDeparted(page()), false);
  assert.deepEqual([isFixed({ share, live: false }), isFixed({ share, live: true }), isFixed({ share: null, live: false })], [true, false, false]);
});

test("a share holds twenty questions at most, and one of one text is of its own run", () => {
  const many = Array.from({ length: 22 }, (_, n) => runQuestion(page(), { source: `${n}`, select: ["*.weights"] }));
  assert.equal(additionalContents(page(), { needs: () => [], asks: () => many }).asks.length, 20);
  const one = { ...MODEL, texts: ["text"] };
  const share = /** @type {any} */ ({ model: one, trace: trace(), state: { source: "the the" } });
  const opened = { ...page(), model: one, share, link: { ...LINK } };
  assert.equal(isDeparted(opened), false);
  assert.equal(answerFromShare(opened, runQuestion(opened, { select: ["decoder.*.cross.weights"] }))?.id, share.trace.id);
});
