/**
 * A training run from its events: its state, computed by pure functions, and the connection that
 * follows it.
 */

import { failure } from "../core/wire/reply.js";
import { throttle } from "../lib/timing.js";

/** @import { Options, RunInfo } from "../core/wire/requests-by-subject.js" */
/** @import { RunSnapshotReply } from "../core/wire/schemas.d.ts" */

/**
 * @typedef {object} LiveRun
 * @property {string} id
 * @property {Options} options
 * @property {{id: string, step: number} | null} parent
 * @property {number} next  the number of the next event
 * @property {import("../core/wire/requests-by-subject.js").RunState} state
 * @property {string | null} why
 * @property {number | null} place  in the queue
 * @property {number} step
 * @property {number} factor  of the learning rate
 * @property {number | null} rate
 * @property {number} seconds
 * @property {number} from  the step at which it began
 * @property {import("../core/wire/model-description.js").ModelInfo | null} model
 * @property {{source: string, target: string}[]} probes
 * @property {RunSnapshotReply[]} snapshots
 * @property {{step: number, loss: number | null}[]} losses  training losses
 */

const OVER = new Set(["finished", "stopped", "failed"]);
/** The approximate number of snapshots of a run. */
const OBSERVED = 40;

/** @param {RunInfo} info @returns {LiveRun}  before any event */
export function newRun({ id, options, parent, learning_rate }) {
  return {
    id,
    options,
    parent,
    next: 0,
    state: "queued",
    why: null,
    place: null,
    step: parent?.step ?? 0,
    factor: learning_rate,
    rate: null,
    seconds: 0,
    from: parent?.step ?? 0,
    model: null,
    probes: [],
    snapshots: [],
    losses: [],
  };
}

/** @param {LiveRun} run */
export const isOver = ({ state }) => OVER.has(state);

/**
 * The run after an event; an event that was already applied changes nothing.
 * @param {LiveRun} run
 * @param {any} event  as sent by the server
 * @returns {LiveRun}
 */
export function withEvent(run, event) {
  if (event.n !== run.next) return run;
  const now = { ...run, next: run.next + 1 };
  if (event.state) return { ...now, ...event.state };
  if (event.begun) return { ...now, model: event.begun.model, probes: event.begun.probes, step: event.begun.step };
  if (event.learning_rate) return { ...now, factor: event.learning_rate.factor };
  if (event.progress) {
    const { step, loss, rate, seconds } = event.progress;
    return { ...now, step, rate, seconds, losses: [...run.losses, { step, loss }] };
  }
  if (event.snapshot) return { ...now, step: event.snapshot.step, seconds: event.snapshot.seconds, snapshots: [...run.snapshots, event.snapshot] };
  return now;
}

/**
 * The steps of all snapshots, including future ones.
 * @param {LiveRun} run
 * @returns {number[]}
 */
export function plannedSteps({ options, snapshots, from, state }) {
  const last = Number(options.steps);
  const recorded = snapshots.map(({ step }) => step);
  if (OVER.has(state)) return recorded;
  const interval = Math.ceil(last / OBSERVED);
  const done = recorded.at(-1) ?? from - 1;
  const coming = [];
  for (let step = Math.floor(done / interval + 1) * interval; step < last; step += interval) coming.push(step);
  return [...recorded, ...coming, ...(done < last ? [last] : [])];
}

/**
 * The mean training loss between each snapshot and the previous one.
 * @param {LiveRun} run
 * @returns {number[]}  one per snapshot; for the first, the first recorded loss
 */
export function trainLosses({ snapshots, losses }) {
  return snapshots.map(({ step }, i) => {
    const after = i ? snapshots[i - 1].step : -1;
    const between = losses.filter((point) => point.step > after && point.step <= step && point.loss !== null);
    const near = between.length ? between : losses.slice(0, 1);
    return near.length ? near.reduce((sum, { loss }) => sum + Number(loss), 0) / near.length : NaN;
  });
}

/**
 * The slider's position: the selected snapshot, or the last one.
 * @param {LiveRun} run
 * @param {number | null} step  null: the last
 * @returns {number}  −1: none yet
 */
export function snapshotIndex({ snapshots }, step) {
  if (step === null || !snapshots.length) return snapshots.length - 1;
  const far = snapshots.map((snapshot) => Math.abs(snapshot.step - step));
  return far.indexOf(Math.min(...far));
}

/**
 * The first snapshot from which on at least this share of answers is right.
 * @param {LiveRun} run
 * @param {number} share
 * @returns {RunSnapshotReply | null}
 */
export function firstReaching({ snapshots }, share) {
  const last = snapshots.findLastIndex(({ accuracy }) => accuracy < share);
  return snapshots[last + 1] ?? null;
}

// Follow a run from its first event until it ends, across network failures.

/**
 * In milliseconds: the interval between redraws, and the first and the longest delay before
 * reconnecting.
 */
const [PACE, FIRST_WAIT, LONGEST_WAIT] = [200, 500, 10_000];

/**
 * @param {import("../core/wire/api.js").Api} api
 * @param {{hear: (run: LiveRun) => void, failed: (problem: import("../core/wire/reply.js").Problem) => void}} listener
 */
export function createFollower(api, { hear, failed }) {
  let controller = new AbortController();
  /** @type {LiveRun | null} */
  let run = null;
  const redraw = throttle(() => run && hear(run), PACE);

  /** Read one connection until it ends. @param {LiveRun} from @param {AbortSignal} signal */
  async function listen(from, signal) {
    for await (const event of api.runEvents(from.id, from.next, signal)) {
      if (signal.aborted || !run) return;
      run = withEvent(run, event);
      redraw.later();
    }
  }

  return {
    stop: () => (controller.abort(), redraw.cancel()),
    /** @param {RunInfo | null} info  null: the same run again */
    async follow(info) {
      controller.abort();
      const { signal } = (controller = new AbortController());
      if (info) run = newRun(info);
      for (let wait = FIRST_WAIT; run && !signal.aborted; wait = Math.min(wait * 2, LONGEST_WAIT)) {
        const { next } = run;
        try {
          await listen(run, signal);
        } catch (error) {
          if (signal.aborted) return;
          const problem = failure(error);
          failed(problem);
          if (!problem.passing) return;
        }
        if (run && isOver(run)) return redraw.now();
        if (run && run.next > next) wait = FIRST_WAIT;
        await pause(wait, signal);
      }
    },
  };
}

/** @param {number} milliseconds @param {AbortSignal} signal  ends it early */
const pause = (milliseconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => (clearTimeout(timer), resolve(null)), { once: true });
  });
