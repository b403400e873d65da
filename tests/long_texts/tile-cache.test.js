import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { createTileCache } from "../../static/js/long/map/tiles.js";
import { flush } from "../js/bound-session.js";

/** @param {number} [maxBytes] */
function cache(maxBytes) {
  /** @type {{body: any, signal: AbortSignal, reply: (found: any) => Promise<void>, fail: (error: any) => Promise<void>}[]} */
  const asked = [];
  let changes = 0;
  const tiles = createTileCache({
    maxBytes,
    changed: () => changes++,
    ask: (body, signal) => new Promise((resolve, reject) => {
      asked.push({ body, signal, reply: (found) => (resolve(found), flush()), fail: (error) => (reject(error), flush()) });
    }),
  });
  return { tiles, asked, changes: () => changes };
}
const wish = (/** @type {string} */ name) => ({ name, body: { name } });
const tile = (/** @type {number} */ cells) => ({ dims: [], over: {}, shape: [cells, 1], dtype: "float32", data: new Float32Array(cells) });

test("two are asked for at once, the most urgent first, each once", async () => {
  const { tiles, asked, changes } = cache();
  tiles.want(["a", "b", "c"].map(wish));
  tiles.want(["a", "b", "c"].map(wish));
  assert.deepEqual(asked.map(({ body }) => body.name), ["a", "b"]);
  assert.equal(tiles.waits(), true);
  await asked[0].reply(tile(1));
  assert.deepEqual(asked.map(({ body }) => body.name), ["a", "b", "c"]);
  await asked[1].reply(tile(1));
  await asked[2].reply(tile(1));
  assert.equal(tiles.waits(), false);
  assert.equal(changes(), 3);
  tiles.want(["a"].map(wish));
  assert.equal(asked.length, 3);
});

test("what goes out of sight is cancelled, and what was never asked for is not", async () => {
  const { tiles, asked, changes } = cache();
  tiles.want(["a", "b", "c", "d"].map(wish));
  tiles.want(["b", "e"].map(wish));
  assert.deepEqual(asked.map(({ body, signal }) => [body.name, signal.aborted]), [["a", true], ["b", false], ["e", false]]);
  await asked[0].reply(tile(1));
  assert.equal(tiles.get("a"), undefined);
  assert.equal(changes(), 0);
  tiles.stop();
  assert.ok(asked.every(({ signal }) => signal.aborted));
});

test("those that were used last are kept, and all that are wanted", async () => {
  const { tiles, asked } = cache(8);
  for (const name of ["a", "b"]) {
    tiles.want([wish(name)]);
    await asked[asked.length - 1].reply(tile(1));
  }
  assert.ok(tiles.get("a"));
  tiles.want([wish("c")]);
  await asked[2].reply(tile(1));
  assert.deepEqual(["a", "b", "c"].map((name) => Boolean(tiles.get(name))), [true, false, true]);
  tiles.want([wish("d")]);
  await asked[3].reply(tile(9));
  assert.deepEqual(["a", "c", "d"].map((name) => Boolean(tiles.get(name))), [false, false, true]);
});

test("what could not be had is told, not asked again by itself, and asked again when told to", async () => {
  const { tiles, asked } = cache();
  tiles.want([wish("a")]);
  await asked[0].fail(new Problem("offline"));
  assert.equal(tiles.problem()?.kind, "offline");
  assert.equal(tiles.waits(), false);
  tiles.want([wish("a")]);
  assert.equal(asked.length, 1);
  tiles.retry();
  assert.equal(tiles.problem(), null);
  await asked[1].reply(tile(1));
  assert.ok(tiles.get("a"));
});
