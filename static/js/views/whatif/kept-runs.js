/**
 * Runs that a reader keeps side by side: sentences and changes to the model, in the link. All are
 * run by the page's model. The first is the reference: the others are also given its output, so
 * that each of its tokens has a log-probability in every run.
 */

import { named, tensor } from "../../core/compute/computed-tensors.js";
import { textRuler } from "../../core/draw/matrix-labels.js";
import { drawing, file, s } from "../../core/draw/svg.js";
import { step } from "../../core/draw/token.js";
import { wording } from "../../core/figure/problem-wording.js";
import { changes, plainChange } from "../../core/store/interventions.js";
import { isFixed } from "../../core/store/share-contents.js";
import { answer, keyOf, runQuestion } from "../../core/store/view-requests.js";
import { singleStep } from "../../core/wire/model-description.js";
import { Problem, counted, logprob } from "../../core/wire/reply.js";
import { changesInForce } from "../../core/wire/request.js";
import { languages, plainLabel } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { change as gain, two } from "../../lib/numbers.js";
import { writes, writing } from "./before-after.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Question } from "../../core/store/view-requests.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */

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
 * @property {boolean} isKept  false: only because the page shows it
 * @property {Trace | Problem | undefined} ownTrace  what it writes; undefined: loading
 * @property {Trace | Problem | undefined} forcedTrace  with the reference's output
 */

/** The most runs that a link holds. */
export const MOST = 8;
const KEYS = /** @type {const} */ (["source", "direction", "target", "decode", "interventions", "chat"]);
/** @type {Run[]} */
const NONE = [];

/** @type {import("../../core/store/link-options.js").Option<Run[]>} */
export const option = {
  initial: NONE,
  read(text) {
    try {
      const list = JSON.parse(text);
      const fits = Array.isArray(list) && list.length > 0 && list.length <= MOST && list.every((entry) => typeof entry?.source === "string");
      return fits ? list.map(withDefaults) : null;
    } catch {
      return null;
    }
  },
  write: (runs) => JSON.stringify(runs.map(compact)),
};

/** @param {any} run @returns {Run} */
const withDefaults = (run) => /** @type {Run} */ (Object.fromEntries(KEYS.map((key) => [key, run[key] ?? null])));

/** Without what the model chooses. @param {Run} run */
const compact = (run) => Object.fromEntries(Object.entries(run).filter(([, value]) => value !== null));

/** What the page shows, as a run. @param {Page} page @returns {Run} */
const presentRun = ({ link }) => withDefaults({ ...link, interventions: changesInForce(link) });

/** @param {Page} page @returns {Run[]} */
const runsInLink = ({ link }) => link.options.kept ?? NONE;

/** @param {Run} a @param {Run} b */
const isSameRun = (a, b) => keyOf(/** @type {any} */ (a)) === keyOf(/** @type {any} */ (b));

/** The options of a link that also keeps what the page shows. @param {Page} page */
const optionsWith = (page) => ({ kept: [...runsInLink(page), presentRun(page)] });

/** The options of a link without one of its runs. @param {Page} page @param {Run} run */
function optionsWithout(page, run) {
  const remaining = runsInLink(page).filter((candidate) => !isSameRun(candidate, run));
  return { kept: remaining.length ? remaining : NONE };
}

/** Whether what the page shows can be kept. @param {Page} page */
const canKeep = (page) => runsInLink(page).length < MOST && !runsInLink(page).some((candidate) => isSameRun(candidate, presentRun(page)));

/** @param {Page} page @param {Run} run @param {object} [changes] */
const questionFor = (page, run, changes = {}) => runQuestion(page, { pad_to: null, ...run, ...changes, select: [] });

/** Those kept, and what the page shows. @param {Page} page @returns {{run: Run, isKept: boolean}[]} */
function comparedRuns(page) {
  const entries = runsInLink(page).map((run) => ({ run, isKept: true }));
  return entries.some(({ run }) => isSameRun(run, presentRun(page))) ? entries : [...entries, { run: presentRun(page), isKept: false }];
}

/** @param {Page} page @param {Run} run */
const traceFor = (page, run, changes = {}) => /** @type {Trace | Problem | undefined} */ (answer(page, questionFor(page, run, changes)));

/** @param {Page} page @returns {Kept[]} */
function keptRuns(page) {
  const rows = comparedRuns(page);
  const [first] = rows;
  const reference = traceFor(page, first.run);
  return rows.map(({ run, isKept }, n) => {
    const ownTrace = traceFor(page, run);
    const hasReference = reference && !(reference instanceof Problem);
    const forcedTrace = n === 0 || !hasReference ? reference : traceFor(page, run, writing(first.run, reference));
    return { letter: String.fromCharCode(65 + n), run, isKept, present: isSameRun(run, presentRun(page)), ownTrace, forcedTrace };
  });
}

/** @param {Page} page @returns {Question[]}  those that can be sent now */
export function keptQuestions(page) {
  const [first, ...later] = comparedRuns(page);
  const reference = traceFor(page, first.run);
  const ownQuestions = [first, ...later].map(({ run }) => questionFor(page, run));
  if (!reference || reference instanceof Problem) return ownQuestions;
  return [...ownQuestions, ...later.map(({ run }) => questionFor(page, run, writing(first.run, reference)))];
}

/**
 * The log-probability of each token of the reference's output in every run, in nats.
 * @param {Kept[]} runs
 * @returns {{index: number, logprobs: (number | null)[]}[] | null}  null: not known yet; of a run
 *   that is loading or could not be run: null
 */
export function tokenRows(runs) {
  const [{ forcedTrace: reference }] = runs;
  if (!reference || reference instanceof Problem) return null;
  return counted(reference.output).map((index) => ({
    index,
    logprobs: runs.map(({ forcedTrace }) => (forcedTrace && !(forcedTrace instanceof Problem) ? (forcedTrace.output.logprobs[index] ?? null) : null)),
  }));
}

// Runs kept side by side: what each writes, and the log-probability of the first one's tokens.

/** @typedef {{index: number, logprobs: (number | null)[]}} Row */

/** @param {Context} context */
export function runsTable(context) {
  const { store, t } = context;
  const keep = h("button", { type: "button", className: "button" }, t("Keep this run"));
  const hint = h("p", { className: "hint-line" });
  const list = h("div", { className: "scroller" });
  const tokens = h("div", { className: "scroller" });
  const element = h("div", { className: "kept-runs" }, h("p", { className: "keep-run" }, keep), hint, list, tokens);
  keep.addEventListener("click", () => store.choose(optionsWith(store.get()), "chosen"));
  /** @type {Kept[]} */
  let tableRuns = [];

  function draw() {
    const page = store.get();
    tableRuns = keptRuns(page);
    const fixed = isFixed(page);
    keep.hidden = fixed;
    keep.disabled = !canKeep(page);
    hint.textContent = hintText(t, page.link.options.kept.length);
    render(list, summary(context, tableRuns, fixed));
    const rows = tokenRows(tableRuns);
    render(tokens, rows && tableRuns.length > 1 ? table(context, tableRuns, rows) : []);
  }

  return {
    element,
    draw,
    light() {},
    destroy() {},
    picture: () => picture(context, tableRuns),
    numbers: () => numbers(tableRuns),
  };
}

/** @param {Context["t"]} t @param {number} count  of runs that are kept */
function hintText(t, count) {
  if (count === 0) return t("Keep this run, then change the sentence or the model: what you keep stays here, side by side.");
  if (count >= MOST) return t("{n} runs are kept, which is the most.", { n: count });
  return t("Every run is also given the output of A: Δ is by how much that becomes more likely, in nats.");
}

/** @param {Kept} run */
const traceOf = ({ ownTrace }) => (ownTrace && !(ownTrace instanceof Problem) ? ownTrace : null);

/** @param {Context} context @param {Kept[]} runs @param {boolean} fixed */
function summary(context, runs, fixed) {
  const { t } = context;
  const head = [t("Run"), t("Sentence and changes"), t("Output"), t("ln P"), t("Δ for A’s output")];
  const total = totals(runs);
  return el(
    "table",
    { className: "runs-summary" },
    el("caption", { className: "hidden" }, t("Runs side by side")),
    el("thead", {}, el("tr", {}, head.map((name, n) => el("th", { scope: "col", className: n > 2 ? "number" : "" }, name)), !fixed && el("td", {}))),
    el("tbody", {}, runs.map((run, n) => line(context, run, total[n], fixed))),
  );
}

/** The change of the log-probability of A's output in each run. @param {Kept[]} runs @returns {(number | null)[]} */
function totals(runs) {
  const sums = runs.map(({ forcedTrace }) => (forcedTrace && !(forcedTrace instanceof Problem) ? logprob(forcedTrace.output) : null));
  return sums.map((sum, n) => (n === 0 || sum === null || sums[0] === null ? null : sum - sums[0]));
}

/** @param {Context} context @param {Kept} keptRun @param {number | null} delta @param {boolean} fixed */
function line(context, keptRun, delta, fixed) {
  const { store, t } = context;
  const { letter, run, isKept, present, ownTrace } = keptRun;
  const trace = traceOf(keptRun);
  const [read, written] = languages(trace?.direction ?? "");
  const failed = ownTrace instanceof Problem;
  const output = failed ? wording(t, ownTrace) : trace ? trace.output.text || t("(nothing)") : "…";
  const open = () => store.go({ ...run, query: null, key: null, options: { ...store.get().link.options, as: "changed" } });
  return el(
    "tr",
    { key: letter, "aria-current": present ? "true" : undefined },
    el("th", { scope: "row" }, letter, !isKept && el("span", { className: "hidden" }, ` (${t("not kept")})`)),
    el(
      "td",
      {},
      el("span", { lang: read }, run.source),
      changes(run).length > 0 && el("ul", { className: "run-changes" }, changes(run).map((change) => el("li", {}, plainChange(change, { ...store.get(), trace }, t)))),
    ),
    el("td", { className: failed ? "bad" : "", lang: trace ? written : undefined, title: failed ? ownTrace.detail : undefined }, output),
    el("td", { className: "number" }, trace ? two(logprob(trace.output)) : ""),
    el("td", { className: `number ${tone(delta)}` }, delta === null ? "" : gain(delta)),
    !fixed && el("td", { className: "run-actions" }, !present && button(t("Open"), t("Open run {letter}", { letter }), open), isKept && button("×", t("Remove run {letter}", { letter }), () => store.choose(optionsWithout(store.get(), run), "chosen"))),
  );
}

/** @param {string} text @param {string} label @param {() => void} onclick */
const button = (text, label, onclick) => el("button", { type: "button", className: "button quiet", "aria-label": label, onclick }, text);

/** @param {number | null} change  Nothing under half a hundredth is called a change. */
const tone = (change) => (change === null || Math.abs(change) < 0.005 ? "" : change > 0 ? "more" : "less");

/** What A writes, one step per row. @param {Kept[]} runs @param {Row[]} rows @returns {Step[]} */
function stepsOf([first], rows) {
  const names = writes(/** @type {Trace} */ (first.forcedTrace));
  return rows.map(({ index }) => ({ ...singleStep(names[index]), reads: null }));
}

/** @param {Row} row @param {number} n  of a run @returns {number | null}  its log-probability in A, or the change from it */
function entry({ logprobs: [first, ...otherLogprobs] }, n) {
  const value = n === 0 ? 0 : otherLogprobs[n - 1];
  if (first === null || value === null) return null;
  return n === 0 ? first : value - first;
}

/** @param {Context} context @param {Kept[]} runs @param {Row[]} rows */
function table({ t }, runs, rows) {
  const steps = stepsOf(runs, rows);
  return el(
    "table",
    { className: "token-changes" },
    el("caption", { className: "hint-line" }, t("ln P of each token of A’s output, and its change in the other runs.")),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("writes")), heads(t, runs).map((name) => el("th", { scope: "col", className: "number" }, name)))),
    el("tbody", {}, rows.map((row, i) => el("tr", {}, el("th", { scope: "row" }, step(steps[i])), runs.map((_, n) => cell(row, n))))),
  );
}

/** @param {Context["t"]} t @param {Kept[]} runs */
const heads = (t, runs) => runs.map(({ letter }, n) => (n ? `Δ ${letter}` : t("ln P in A")));

/** @param {Row} row @param {number} n */
function cell(row, n) {
  const value = entry(row, n);
  const text = value === null ? "" : n ? gain(value) : two(value);
  return el("td", { className: `number ${n ? tone(value) : ""}` }, text);
}

/** @param {Kept[]} runs @returns {import("../../core/compute/computed-tensors.js").ComputedTensors | null} */
function numbers(runs) {
  const rows = runs.length ? tokenRows(runs) : null;
  if (!rows) return null;
  const shape = [rows.length, runs.length];
  const values = rows.flatMap(({ logprobs }) => logprobs.map((value) => value ?? NaN));
  const outputLogprobs = runs.map((run) => (traceOf(run) ? logprob(/** @type {Trace} */ (traceOf(run)).output) : NaN));
  return {
    tokens: { written: named(stepsOf(runs, rows)), run: runs.map(({ letter, run }) => ({ text: `${letter}: ${run.source}` })) },
    tensors: {
      logprob: tensor({ query: "written", key: "run" }, shape, values),
      "output.logprob": tensor({ key: "run" }, [runs.length], outputLogprobs),
    },
  };
}

/**
 * Both tables as a drawing, for an export.
 * @param {Context} context
 * @param {Kept[]} runs
 */
function picture(context, runs) {
  const rows = runs.length ? tokenRows(runs) : null;
  if (!rows) return null;
  const theme = context.theme();
  const { size } = theme;
  const high = size * 2;
  const measure = textRuler(theme);
  const summaries = runs.map((run) => {
    const trace = traceOf(run);
    const changeTexts = changes(run.run).map((change) => plainChange(change, { ...context.store.get(), trace }, context.t));
    return `${run.letter}  ${[run.run.source, ...changeTexts].join("; ")} → ${trace?.output.text ?? ""}`;
  });
  const texts = summaries.map((text, n) => s("text", { x: size, y: high * (n + 0.7) }, text));
  const top = high * (runs.length + 0.5);
  const steps = stepsOf(runs, rows);
  const right = (/** @type {number} */ n) => size * (14 + 5.5 * n);
  const cells = heads(context.t, runs).map((text, n) => s("text", { x: right(n), y: top + size, "text-anchor": "end", fill: theme.muted }, text));
  const lines = rows.flatMap((row, i) => {
    const y = top + high * (i + 1) + size;
    const entries = runs.map((_, n) => entry(row, n));
    const numbers = entries.map((value, n) => s("text", { x: right(n), y, "text-anchor": "end" }, value === null ? "" : n ? gain(value) : two(value)));
    return [s("text", { x: size * 8, y, "text-anchor": "end" }, plainLabel(steps[i].writes)), ...numbers];
  });
  const width = Math.max(right(runs.length), ...summaries.map((text) => 2 * size + measure(text)));
  return { svg: file(drawing(width, top + high * (rows.length + 1), theme, ...texts, ...cells, ...lines), theme) };
}
