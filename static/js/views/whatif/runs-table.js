/** Runs kept side by side: what each writes, and the log-probability of the first one's tokens. */

import { Problem } from "../../core/wire/problem.js";
import { change as gain, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { step } from "../../core/draw/token.js";
import { alone } from "../../core/wire/attentions.js";
import { logprob } from "../../core/wire/reply.js";
import { named, tensor } from "../../core/compute/computed-tensors.js";
import { ruler } from "../../core/draw/labels.js";
import { drawing, file, s } from "../../core/draw/svg.js";
import { languages, plain } from "../../core/wire/tokens.js";
import { changes, plainly } from "../../core/store/interventions.js";
import { MOST, canKeep, keeping, keptRuns, leaving, tokenRows } from "./kept-runs.js";
import { isFixed } from "../../core/store/share-contents.js";
import { wording } from "../../core/figure/problem-wording.js";
import { writes } from "./row-picker.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Kept } from "./kept-runs.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @typedef {{index: number, logprobs: (number | null)[]}} Row */

/** @param {Context} context */
export function runsTable(context) {
  const { store, t } = context;
  const keep = h("button", { type: "button", className: "button" }, t("Keep this run"));
  const hint = h("p", { className: "hint-line" });
  const list = h("div", { className: "scroller" });
  const tokens = h("div", { className: "scroller" });
  const element = h("div", { className: "kept-runs" }, h("p", { className: "keep-run" }, keep), hint, list, tokens);
  keep.addEventListener("click", () => store.choose(keeping(store.get()), "chosen"));
  /** @type {Kept[]} */
  let shown = [];

  function draw() {
    const page = store.get();
    shown = keptRuns(page);
    const fixed = isFixed(page);
    keep.hidden = fixed;
    keep.disabled = !canKeep(page);
    hint.textContent = says(t, page.link.options.kept.length);
    render(list, summary(context, shown, fixed));
    const rows = tokenRows(shown);
    render(tokens, rows && shown.length > 1 ? table(context, shown, rows) : []);
  }

  return {
    element,
    draw,
    light() {},
    destroy() {},
    picture: () => picture(context, shown),
    numbers: () => numbers(shown),
  };
}

/** @param {Context["t"]} t @param {number} count  of runs that are kept */
function says(t, count) {
  if (count === 0) return t("Keep this run, then change the sentence or the model: what you keep stays here, side by side.");
  if (count >= MOST) return t("{n} runs are kept, which is the most.", { n: count });
  return t("Every run is also given the output of A: Δ is by how much that becomes more likely, in nats.");
}

/** @param {Kept} run */
const traceOf = ({ own }) => (own && !(own instanceof Problem) ? own : null);

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
  const sums = runs.map(({ given }) => (given && !(given instanceof Problem) ? logprob(given.output) : null));
  return sums.map((sum, n) => (n === 0 || sum === null || sums[0] === null ? null : sum - sums[0]));
}

/** @param {Context} context @param {Kept} one @param {number | null} delta @param {boolean} fixed */
function line(context, one, delta, fixed) {
  const { store, t } = context;
  const { letter, run, kept, present, own } = one;
  const trace = traceOf(one);
  const [read, written] = languages(trace?.direction ?? "");
  const failed = own instanceof Problem;
  const output = failed ? wording(t, own) : trace ? trace.output.text || t("(nothing)") : "…";
  const open = () => store.go({ ...run, query: null, key: null, options: { ...store.get().link.options, as: "changed" } });
  return el(
    "tr",
    { key: letter, "aria-current": present ? "true" : undefined },
    el("th", { scope: "row" }, letter, !kept && el("span", { className: "hidden" }, ` (${t("not kept")})`)),
    el(
      "td",
      {},
      el("span", { lang: read }, run.source),
      changes(run).length > 0 && el("ul", { className: "run-changes" }, changes(run).map((change) => el("li", {}, plainly(change, { ...store.get(), trace }, t)))),
    ),
    el("td", { className: failed ? "bad" : "", lang: trace ? written : undefined, title: failed ? own.detail : undefined }, output),
    el("td", { className: "number" }, trace ? two(logprob(trace.output)) : ""),
    el("td", { className: `number ${tone(delta)}` }, delta === null ? "" : gain(delta)),
    !fixed && el("td", { className: "run-actions" }, !present && button(t("Open"), t("Open run {letter}", { letter }), open), kept && button("×", t("Remove run {letter}", { letter }), () => store.choose(leaving(store.get(), run), "chosen"))),
  );
}

/** @param {string} text @param {string} label @param {() => void} onclick */
const button = (text, label, onclick) => el("button", { type: "button", className: "button quiet", "aria-label": label, onclick }, text);

/** @param {number | null} change  Nothing under half a hundredth is called a change. */
const tone = (change) => (change === null || Math.abs(change) < 0.005 ? "" : change > 0 ? "more" : "less");

/** What A writes, one step per row. @param {Kept[]} runs @param {Row[]} rows @returns {Step[]} */
function stepsOf([first], rows) {
  const names = writes(/** @type {Trace} */ (first.given));
  return rows.map(({ index }) => ({ ...alone(names[index]), reads: null }));
}

/** @param {Row} row @param {number} n  of a run @returns {number | null}  its log-probability in A, or the change from it */
function entry({ logprobs: [first, ...others] }, n) {
  const here = n === 0 ? 0 : others[n - 1];
  if (first === null || here === null) return null;
  return n === 0 ? first : here - first;
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

/** @param {Kept[]} runs @returns {import("../../core/compute/computed-tensors.js").Shown | null} */
function numbers(runs) {
  const rows = runs.length ? tokenRows(runs) : null;
  if (!rows) return null;
  const shape = [rows.length, runs.length];
  const values = rows.flatMap(({ logprobs }) => logprobs.map((value) => value ?? NaN));
  const own = runs.map((run) => (traceOf(run) ? logprob(/** @type {Trace} */ (traceOf(run)).output) : NaN));
  return {
    tokens: { written: named(stepsOf(runs, rows)), run: runs.map(({ letter, run }) => ({ text: `${letter}: ${run.source}` })) },
    tensors: {
      logprob: tensor({ query: "written", key: "run" }, shape, values),
      "output.logprob": tensor({ key: "run" }, [runs.length], own),
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
  const measure = ruler(theme);
  const said = runs.map((run) => {
    const trace = traceOf(run);
    const made = changes(run.run).map((change) => plainly(change, { ...context.store.get(), trace }, context.t));
    return `${run.letter}  ${[run.run.source, ...made].join("; ")} → ${trace?.output.text ?? ""}`;
  });
  const texts = said.map((text, n) => s("text", { x: size, y: high * (n + 0.7) }, text));
  const top = high * (runs.length + 0.5);
  const steps = stepsOf(runs, rows);
  const right = (/** @type {number} */ n) => size * (14 + 5.5 * n);
  const cells = heads(context.t, runs).map((text, n) => s("text", { x: right(n), y: top + size, "text-anchor": "end", fill: theme.muted }, text));
  const lines = rows.flatMap((row, i) => {
    const y = top + high * (i + 1) + size;
    const entries = runs.map((_, n) => entry(row, n));
    const numbers = entries.map((value, n) => s("text", { x: right(n), y, "text-anchor": "end" }, value === null ? "" : n ? gain(value) : two(value)));
    return [s("text", { x: size * 8, y, "text-anchor": "end" }, plain(steps[i].writes)), ...numbers];
  });
  const width = Math.max(right(runs.length), ...said.map((text) => 2 * size + measure(text)));
  return { svg: file(drawing(width, top + high * (rows.length + 1), theme, ...texts, ...cells, ...lines), theme) };
}
