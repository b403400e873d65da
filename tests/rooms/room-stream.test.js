import assert from "node:assert/strict";
import { test } from "node:test";

import { Problem } from "../../static/js/core/wire/reply.js";
import { createRoomStream } from "../../static/js/room/room-stream.js";

/** @import { RoomState } from "../../static/js/core/wire/requests-by-subject.js" */

/** @template T @typedef {{promise: Promise<T>, resolve: (value: T) => void, reject: (reason: unknown) => void}} Reply */

const READER = { member: "abcdefgh", exploring: false };

/** @param {number} seq @returns {RoomState} */
const state = (seq, over = false) => ({ seq, link: `/?layer=${seq}`, pointer: null, handed: false, over });

const flush = async () => {
  for (let i = 0; i < 40; i++) await null;
};

/**
 * A reply that is given by hand, and that is rejected when its signal is aborted.
 * @template T
 * @param {AbortSignal} signal
 * @returns {Reply<T>}
 */
function reply(signal) {
  /** @type {(value: T) => void} */
  let resolve = () => {};
  /** @type {(reason: unknown) => void} */
  let reject = () => {};
  const promise = /** @type {Promise<T>} */ (new Promise((...ways) => ([resolve, reject] = ways)));
  signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  return { promise, resolve, reject };
}

/**
 * A room whose server is played by hand, and a clock that is moved by hand.
 * @param {import("node:test").TestContext} t
 */
function room(t) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  t.mock.method(Math, "random", () => 0.5); // waits are exactly as long as they are named
  /** @type {{signal: AbortSignal, reader: object, next: Reply<RoomState | null | "end">}[]} */
  const streams = [];
  /** @type {{signal: AbortSignal, since: number | undefined, next: Reply<RoomState>}[]} */
  const polls = [];
  /** @type {{heard: number[], failed: string[], ended: number}} */
  const said = { heard: [], failed: [], ended: 0 };
  /** How many streams there had been at each reconnection. @type {number[]} */
  const regained = [];
  let present = READER;
  const api = {
    /** @param {string} code @param {typeof READER} reader @param {AbortSignal} signal */
    async *roomEvents(code, reader, signal) {
      assert.equal(code, "abc234");
      /** @type {typeof streams[number]} */
      const stream = { signal, reader, next: reply(signal) };
      streams.push(stream);
      for (;;) {
        const event = await stream.next.promise;
        if (event === "end") return;
        stream.next = reply(signal);
        yield event;
      }
    },
    /** @param {string} _ @param {typeof READER} reader @param {{since?: number, signal: AbortSignal}} of */
    roomState(_, reader, { since, signal }) {
      assert.equal(reader, present);
      /** @type {Reply<RoomState>} */
      const next = reply(signal);
      polls.push({ signal, since, next });
      return next.promise;
    },
  };
  const stream = createRoomStream(/** @type {any} */ (api), "abc234", () => present, {
    hear: ({ seq }) => said.heard.push(seq),
    failed: ({ kind }) => said.failed.push(kind),
    reconnected: () => regained.push(streams.length),
    ended: () => said.ended++,
  });
  return {
    stream,
    regained,
    streams,
    polls,
    said,
    read: (/** @type {typeof READER} */ by) => (present = by),
    /** @param {number} milliseconds */
    async after(milliseconds) {
      await flush();
      t.mock.timers.tick(milliseconds);
      await flush();
    },
    /** @param {RoomState | null | "end"} event */
    async event(event) {
      await flush();
      streams.at(-1)?.next.resolve(event);
      await flush();
    },
  };
}

test("no state older than one that was seen is heard, nor the same one twice", async (t) => {
  const { stream, said, event } = room(t);
  stream.start();
  for (const seq of [3, 2, 3, 5]) await event(state(seq));
  assert.deepEqual(said, { heard: [3, 5], failed: [], ended: 0 });
  stream.stop();
});

test("a page knows that it is connected again, although nothing has changed meanwhile", async (t) => {
  const { stream, streams, polls, said, regained, after, event } = room(t);
  stream.start();
  await event(state(4));
  streams[0].next.reject(new Problem("offline"));
  await after(500);
  assert.deepEqual([said.failed, regained], [["offline"], []]);
  await event(state(4));
  await event(state(4));
  assert.deepEqual([said.heard, regained], [[4], [2]]);
  await event("end");
  await after(500);
  await after(3_000); // nothing is streamed any more
  await after(1_000);
  assert.equal(polls.at(-1)?.since, 4);
  polls.at(-1)?.next.reject(new Problem("offline"));
  await after(8_000);
  assert.equal(polls.at(-1)?.since, undefined); // does not wait for a change
  polls.at(-1)?.next.resolve(state(4));
  await after(0);
  assert.deepEqual([said.heard, regained.length], [[4], 2]);
  stream.stop();
});

test("a stream without a state for 3 s is given up for requests, each after the last state", async (t) => {
  const { stream, streams, polls, said, after, event } = room(t);
  stream.start();
  await after(2_000);
  await event(null); // a comment comes through, but no state: the time starts again
  await after(2_999);
  assert.equal(streams[0].signal.aborted, false);
  await after(1);
  assert.equal(streams[0].signal.aborted, true);
  await after(500);
  assert.deepEqual([streams.length, polls.map(({ since }) => since)], [1, [0]]);
  polls[0].next.resolve(state(4));
  await after(250);
  polls[1].next.resolve(state(4)); // nothing new: it waits longer
  await after(499);
  assert.deepEqual(polls.map(({ since }) => since), [0, 4]);
  await after(1);
  assert.deepEqual([streams.length, polls.map(({ since }) => since)], [1, [0, 4, 4]]);
  assert.deepEqual(said, { heard: [4], failed: [], ended: 0 });
  stream.stop();
});

test("a stream that has been silent for 40 s is opened anew, and stays a stream", async (t) => {
  const { stream, streams, polls, after, event } = room(t);
  stream.start();
  await event(state(1));
  await after(39_999);
  await event(null); // a sign of life
  await after(39_999);
  assert.equal(streams[0].signal.aborted, false);
  await after(1);
  assert.equal(streams[0].signal.aborted, true);
  await after(500);
  assert.deepEqual([streams.length, polls.length], [2, 0]);
  stream.stop();
});

test("a stream that ends is opened again after half a second", async (t) => {
  const { stream, streams, polls, said, after, event } = room(t);
  stream.start();
  await event(state(1));
  await event("end");
  await after(499);
  assert.equal(streams.length, 1);
  await after(1);
  assert.deepEqual([streams.length, polls.length, said.failed], [2, 0, []]);
  stream.stop();
});

test("a stream that ends without a state is given up for requests", async (t) => {
  const { stream, streams, polls, said, after, event } = room(t);
  stream.start();
  await event(null);
  await event("end");
  await after(500);
  assert.deepEqual([streams.length, polls.map(({ since }) => since)], [1, [0]]);
  for (const wait of [1_000, 2_000, 4_000, 8_000, 8_000]) {
    polls.at(-1)?.next.reject(new Problem("offline"));
    await after(wait - 1);
    const before = polls.length;
    await after(1);
    assert.deepEqual([streams.length, polls.length], [1, before + 1], `after ${wait} ms`);
  }
  polls.at(-1)?.next.resolve(state(2));
  await flush();
  assert.deepEqual(said.heard, [2]);
  stream.stop();
});

test("after a failure it waits twice as long each time, at most 8 s", async (t) => {
  const { stream, streams, said, after } = room(t);
  stream.start();
  for (const wait of [500, 1_000, 2_000, 4_000, 8_000, 8_000]) {
    await flush();
    streams.at(-1)?.next.reject(new Problem("offline"));
    await after(wait - 1);
    const before = streams.length;
    await after(1);
    assert.equal(streams.length, before + 1, `after ${wait} ms`);
  }
  assert.deepEqual(said.failed, Array(6).fill("offline"));
  stream.stop();
});

test("stopped, it closes its connection and makes no other until it is started", async (t) => {
  const { stream, streams, polls, said, after, event, read } = room(t);
  stream.start();
  await event(state(6));
  stream.stop();
  assert.equal(streams[0].signal.aborted, true);
  await after(60_000);
  assert.deepEqual([streams.length, polls.length, said.failed], [1, 0, []]);
  read({ member: "abcdefgh", exploring: true });
  stream.start();
  await event(state(5));
  await event(state(7));
  assert.deepEqual(streams.map(({ reader }) => reader), [READER, { ...READER, exploring: true }]);
  assert.deepEqual(said.heard, [6, 7], "what it saw before it was stopped counts");
  stream.stop();
});

test("started again, it has one connection", async (t) => {
  const { stream, streams, after, event } = room(t);
  stream.start();
  await event(state(1));
  stream.start();
  await after(30_000);
  assert.deepEqual(streams.map(({ signal }) => signal.aborted), [true, true]);
  assert.equal(streams.length, 2);
  stream.stop();
});

test("when the room is over, the last state is heard and nothing else is asked", async (t) => {
  const { stream, streams, polls, said, after, event } = room(t);
  stream.start();
  await event(state(8, true));
  assert.deepEqual(said, { heard: [8], failed: [], ended: 1 });
  await after(60_000);
  assert.deepEqual([streams[0].signal.aborted, streams.length, polls.length], [true, 1, 0]);
});

for (const kind of ["unknown-room", "room-full", "room-closed"])
  test(`it does not try again after ${kind}`, async (t) => {
    const { stream, streams, said, after } = room(t);
    stream.start();
    await flush();
    streams[0].next.reject(new Problem(kind));
    await after(60_000);
    assert.deepEqual([streams.length, said], [1, { heard: [], failed: [kind], ended: 1 }]);
  });
