import assert from "node:assert/strict";
import { test } from "node:test";

import { once } from "../../static/js/once.js";

test("work is done once for each thing and name", () => {
  const [a, b] = [{}, {}];
  let done = 0;
  const work = () => ({ n: ++done });
  assert.equal(once(a, "x", work), once(a, "x", work));
  assert.equal(done, 1);
  assert.notEqual(once(a, "y", work), once(b, "x", work));
  assert.equal(done, 3);
});

test("nothing found is remembered too", () => {
  const source = {};
  let done = 0;
  const work = () => (done++, undefined);
  once(source, "x", work);
  once(source, "x", work);
  assert.equal(done, 1);
});
