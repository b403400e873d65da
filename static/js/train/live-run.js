/** The state of a training run, computed by pure functions from its events. */

/** @import { RunSnapshotReply } from "../core/wire/schemas.d.ts" */
/** @import { RunInfo, Options } from "../core/wire/subject-requests.js" */
/**
 * @typedef {object} LiveRun
 * @property {string} id
 * @property {Options} options
 * @property {{id: string, step: number} | null} parent
 * @property {number} next  the number of the next event
 * @property {import("../core/wire/subject-requests.js").RunState} state
 * @property {string | null} why
 * @property {number | null} place  in the queue
 * @property {number} step
 * @property {number} factor  of the learning rate
 * @property {number | null} rate
 * @property {number} seconds
 * @property {number} from  the step at which it began
 * @property {import("../core/wire/model.js").ModelInfo | null} model
 * @property {{source: string, target: string}[]} probes
 * @property {RunSnapshotReply[]} snapshots
 * @property {{step: number, loss: number | null}[]} losses  training losses
 */

const OVER = new Set(["finished", "stopped", "failed"]);
/** The approximate number of snapshots of a run. */
const OBSERVED = 40;

/** @param {RunInfo} info @returns {LiveRun}  before any event */
export function fresh({ id, options, parent, learning_rate }) {
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
export const over = ({ state }) => OVER.has(state);

/**
 * The run after an event; an event that was already applied changes nothing.
 * @param {LiveRun} run
 * @param {any} event  as sent by the server
 * @returns {LiveRun}
 */
export function heard(run, event) {
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
export function planned({ options, snapshots, from, state }) {
  const last = Number(options.steps);
  const there = snapshots.map(({ step }) => step);
  if (OVER.has(state)) return there;
  const every = Math.ceil(last / OBSERVED);
  const done = there.at(-1) ?? from - 1;
  const coming = [];
  for (let step = Math.floor(done / every + 1) * every; step < last; step += every) coming.push(step);
  return [...there, ...coming, ...(done < last ? [last] : [])];
}

/**
 * The mean training loss between each snapshot and the previous one.
 * @param {LiveRun} run
 * @returns {number[]}  one per snapshot; for the first, the first recorded loss
 */
export function trainLosses({ snapshots, losses }) {
  return snapshots.map(({ step }, i) => {
    const after = i ? snapshots[i - 1].step : -1;
    const own = losses.filter((one) => one.step > after && one.step <= step && one.loss !== null);
    const near = own.length ? own : losses.slice(0, 1);
    return near.length ? near.reduce((sum, { loss }) => sum + Number(loss), 0) / near.length : NaN;
  });
}

/**
 * The slider's position: the selected snapshot, or the last one.
 * @param {LiveRun} run
 * @param {number | null} step  null: the last
 * @returns {number}  −1: none yet
 */
export function placeOf({ snapshots }, step) {
  if (step === null || !snapshots.length) return snapshots.length - 1;
  const far = snapshots.map((one) => Math.abs(one.step - step));
  return far.indexOf(Math.min(...far));
}

/**
 * The first snapshot from which on at least this share of answers is right.
 * @param {LiveRun} run
 * @param {number} share
 * @returns {RunSnapshotReply | null}
 */
export function reached({ snapshots }, share) {
  const last = snapshots.findLastIndex(({ accuracy }) => accuracy < share);
  return snapshots[last + 1] ?? null;
}
