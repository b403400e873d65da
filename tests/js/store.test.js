import assert from "node:assert/strict";
import { test } from "node:test";

import { createStore } from "../../static/js/state/store.js";
import { DEFAULTS } from "../../static/js/state/link.js";

test("a listener hears of each change once, with what was before", () => {
  const store = createStore({ ...DEFAULTS });
  /** @type {[number, number, string][]} */
  const heard = [];
  const stop = store.subscribe((page, previous, history) =>
    heard.push([previous.link.head, page.link.head, history]),
  );
  store.go({ head: 3 });
  store.go({ head: 3 });
  store.go({ head: 4 }, "push");
  stop();
  store.go({ head: 5 });
  assert.deepEqual(heard, [
    [0, 3, "replace"],
    [3, 4, "push"],
  ]);
});

test("hovering is told apart from the link, and only when it moves", () => {
  const store = createStore({ ...DEFAULTS });
  let changes = 0;
  let moves = 0;
  store.subscribe(() => changes++);
  store.watch(() => moves++);
  store.hover({ query: { side: "source", index: 1 }, key: null });
  store.hover({ query: { side: "source", index: 1 }, key: null });
  store.hover({ query: { side: "target", index: 1 }, key: null });
  store.hover(null);
  assert.deepEqual([changes, moves], [0, 3]);
});
