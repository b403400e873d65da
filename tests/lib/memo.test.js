import assert from "node:assert/strict";
import { test } from "node:test";

import { memo, together } from "../../static/js/lib/memo.js";

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

test("of a source only the last ones asked for are kept, where there is a limit", () => {
  let worked = 0;
  const source = {};
  const ask = (/** @type {string} */ name) => memo(source, name, () => ++worked, 2);
  ask("a");
  ask("b");
  ask("a");
  ask("c");
  assert.deepEqual([ask("a"), worked], [1, 3], "asked for again before b");
  assert.equal(ask("b"), 4);
});

test("several objects stand together for what is worked out of all of them", () => {
  const [a, b, c] = [{}, {}, {}];
  assert.equal(together(a, b), together(a, b));
  assert.notEqual(together(a, b), together(b, a));
  assert.notEqual(together(a, b), together(a, c));
  assert.equal(together(a, b, c), together(a, b, c));
  assert.notEqual(together(a, b, c), together(a, b, a));
  assert.notEqual(together(a, a), a);
});
