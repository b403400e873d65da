import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { gesture, paced } from "../../static/js/views/whatif/change-controls.js";

test("a gesture is one step of history, however far it goes", () => {
  const step = gesture();
  assert.deepEqual([step.next(), step.next(), step.next()], ["chosen", "moved", "moved"]);
  step.end();
  assert.equal(step.next(), "chosen");
});

test("a value goes at once, then not more often than the pace, and the last one always goes", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  /** @type {number[]} */
  const gone = [];
  const move = paced((/** @type {number} */ value) => gone.push(value));
  for (const value of [1, 2, 3]) move.later(value);
  assert.deepEqual(gone, [1]);
  mock.timers.tick(100);
  assert.deepEqual(gone, [1, 3]);
  move.later(4);
  move.flush();
  mock.timers.tick(100);
  assert.deepEqual(gone, [1, 3, 4], "let go of, it does not come twice");
  mock.timers.reset();
});
