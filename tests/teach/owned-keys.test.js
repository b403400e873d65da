import assert from "node:assert/strict";
import { test } from "node:test";

import { backup, ownedThings, restored } from "../../static/js/teach/owner-keys-backup.js";

const here = { collections: [{ id: "a", key: "k1", title: "Here" }], rooms: [{ code: "abc234", key: "k2", url: "http://host/room/abc234" }], assignments: [], studies: [], "kept-models": [] };
const there = { collections: [{ id: "a", key: "old", title: "There" }, { id: "b", key: "k3", title: "B" }], rooms: [], assignments: [{ id: "c", key: "k4", title: "C" }], studies: [{ id: "d", key: "k5", title: "D" }], "kept-models": [] };

test("a backup is opened in an empty browser as it was", () => {
  const empty = ownedThings(() => null);
  assert.deepEqual(restored(empty, backup(there)), { things: there, added: 4 });
});

test("what a browser has is not replaced", () => {
  const done = restored(here, backup(there));
  assert.equal(done?.added, 3);
  assert.deepEqual(done?.things.collections, [...here.collections, there.collections[1]]);
  assert.deepEqual(done?.things.rooms, here.rooms);
});

test("what is stored and damaged is not owned", () => {
  const stored = /** @type {Record<string, unknown>} */ ({ collections: [null, { id: "a" }, { id: 3, key: "k" }, { id: "a", key: "k" }], rooms: "x" });
  assert.deepEqual(ownedThings((name) => stored[name]), { collections: [{ id: "a", key: "k" }], assignments: [], studies: [], rooms: [], "kept-models": [] });
});

for (const text of ["", "{", "[]", "null", '{"format": "other"}'])
  test(`a file that is no backup is refused: ${text || "empty"}`, () => assert.equal(restored(here, text), null));
