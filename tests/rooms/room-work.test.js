import assert from "node:assert/strict";
import { test } from "node:test";

import { labOf, labPicture } from "../../static/js/room/work-tiles.js";
import { createWorkSender } from "../../static/js/room/member-works.js";

const LAB = "/lab?tokens=a%0Ab&x=1_0*0_1&w_q=1_0*0_1&w_k=1_0*0_2&w_v=1_2*3_4&scoring=dot";

test("a link to attention by hand has a small figure; of another page and with a wrong cell it has none", () => {
  assert.deepEqual(labOf(LAB)?.tokens, ["a", "b"]);
  assert.equal(labOf("/?source=Hi"), null);
  assert.equal(labOf("/lab"), null);
  assert.equal(labOf(LAB.replace("w_v=1_2", "w_v=x_2")), null);
});

test("its rows are queries, in either convention, and of several heads the first", () => {
  const weights = [[0.25, 0.75], [1, 0], [0.5, 0.5]];
  const drawn = labPicture({ steps: { weights }, dims: { weights: ["query", "key"] } });
  assert.deepEqual([drawn?.rows, drawn?.cols, [...(drawn?.values ?? [])]], [3, 2, weights.flat()]);
  const turned = labPicture({ steps: { weights: [[0.25, 1, 0.5], [0.75, 0, 0.5]] }, dims: { weights: ["key", "query"] } });
  assert.deepEqual(turned, drawn);
  assert.deepEqual(labPicture({ steps: { weights: [weights, [[0], [0], [0]]] }, dims: { weights: ["head", "query", "key"] } }), drawn);
  assert.equal(labPicture({ steps: {}, dims: {} }), null);
});

test("after a reload, a member's page knows that the shown work is its own", async () => {
  const stored = new Map();
  const storage = { getItem: (/** @type {string} */ key) => stored.get(key) ?? null, setItem: (/** @type {string} */ key, /** @type {string} */ value) => void stored.set(key, value), removeItem: (/** @type {string} */ key) => void stored.delete(key) };
  globalThis.window = /** @type {any} */ ({ sessionStorage: storage, localStorage: storage, setTimeout, clearTimeout });
  const api = { sendWork: async () => ({ id: "work1" }) };
  const sender = () => createWorkSender(/** @type {any} */ (api), "abc234", "member-1", { link: () => "/?source=Hi", explores: () => true });
  const state = (/** @type {string} */ id) => /** @type {any} */ ({ wall: "open", picked: { id, words: "" } });
  const before = sender();
  assert.equal(before.isPicked(state("work1")), false);
  before.hear(state("other"));
  await new Promise((resolve) => setTimeout(resolve, 1_700));
  const reloaded = sender();
  assert.equal(reloaded.isPicked(state("work1")), true);
  assert.equal(reloaded.isPicked(state("work2")), false);
  assert.equal(reloaded.isPicked(/** @type {any} */ ({ wall: "open", picked: null })), false);
});
