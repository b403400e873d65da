import assert from "node:assert/strict";
import { test } from "node:test";

import { memo } from "../../static/js/lib/memo.js";

test("work is done once for each thing and name", () => {
  const [a, b] = [{}, {}];
  let done = 0;
  const work = () => ({ n: ++done });
  assert.equal(memo(a, "x", work), memo(a, "x", work));
  assert.equal(done, 1);
  assert.notEqual(memo(a, "y", work), memo(b, "x", work));
  assert.equal(done, 3);
});

test("nothing found is remembered too", () => {
  const source = {};
  let done = 0;
  const work = () => (done++, undefined);
  memo(source, "x", work);
  memo(source, "x", work);
  assert.equal(done, 1);
});
