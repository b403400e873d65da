import assert from "node:assert/strict";
import { test } from "node:test";

import { afterFrame, eachFrame, debounce, throttle, whenFree } from "../../static/js/lib/timing.js";

/** @param {import("node:test").TestContext} t */
function clock(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {number[]} */
  const done = [];
  return { done, task: (/** @type {number} */ n) => void done.push(n), tick: (/** @type {number} */ ms) => t.mock.timers.tick(ms) };
}

test("what settles is done once, when calls have stopped coming", (t) => {
  const { done, task, tick } = clock(t);
  const pace = debounce(task, 100);
  pace.later(1);
  tick(99);
  pace.later(2);
  tick(99);
  assert.deepEqual([done, pace.owes()], [[], true]);
  tick(1);
  assert.deepEqual([done, pace.owes()], [[2], false]);
  tick(500);
  pace.later(3);
  tick(100);
  assert.deepEqual(done, [2, 3]);
});

test("what is owed can be done at once or not at all, and is not done twice", (t) => {
  const { done, task, tick } = clock(t);
  const pace = debounce(task, 100);
  pace.now();
  pace.later(1);
  pace.now();
  tick(100);
  assert.deepEqual(done, [1]);
  pace.later(2);
  pace.cancel();
  tick(100);
  pace.now();
  assert.deepEqual([done, pace.owes()], [[1], false]);
  const often = throttle(task, 90);
  often.later(3);
  often.cancel();
  often.later(4);
  assert.deepEqual(done, [1, 3, 4], "what was called off keeps nobody waiting");
});

test("a value goes at once, then not more often than the pace, and the last one always goes", (t) => {
  const { done, task, tick } = clock(t);
  const pace = throttle(task, 90);
  for (const value of [1, 2, 3]) pace.later(value);
  assert.deepEqual(done, [1]);
  tick(90);
  assert.deepEqual(done, [1, 3]);
  pace.later(4);
  assert.deepEqual(done, [1, 3], "not so soon after the last");
  tick(90);
  assert.deepEqual(done, [1, 3, 4]);
  tick(90);
  pace.later(5);
  assert.deepEqual(done, [1, 3, 4, 5], "at once again after a rest");
  pace.later(6);
  pace.now();
  tick(500);
  assert.deepEqual(done, [1, 3, 4, 5, 6], "let go of, it does not come twice");
});

/** A window whose frames come by hand. @param {import("node:test").TestContext} t */
function fakeWindow(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {Map<number, () => void>} */
  const frames = new Map();
  let last = 0;
  /** @type {any} */
  const window = {
    requestAnimationFrame: (/** @type {() => void} */ task) => (frames.set(++last, task), last),
    cancelAnimationFrame: (/** @type {number} */ n) => frames.delete(n),
    setTimeout: (/** @type {() => void} */ task, /** @type {number} */ ms) => setTimeout(task, ms),
    clearTimeout: (/** @type {any} */ timer) => clearTimeout(timer),
  };
  const paint = () => {
    const due = [...frames.values()];
    frames.clear();
    due.forEach((task) => task());
  };
  return { window, paint, frames, tick: () => t.mock.timers.tick(1) };
}

test("a frame shows the last of what came before it", (t) => {
  const { window, paint, frames } = fakeWindow(t);
  /** @type {number[]} */
  const done = [];
  const pace = eachFrame((/** @type {number} */ n) => void done.push(n), window);
  pace.later(1);
  pace.later(2);
  assert.equal(frames.size, 1);
  paint();
  assert.deepEqual(done, [2]);
  pace.later(3);
  pace.cancel();
  assert.equal(frames.size, 0);
  paint();
  assert.deepEqual(done, [2]);
});

test("what waits for the screen comes after the frame, unless it is called off before", (t) => {
  const { window, paint, tick, frames } = fakeWindow(t);
  /** @type {number[]} */
  const done = [];
  const pace = afterFrame((/** @type {number} */ n) => void done.push(n), window);
  pace.later(1);
  paint();
  assert.deepEqual(done, []);
  tick();
  assert.deepEqual(done, [1]);
  for (const stage of [() => {}, paint]) {
    pace.later(2);
    stage();
    pace.cancel();
    assert.equal(frames.size, 0);
    paint();
    tick();
  }
  assert.deepEqual(done, [1]);
});

test("what can wait is done when the browser is free", (t) => {
  const { done, task, tick } = clock(t);
  const pace = whenFree(task);
  pace.later(1);
  pace.later(2);
  assert.deepEqual(done, []);
  tick(1);
  assert.deepEqual(done, [2]);
});
