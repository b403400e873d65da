import assert from "node:assert/strict";
import { test } from "node:test";

import { gesture } from "../../static/js/core/figure/change-controls.js";

test("a gesture is one step of history, however far it goes", () => {
  const step = gesture();
  assert.deepEqual([step.next(), step.next(), step.next()], ["chosen", "moved", "moved"]);
  step.end();
  assert.equal(step.next(), "chosen");
});
