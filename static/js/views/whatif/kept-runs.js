/**
 * Runs that a reader keeps side by side: sentences and changes to the model, in the link. All are
 * run by the page's model. The first is the reference: the others are also given its output, so
 * that each of its tokens has a log-probability in every run.
 */

import { Problem } from "../../core/wire/problem.js";
import { counted } from "../../core/wire/reply.js";
import { inForce } from "../../core/wire/request.js";
import { writing } from "./before-after.js";
import { answer, keyOf, traced } from "../../core/store/view-requests.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Question } from "../../core/store/view-requests.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/**
 * @typedef {object} Run  as in a link; null where it has the model's choice
 * @property {string} source
 * @property {string | null} direction
 * @property {string | null} target
 * @property {unknown} decode
 * @property {unknown} interventions
 * @property {true | null} chat
 */
/**
 * @typedef {object} Kept
 * @property {string} letter  A is the reference
 * @property {Run} run
 * @property {boolean} present  whether it is what the page shows
 * @property {boolean} kept  false: only because the page shows it
 * @property {Trace | Problem | undefined} own  what it writes; undefined: loading
 * @property {Trace | Problem | undefined} given  with the reference's output
 */

/** The most runs that a link holds. */
export const MOST = 8;
const KEYS = /** @type {const} */ (["source", "direction", "target", "decode", "interventions", "chat"]);
/** @type {Run[]} */
const NONE = [];

/** @type {import("../../core/store/options.js").Option<Run[]>} */
export const option = {
  initial: NONE,
  read(text) {
    try {
      const list = JSON.parse(text);
      const fits = Array.isArray(list) && list.length > 0 && list.length <= MOST && list.every((one) => typeof one?.source === "string");
      return fits ? list.map(whole) : null;
    } catch {
      return null;
    }
  },
  write: (runs) => JSON.stringify(runs.map(said)),
};

/** @param {any} run @returns {Run} */
const whole = (run) => /** @type {Run} */ (Object.fromEntries(KEYS.map((key) => [key, run[key] ?? null])));

/** Without what the model chooses. @param {Run} run */
const said = (run) => Object.fromEntries(Object.entries(run).filter(([, value]) => value !== null));

/** What the page shows, as a run. @param {Page} page @returns {Run} */
export const presentRun = ({ link }) => whole({ ...link, interventions: inForce(link) });

/** @param {Page} page @returns {Run[]} */
const listed = ({ link }) => link.options.kept ?? NONE;

/** @param {Run} a @param {Run} b */
const same = (a, b) => keyOf(/** @type {any} */ (a)) === keyOf(/** @type {any} */ (b));

/** The options of a link that also keeps what the page shows. @param {Page} page */
export const keeping = (page) => ({ kept: [...listed(page), presentRun(page)] });

/** The options of a link without one of its runs. @param {Page} page @param {Run} run */
export function leaving(page, run) {
  const rest = listed(page).filter((one) => !same(one, run));
  return { kept: rest.length ? rest : NONE };
}

/** Whether what the page shows can be kept. @param {Page} page */
export const canKeep = (page) => listed(page).length < MOST && !listed(page).some((one) => same(one, presentRun(page)));

/** @param {Page} page @param {Run} run @param {object} [changes] */
const asking = (page, run, changes = {}) => traced(page, { pad_to: null, ...run, ...changes, select: [] });

/** Those kept, and what the page shows. @param {Page} page @returns {{run: Run, kept: boolean}[]} */
function shown(page) {
  const kept = listed(page).map((run) => ({ run, kept: true }));
  return kept.some(({ run }) => same(run, presentRun(page))) ? kept : [...kept, { run: presentRun(page), kept: false }];
}

/** @param {Page} page @param {Run} run */
const found = (page, run, changes = {}) => /** @type {Trace | Problem | undefined} */ (answer(page, asking(page, run, changes)));

/** @param {Page} page @returns {Kept[]} */
export function keptRuns(page) {
  const rows = shown(page);
  const [first] = rows;
  const reference = found(page, first.run);
  return rows.map(({ run, kept }, n) => {
    const own = found(page, run);
    const known = reference && !(reference instanceof Problem);
    const given = n === 0 || !known ? reference : found(page, run, writing(first.run, reference));
    return { letter: String.fromCharCode(65 + n), run, kept, present: same(run, presentRun(page)), own, given };
  });
}

/** @param {Page} page @returns {Question[]}  those that can be sent now */
export function keptQuestions(page) {
  const [first, ...others] = shown(page);
  const reference = found(page, first.run);
  const own = [first, ...others].map(({ run }) => asking(page, run));
  if (!reference || reference instanceof Problem) return own;
  return [...own, ...others.map(({ run }) => asking(page, run, writing(first.run, reference)))];
}

/**
 * The log-probability of each token of the reference's output in every run, in nats.
 * @param {Kept[]} runs
 * @returns {{index: number, logprobs: (number | null)[]}[] | null}  null: not known yet; of a run
 *   that is loading or could not be run: null
 */
export function tokenRows(runs) {
  const [{ given: reference }] = runs;
  if (!reference || reference instanceof Problem) return null;
  return counted(reference.output).map((index) => ({
    index,
    logprobs: runs.map(({ given }) => (given && !(given instanceof Problem) ? (given.output.logprobs[index] ?? null) : null)),
  }));
}
