import assert from "node:assert/strict";
import { test } from "node:test";
import { createApi } from "../../static/js/data/api.js";
import { Problem } from "../../static/js/data/problem.js";

const encoder = new TextEncoder();

/** @param {(string | Uint8Array)[]} pieces @param {{cancelled?: boolean}} [watch] */
function served(pieces, watch = {}) {
  const left = pieces.map((piece) => (typeof piece === "string" ? encoder.encode(piece) : piece));
  const stream = new ReadableStream({
    pull(controller) {
      const next = left.shift();
      next ? controller.enqueue(next) : controller.close();
    },
    cancel: () => void (watch.cancelled = true),
  });
  return createApi(/** @type {any} */ (async () => new Response(stream)));
}

/** @param {ReturnType<typeof served>} api */
async function all(api) {
  const found = [];
  for await (const line of api.lines("/api/any", {})) found.push(line);
  return found;
}

test("lines come out whole, wherever the pieces are cut", async () => {
  const bytes = encoder.encode('{"text": "猫"}\n{"n": 2}\n');
  for (let cut = 1; cut < bytes.length; cut++)
    assert.deepEqual(await all(served([bytes.slice(0, cut), bytes.slice(cut)])), [
      { text: "猫" },
      { n: 2 },
    ]);
});

test("what is said is there before the rest has come", async () => {
  const api = served(['{"n": 1}\n', '{"n": 2}\n']);
  const lines = api.lines("/api/any", {});
  assert.deepEqual((await lines.next()).value, { n: 1 });
});

test("leaving the loop ends the stream", async () => {
  const watch = { cancelled: false };
  for await (const _ of served(['{"n": 1}\n', '{"n": 2}\n', '{"n": 3}\n'], watch).lines("/", {})) break;
  assert.equal(watch.cancelled, true);
});

test("a stream that failed, or was cut short, is a problem", async () => {
  const failed = served(['{"n": 1}\n{"error": {"type": "urn:headlight:busy", "detail": "full"}}\n']);
  await assert.rejects(all(failed), (error) => error instanceof Problem && error.kind === "busy");
  await assert.rejects(all(served(['{"n": 1}\n{"n"'])), (error) => error instanceof Problem && error.kind === "offline");
});
