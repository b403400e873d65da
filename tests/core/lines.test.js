import assert from "node:assert/strict";
import { test } from "node:test";
import { createApi } from "../../static/js/core/wire/api.js";
import { Problem } from "../../static/js/core/wire/reply.js";

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

test("an overview says how far it is, and comes in the last line", async () => {
  const document = JSON.stringify({ __metadata__: { trace: JSON.stringify({ id: "7", tokens: {}, tensors: {} }) } });
  const head = encoder.encode(document);
  const file = new Uint8Array(8 + head.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(head.length), true);
  file.set(head, 8);
  const end = JSON.stringify({ end: { file: btoa(String.fromCharCode(...file)) } });
  /** @type {unknown[]} */
  const told = [];
  const api = served(['{"progress": {"done": 1}}\n', `${end}\n`]);
  const trace = await api.overview({}, undefined, (progress) => told.push(progress));
  assert.deepEqual([trace.id, told], ["7", [{ done: 1 }]]);
  await assert.rejects(served(['{"progress": {"done": 1}}\n']).overview({}, undefined, () => {}), (error) => error instanceof Problem && error.kind === "offline");
});
