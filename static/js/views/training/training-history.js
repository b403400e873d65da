/**
 * How a model was learned: a fixed sentence at each saved step of its training. All steps read the
 * same tokens, so each step is an ordinary trace that has only weights.
 */

import { learningPath } from "../../core/wire/request.js";
import { memo } from "../../lib/memo.js";
import { grouped } from "../../lib/numbers.js";
import { answer } from "../../core/store/view-requests.js";

/** @import { TokenReply } from "../../core/wire/schemas.d.ts" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace, Tensor } from "../../core/wire/safetensors.js" */
/** @import { Problem } from "../../core/wire/reply.js" */
/**
 * @typedef {object} Snapshot
 * @property {number} step
 * @property {number | null} loss  nats per token; null: training diverged
 * @property {Record<string, number>} bleu  by direction; none for a task of the zoo
 * @property {number | null} [accuracy]  for a task of the zoo: the share of right answers
 */
/**
 * @typedef {object} Learned  the reply of `GET /api/models/{id}/learning/{example}`
 * @property {string} model
 * @property {string} digest
 * @property {Snapshot[]} snapshots
 * @property {{source: string, direction: string, text: string}[]} examples
 * @property {number} example  index of this example
 * @property {string} direction
 * @property {Record<string, TokenReply[]>} tokens
 * @property {{text: string, tokens: TokenReply[]}} output  of the trained model
 * @property {string[]} texts  what each snapshot writes
 * @property {Record<string, Tensor>} tensors  "{step}.{place}.weights", and "{place}.mask"
 */

/**
 * The request, or null if the model has no snapshots.
 * @param {Page} page
 * @returns {import("../../core/store/view-requests.js").Question[]}
 */
export function watched({ model, link }) {
  const count = model?.examples ?? 0;
  if (!model || !count) return [];
  const example = Math.min(link.options.example ?? 0, count - 1);
  return [{ learning: { model: model.id, example } }];
}

/**
 * @param {Page} page
 * @returns {Learned | Problem | undefined}  undefined: loading, or none
 */
export function learned(page) {
  const [question] = watched(page);
  return question && answer(page, question);
}

/**
 * The snapshot that a link selects: the nearest saved one, by default the last.
 * @param {Pick<Learned, "snapshots">} found
 * @param {number | null} step
 * @returns {number}  its index
 */
export function placeOf({ snapshots }, step) {
  if (step === null) return snapshots.length - 1;
  const away = snapshots.map((snapshot) => Math.abs(snapshot.step - step));
  return away.indexOf(Math.min(...away));
}

/**
 * A snapshot's trace.
 * @param {Learned} history
 * @param {number} place  index of the snapshot
 * @returns {Trace}  the same object every time
 */
export function traceAt(history, place) {
  return memo(history, `trace ${place}`, () => {
    const { step } = history.snapshots[place];
    const prefix = `${step}.`;
    const tensors = Object.entries(history.tensors)
      .filter(([name]) => name.startsWith(prefix) || name.endsWith(".mask"))
      .map(([name, tensor]) => [name.startsWith(prefix) ? name.slice(prefix.length) : name, tensor]);
    return {
      id: `${history.digest} ${history.example} ${step}`,
      model: history.model,
      direction: history.direction,
      tokens: history.tokens,
      output: { ...history.output, logprobs: [], score: NaN, finished: true },
      tensors: Object.fromEntries(tensors),
    };
  });
}

/**
 * What the page shows instead of its own run.
 * @param {Page} page
 * @returns {import("../../core/figure/types.js").Subject | null}  null until loaded
 */
export function subject(page) {
  const history = learned(page);
  if (!history || !("snapshots" in history)) return null;
  const place = placeOf(history, page.link.options.snapshot);
  const { step } = history.snapshots[place];
  return {
    source: history.examples[history.example].source,
    trace: traceAt(history, place),
    says: (t) => t("step {step}", { step: counted(step) }),
    name: `example-${history.example + 1}-step-${step}`,
    path: learningPath({ model: history.model, example: history.example }),
  };
}

/**
 * How good each snapshot was, in percent: BLEU by direction, or the share of right answers.
 * @param {Snapshot[]} snapshots
 * @returns {{direction: string | null, values: number[]}[]}  null: right answers
 */
export function scores(snapshots) {
  const directions = Object.keys(snapshots[0].bleu);
  if (!directions.length) return [{ direction: null, values: snapshots.map(({ accuracy }) => 100 * (accuracy ?? NaN)) }];
  return directions.map((direction) => ({ direction, values: snapshots.map(({ bleu }) => bleu[direction]) }));
}

/**
 * Between which two snapshots a head took shape: where the part of its weight that lies as in the
 * last snapshot rises most. That part is Σ min(p, q) of a row, averaged over the rows.
 * @param {import("../../core/wire/safetensors.js").Matrix[]} matrices  of one head, one per snapshot; NaN where masked
 * @returns {{place: number, before: number, after: number} | null}  place: index of the later one;
 *   null: fewer than two snapshots
 */
export function formation(matrices) {
  const last = matrices.at(-1);
  if (!last || matrices.length < 2) return null;
  const parts = matrices.map(({ rows, values }) => {
    let common = 0;
    for (let i = 0; i < values.length; i++) common += Math.min(values[i], last.values[i]) || 0;
    return common / rows;
  });
  const rise = (/** @type {number} */ place) => parts[place] - parts[place - 1];
  const places = parts.map((_, i) => i).slice(1);
  const place = places.reduce((best, candidate) => (rise(candidate) > rise(best) ? candidate : best));
  return { place, before: parts[place - 1], after: parts[place] };
}

/** @param {number} count  In thousands, as both languages write them. */
export const counted = (count) => grouped(count);
