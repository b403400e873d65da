import assert from "node:assert/strict";
import { test } from "node:test";

import { firstReaching, isOver, newRun, plannedSteps, snapshotIndex, trainLosses, withEvent } from "../../static/js/train/live-run.js";
import { format, optionError, parse, requestOptions } from "../../static/js/train/options-form.js";
import { DEFAULTS } from "../../static/js/core/store/link.js";

/** @type {any} */
const INFO = { id: "r", options: { steps: 80 }, parent: null, learning_rate: 0.6 };
const snapshot = (/** @type {number} */ step, accuracy = 0) => ({ snapshot: { step, loss: 1, accuracy, seconds: step, written: ["a"] } });
const told = (/** @type {any[]} */ events) => events.map((event, n) => ({ n, ...event }));
const run = (/** @type {any[]} */ events, info = INFO) => told(events).reduce(withEvent, newRun(info));

test("a run is what its events say", () => {
  const now = run([
    { state: { state: "queued", why: null, place: 2, step: 0 } },
    { begun: { step: 0, model: { id: "live" }, probes: [{ source: "a", target: "a" }] } },
    { progress: { step: 2, loss: 5, rate: 0.001, seconds: 1 } },
    snapshot(2),
    { learning_rate: { factor: 0.1, step: 2 } },
    { state: { state: "finished", why: "steps", place: null, step: 2 } },
  ]);
  assert.deepEqual([now.state, now.why, now.step, now.factor, now.next], ["finished", "steps", 2, 0.1, 6]);
  assert.equal(isOver(now), true);
});

test("an event that was heard already, or comes too early, changes nothing", () => {
  const now = run([snapshot(0)]);
  assert.equal(withEvent(now, { n: 0, ...snapshot(0) }), now);
  assert.equal(withEvent(now, { n: 2, ...snapshot(4) }), now);
  assert.equal(withEvent(now, { alive: true }), now);
});

test("the steps of snapshots to come are known until it ends", () => {
  const now = run([{ state: { state: "running", why: null, place: null, step: 0 } }, snapshot(0), snapshot(2)]);
  assert.deepEqual(plannedSteps(now).slice(0, 4), [0, 2, 4, 6]);
  assert.equal(plannedSteps(now).at(-1), 80);
  assert.equal(plannedSteps(now).length, 41);
  assert.deepEqual(plannedSteps({ ...now, state: "stopped" }), [0, 2]);
  const fork = run([snapshot(7)], { ...INFO, parent: { id: "p", step: 7 } });
  assert.deepEqual(plannedSteps(fork).slice(0, 3), [7, 8, 10]);
});

test("training losses are means between snapshots", () => {
  const progress = (/** @type {number} */ step, /** @type {number | null} */ loss) => ({ progress: { step, loss, rate: 1, seconds: 0 } });
  const now = run([snapshot(0), progress(1, 6), progress(2, 4), snapshot(2), progress(3, null), progress(4, 3), snapshot(4)]);
  assert.deepEqual(trainLosses(now), [6, 5, 3]);
});

test("where the slider is, and when the task was learned", () => {
  const now = run([snapshot(0), snapshot(2, 1), snapshot(4, 0.5), snapshot(6, 0.99), snapshot(8, 1)]);
  assert.deepEqual([snapshotIndex(now, null), snapshotIndex(now, 5), snapshotIndex(now, 0), snapshotIndex(newRun(INFO), null)], [4, 2, 0, -1]);
  assert.equal(firstReaching(now, 0.99)?.step, 6);
  assert.equal(firstReaching(run([snapshot(0)]), 0.99), null);
});

test("the link says a run and a moment, or what was chosen", () => {
  const link = { ...DEFAULTS, view: "heads", block: "encoder", head: 1 };
  const query = format({ run: { id: "abc" }, step: 0, probe: 2, options: { heads: 4 }, link });
  const said = parse(query);
  assert.deepEqual([said.run, said.step, said.probe, said.options], ["abc", 0, 2, {}]);
  assert.deepEqual(said.figure, { view: "heads", block: "encoder", layer: 0, head: 1 });
  assert.deepEqual(parse(format({ run: null, step: null, probe: 0, options: { heads: 4, task: "sort" }, link })).options, { heads: "4", task: "sort" });
});

test("what is typed is checked before it is sent", () => {
  /** @type {any} */
  const offered = {
    tasks: { copy: { unit: "letters", shortest: 1, usual: 10, most: 16, example: [] } },
    ranges: { heads: { low: 1, high: 8 }, steps: { low: 10, high: 5000 }, dropout: { low: 0, high: 0.9 } },
  };
  const t = (/** @type {string} */ words, /** @type {any} */ values = {}) => `${words} ${JSON.stringify(values)}`;
  const typed = { task: "copy", d_model: "64", heads: "3", steps: "40", dropout: "0,5", longest: "17" };
  const wrong = (/** @type {string} */ name, fork = /** @type {any} */ (null)) => optionError(t, { typed, offered, fork }, name);
  assert.match(wrong("heads"), /64/);
  assert.match(wrong("dropout"), /0\.9/);
  assert.match(wrong("longest"), /16/);
  assert.equal(wrong("steps"), "");
  assert.match(wrong("steps", { step: 40 }), /41/);
  assert.equal(wrong("task"), "");
  assert.deepEqual(requestOptions({ task: "copy", heads: "2" }), { task: "copy", heads: 2 });
});
