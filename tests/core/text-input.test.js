import assert from "node:assert/strict";
import { test } from "node:test";

import { bindTyping } from "../../static/js/core/figure/controls.js";

/**
 * A box as far as one types into it, and what it said.
 * @param {import("node:test").TestContext} t
 * @param {Partial<import("../../static/js/core/figure/controls.js").Typing>} [typing]
 */
function typed(t, typing = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const box = /** @type {any} */ (Object.assign(new EventTarget(), { value: "" }));
  /** @type {string[]} */
  const said = [];
  const bound = bindTyping(box, { submit: () => said.push(box.value), ...typing });
  /** @param {string} name @param {object} [more] */
  const fire = (name, more = {}) => {
    const event = Object.assign(new Event(name, { cancelable: true }), more);
    box.dispatchEvent(event);
    return event;
  };
  const type = (/** @type {string} */ text) => {
    box.value += text;
    fire("input");
  };
  const enter = (more = {}) => fire("keydown", { key: "Enter", isComposing: false, keyCode: 13, ...more });
  return { ...bound, said, fire, type, enter, rest: (ms = 250) => t.mock.timers.tick(ms) };
}

test("a sentence is said when the hands rest, once", (t) => {
  const { said, type, rest } = typed(t);
  type("the ");
  rest(249);
  type("cat");
  rest(249);
  assert.deepEqual(said, []);
  rest(1);
  rest();
  assert.deepEqual(said, ["the cat"]);
});

test("Enter says it at once and breaks no line; other keys do not", (t) => {
  const { said, type, enter, rest } = typed(t);
  type("cat");
  assert.equal(enter({ key: "a" }).defaultPrevented, false);
  assert.deepEqual(said, []);
  assert.equal(enter().defaultPrevented, true);
  rest();
  assert.deepEqual(said, ["cat"]);
});

test("nothing is said while an input method composes, and its Enter only chooses a word", (t) => {
  const { said, fire, type, enter, rest } = typed(t);
  type("a");
  fire("compositionstart");
  rest();
  type("ni");
  rest();
  assert.equal(enter({ isComposing: true }).defaultPrevented, false);
  assert.equal(enter().defaultPrevented, false, "a browser that does not say that it composes");
  assert.deepEqual(said, []);
  fire("compositionend");
  assert.equal(enter({ keyCode: 229 }).defaultPrevented, false, "Safari");
  assert.deepEqual(said, []);
  rest();
  assert.deepEqual(said, ["ani"]);
});

test("every key is heard of, composing or not", (t) => {
  let keys = 0;
  const { fire, type } = typed(t, { onInput: () => keys++ });
  type("a");
  fire("compositionstart");
  type("b");
  assert.equal(keys, 2);
});

test("Enter can mean more than saying it", (t) => {
  let runs = 0;
  const { said, type, enter, rest } = typed(t, { onEnter: () => runs++ });
  type("a");
  enter();
  rest();
  assert.deepEqual([said, runs], [[], 1]);
});

test("some boxes wait until they are left, or for Enter, which is not said twice", (t) => {
  const { said, fire, type, enter, rest } = typed(t, { submitOn: "leave" });
  type("a");
  rest();
  assert.deepEqual(said, []);
  enter();
  fire("change");
  assert.deepEqual(said, ["a"]);
  type("b");
  fire("change");
  assert.deepEqual(said, ["a", "ab"]);
});

test("some wait for Enter alone", (t) => {
  const { said, fire, type, enter, rest } = typed(t, { submitOn: "enter" });
  type("a");
  rest();
  fire("change");
  assert.deepEqual(said, []);
  enter();
  assert.deepEqual(said, ["a"]);
});

test("what is not said yet can be said, or forgotten", (t) => {
  const { said, type, now, cancel, rest } = typed(t);
  type("a");
  now();
  rest();
  assert.deepEqual(said, ["a"]);
  type("b");
  cancel();
  rest();
  assert.deepEqual(said, ["a"]);
});
