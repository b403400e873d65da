/**
 * What the changes to the model did, in one sentence that is the same in every view; and, on
 * request, the head that matters most here.
 */

import { predictionAt } from "../core/compute/predictions.js";
import { quoted } from "../core/draw/token.js";
import { wording } from "../core/figure/problem-wording.js";
import { changes, isChanged } from "../core/store/interventions.js";
import { placeOfChange } from "../core/store/model-part-names.js";
import { runKind, withOtherRun } from "../core/store/runs-with-and-without-changes.js";
import { answer, ownRun, runQuestion } from "../core/store/view-requests.js";
import {
  attention, blockAt, crossBlock, extent, place, placeOf, predictingBlock, typedText,
} from "../core/wire/model-description.js";
import { isLong } from "../core/wire/long-texts.js";
import { Problem, counted, logprob, outputKind, rowOf } from "../core/wire/reply.js";
import { languages, traceLabels } from "../core/wire/tokens.js";
import { el, h, render } from "../lib/dom.js";
import { memo, together } from "../lib/memo.js";
import { two } from "../lib/numbers.js";
import { NOTHING, likelihood } from "../views/whatif/before-after.js";
import { strongest, sweeper } from "../views/whatif/head-sweep.js";
import { sweepRequest } from "../views/whatif/sweep-grids.js";
import { align } from "../core/compute/token-diff.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { Question } from "../core/store/view-requests.js" */
/** @import { Matrix, Trace } from "../core/wire/safetensors.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Child } from "../lib/dom.js" */
/** @import { PageServices } from "./main-figure.js" */
/** @import { Pair } from "../core/compute/token-diff.js" */

/** @typedef {Trace["output"]} Output */
/** @typedef {{before: number[], after: number[]}} Replacement  indices of the tokens of both outputs; none: added, or lost */
/**
 * @typedef {object} ChangeEffect
 * @property {Replacement[]} replaced  in the order of the text; none: the same tokens
 * @property {number | null} nats  how the log-probability of the output changed; null: it has other tokens
 * @property {{index: number, before: number, after: number} | null} step  the token whose probability
 *   changed most; null: none changed, or the tokens are others
 * @property {boolean} unfinished  whether only the changed model did not come to an end
 */

/** Changes below this are not said, in probability or in nats: they print as 0.00. */
const UNSEEN_CHANGE = 0.005;

/**
 * @param {Output} before
 * @param {Output} after
 * @param {((index: number) => number | null) | null} [sourceOf]  the source token that a written token translates, by
 *   its index in `before`; null: not known
 * @returns {ChangeEffect | null}  null: neither writes anything
 */
export function changeEffect(before, after, sourceOf = null) {
  if (!before.tokens.length && !after.tokens.length) return null;
  const pairs = align(names(before), names(after));
  const unfinished = before.finished && !after.finished;
  if (pairs.every(({ a, b }) => a !== null && b !== null))
    return { replaced: [], nats: logprob(after) - logprob(before), step: largestStep(before, after), unfinished };
  return { replaced: replacements(pairs, before, after, sourceOf), nats: null, step: null, unfinished };
}

/** Whether the changes made no difference that would be seen in two decimals. @param {ChangeEffect} effect */
export const isUnaffected = ({ replaced, nats, step, unfinished }) =>
  !replaced.length && !unfinished && nats !== null && Math.abs(nats) < UNSEEN_CHANGE && step === null;

/** From this share of their weights on the same keys, two heads are said to look at the same. */
const ALIKE = 0.7;

/**
 * The heads whose weights lie on the same keys as those of another head.
 * @param {Matrix} reference  of the head
 * @param {(Matrix | null)[]} matrices  of the same layer, by head; null: not known, or the head itself
 * @returns {number[]}  those that share most first
 */
export function alikeHeads(reference, matrices) {
  const shares = matrices.map((matrix, head) => ({ head, share: matrix ? sharedWeight(reference, matrix) : 0 }));
  return shares.filter(({ share }) => share >= ALIKE).sort((a, b) => b.share - a.share).map(({ head }) => head);
}

/** How much of the weight of two heads is on the same keys, as a mean over the rows. @param {Matrix} a @param {Matrix} b */
function sharedWeight(a, b) {
  let shared = 0;
  for (let i = 0; i < a.values.length; i++) shared += Math.min(a.values[i], b.values[i]) || 0; // masked: NaN
  return shared / a.rows;
}

/** @param {Output} output */
const names = ({ tokens }) => tokens.map(({ id, text }) => `${id} ${text}`);

/**
 * @param {Output} before
 * @param {Output} after  with the same tokens
 * @returns {ChangeEffect["step"]}
 */
function largestStep(before, after) {
  const steps = before.tokens.flatMap(({ template }, index) =>
    template ? [] : [{ index, before: Math.exp(before.logprobs[index]), after: Math.exp(after.logprobs[index]) }],
  );
  const change = (/** @type {typeof steps[number]} */ step) => Math.abs(step.after - step.before);
  const [first] = steps.sort((a, b) => change(b) - change(a));
  return first && change(first) >= UNSEEN_CHANGE ? first : null;
}

/**
 * @param {Pair[]} pairs
 * @param {Output} before
 * @param {Output} after
 * @param {((index: number) => number | null) | null} sourceOf
 * @returns {Replacement[]}  without special tokens; a word of several tokens is replaced as a whole
 */
function replacements(pairs, before, after, sourceOf) {
  const isEqual = (/** @type {Pair} */ { a, b }) => a !== null && b !== null;
  const isReplaced = pairs.map((pair) => !isEqual(pair));
  if (sourceOf) {
    const wordOf = (/** @type {Pair} */ { a }) => (a === null || before.tokens[a].special ? null : sourceOf(a));
    const grow = (/** @type {number} */ from, /** @type {number} */ by) => {
      const word = wordOf(pairs[from]);
      for (let n = from + by; word !== null && pairs[n] && (isReplaced[n] || wordOf(pairs[n]) === word); n += by) isReplaced[n] = true;
    };
    pairs.forEach((pair, n) => isEqual(pair) || (grow(n, -1), grow(n, 1)));
  }
  /** @type {Replacement[]} */
  const groups = [];
  pairs.forEach(({ a, b }, n) => {
    if (!isReplaced[n]) return;
    if (!n || !isReplaced[n - 1]) groups.push({ before: [], after: [] });
    const group = groups[groups.length - 1];
    if (a !== null && !before.tokens[a].special) group.before.push(a);
    if (b !== null && !after.tokens[b].special) group.after.push(b);
  });
  return groups.filter((group) => group.before.length || group.after.length);
}

/** @typedef {{before: Trace, after: Trace}} RunPair  of the model as trained, and of the changed one */

/** Number of replaced words that are listed. */
const LISTED = 3;
/** Below this many nats, heads that may stand in for the one that is off are named. */
const LITTLE = 0.25;

/** @param {Page} page @returns {RunPair | null}  null: not known yet, or one of them failed */
function bothRuns(page) {
  if (!isChanged(page.link) || page.status !== "ready" || !page.trace || isLong(page.trace)) return null;
  const otherPage = withOtherRun(page);
  const run = page.runs[runKind(otherPage.link)];
  const otherTrace = run?.of === ownRun(otherPage) ? run.trace : /** @type {Trace | Problem | undefined} */ (answer(page, runQuestion(otherPage, { select: [] })));
  if (!otherTrace || otherTrace instanceof Problem) return null;
  return runKind(page.link) === "changed" ? { before: otherTrace, after: page.trace } : { before: page.trace, after: otherTrace };
}

/**
 * The run that tells which source word a written token translates, by the head that aligns best.
 * @param {Page} page
 * @returns {Question | null}  null: the model has no such head
 */
function alignmentQuestion(page) {
  const head = aligner(page.model);
  return head && runQuestion(page, { interventions: null, select: [place(page.model, head, "weights")] });
}

/** @param {Page["model"]} model */
function aligner(model) {
  const best = model?.aligners?.find(({ rows }) => rows === "writes");
  return best ? { block: crossBlock(model).id, layer: best.layer, head: best.head } : null;
}

/** What the sentence needs besides what the page has. @param {Page} page @returns {Question[]} */
export function effectQuestions(page) {
  if (!isChanged(page.link) || page.share) return [];
  const runs = bothRuns(page);
  const alignment = runs && runs.before.output.text !== runs.after.output.text ? alignmentQuestion(page) : null;
  return [runQuestion(withOtherRun(page), { select: [] }), ...(alignment ? [alignment] : [])];
}

/**
 * The source token that a written token translates.
 * @param {Page} page
 * @param {Trace} before
 * @returns {((index: number) => number | null) | null}
 */
function sourceOf(page, before) {
  const { model } = page;
  const [head, question] = [aligner(model), alignmentQuestion(page)];
  if (!head || !question) return null;
  const aligned = /** @type {Trace | Problem | undefined} */ (answer(page, question));
  const matrix = attention(model, before, head) ?? (aligned && !(aligned instanceof Problem) ? attention(model, aligned, head) : null);
  if (!matrix) return null;
  const tokens = before.tokens[typedText(model)] ?? [];
  return (index) => {
    if (index >= matrix.rows) return null;
    const row = Array.from(matrix.values.subarray(index * matrix.cols, (index + 1) * matrix.cols));
    const key = row.indexOf(Math.max(...row));
    return tokens[key] && !tokens[key].special ? key : null;
  };
}

/** @param {Page} page @param {RunPair} runs */
function effectOf(page, { before, after }) {
  const source = sourceOf(page, before);
  return memo(together(before, after), `effect ${source !== null}`, () => changeEffect(before.output, after.output, source));
}

/** What the model writes, at the beginning of a sentence. @param {Translate} t @param {Page} page */
const subject = (t, { model, link }) =>
  link.target !== null
    ? t("The given text")
    : { translation: t("The translation"), output: t("The output"), text: t("The text"), mask: t("The word at the mask") }[outputKind(model)];

/**
 * @param {PageServices} services
 * @param {RunPair} runs
 * @returns {Child[]}
 */
function effectSentence(services, runs) {
  const { store, t, phrase } = services;
  const page = store.get();
  const effect = effectOf(page, runs);
  if (!effect) return [t("This model writes nothing here: what the change does is seen in its attention.")];
  const subjectName = subject(t, page);
  const next = nextToken(services, runs);
  if (next) return next;
  const end = effect.unfinished ? [" ", t("It does not come to an end any more.")] : [];
  if (isUnaffected(effect)) return [t("Nothing changes: what the model writes is the same, and as likely as before."), ...alikeSentence(services, runs)];
  if (effect.replaced.length) return [...replacedSentence(services, runs, effect, subjectName), ...end];
  if (effect.nats === null) return [subjectName, ...end];
  const likelySentence = page.link.target !== null
    ? phrase(t("{what} became {likely}."), { what: subjectName, likely: el("b", {}, likelihood(t, effect.nats)) })
    : phrase(t("{what} stays the same; it became {likely}."), { what: subjectName, likely: el("b", {}, likelihood(t, effect.nats)) });
  const alike = Math.abs(effect.nats) < LITTLE ? alikeSentence(services, runs) : [];
  return [...likelySentence, ...stepSentence(services, runs, effect), ...alike, ...end];
}

/**
 * If one head was switched off: the heads of its layer that look at the same, as far as the page has their weights.
 * @param {PageServices} services
 * @param {RunPair} runs
 * @returns {Child[]}
 */
function alikeSentence({ store, t }, { before }) {
  const { link, model } = store.get();
  const [change, ...furtherChanges] = changes(link);
  const address = String(change?.at);
  const location = placeOf(model, address);
  if (furtherChanges.length || !location || change?.do !== "zero" || typeof change.head !== "number" || change.rows) return [];
  const ofHead = (/** @type {number} */ head) => attention(model, before, { ...location, head });
  const matrix = ofHead(change.head);
  if (!matrix) return [];
  const matrices = Array.from({ length: extent(model, location.block).heads }, (_, head) => (head === change.head ? null : ofHead(head)));
  const heads = alikeHeads(matrix, matrices).slice(0, LISTED).sort((a, b) => a - b);
  if (!heads.length) return [];
  const headsOfPlace = heads.length === 1 ? { head: heads[0] } : { heads };
  return [" ", t("Other heads look at nearly the same: {heads}.", { heads: placeOfChange({ at: address, do: "zero", ...headsOfPlace }, t, model) })];
}

/**
 * What was replaced, and the step where it began.
 * @param {PageServices} services
 * @param {RunPair} runs
 * @param {ChangeEffect} effect
 * @param {string} subjectName
 */
function replacedSentence(services, { before, after }, { replaced }, subjectName) {
  const { store, t, phrase } = services;
  const page = store.get();
  const source = sourceOf(page, before);
  const read = traceLabels(before).texts[typedText(page.model)] ?? [];
  const word = (/** @type {Trace} */ { output, direction }, /** @type {number[]} */ indices) =>
    el("span", { lang: languages(direction)[1] }, indices.map((index) => output.tokens[index].text).join("").trim());
  /** @param {Replacement} replacement */
  function replacementWords(replacement) {
    const [key] = source ? replacement.before.flatMap((index) => source(index) ?? []) : [];
    const values = { source: key === undefined ? "" : el("em", { className: "as-key" }, quoted(read[key])), before: el("del", { className: "gone" }, word(before, replacement.before)), after: el("ins", { className: "new" }, word(after, replacement.after)) };
    if (!replacement.before.length) return phrase(t("{after} is added"), values);
    if (key === undefined) return replacement.after.length ? phrase("{before} → {after}", values) : phrase(t("{before} is lost"), values);
    return replacement.after.length ? phrase(t("{source}: {before} → {after}"), values) : phrase(t("{source} is lost: {before}"), values);
  }
  const listed = replaced.slice(0, LISTED).flatMap((replacement, n) => [...(n ? [t("; ")] : []), ...replacementWords(replacement)]);
  const moreWords = replaced.length > LISTED ? [" ", t("(and {count} more)", { count: replaced.length - LISTED })] : [];
  const first = replaced[0].before[0] ?? replaced[0].after[0];
  return phrase(t("{what} changes from {step} on: {words}."), { what: subjectName, step: stepButton(services, before, first), words: el("span", { className: "replaced" }, listed, moreWords) });
}

/**
 * The step whose probability changed most.
 * @param {PageServices} services
 * @param {RunPair} runs
 * @param {ChangeEffect} effect
 * @returns {Child[]}
 */
function stepSentence(services, { before }, { step }) {
  const { t, phrase } = services;
  if (!step) return [];
  const token = el("span", { className: "as-query" }, quoted(traceLabels(before).written[step.index]));
  return [" ", ...phrase(t("The most at {step}, {token}: {before} → {after}."), { step: stepButton(services, before, step.index), token, before: two(step.before), after: two(step.after) })];
}

/**
 * A button that pins a step.
 * @param {PageServices} services
 * @param {Trace} before
 * @param {number} index  of its token
 */
function stepButton({ store, t }, before, index) {
  const pin = () => {
    const page = store.get();
    const { writes, predicts } = blockAt(page);
    const moved = writes || predicts ? {} : { block: predictingBlock(page.model).id };
    store.go({ ...moved, query: rowOf(before.output, index), key: null }, "pinned");
  };
  return el("button", { type: "button", className: "button quiet step-of-change", onclick: pin }, t("step {n}", { n: index + 1 }));
}

/**
 * What a model of one text predicts, where it writes nothing more.
 * @param {PageServices} services
 * @param {RunPair} runs
 * @returns {Child[] | null}  null: it writes a text, or fills a mask
 */
function nextToken({ store, t, phrase }, { before, after }) {
  const { model } = store.get();
  if (!model || outputKind(model) !== "text" || before.output.continues) return null;
  const [first, second] = [before, after].map((trace) => predictionAt(trace, model, null)?.candidates[0]);
  if (!first || !second) return null;
  const named = (/** @type {typeof first} */ { text }) => el("b", { className: "as-query" }, text.trim() || text);
  const values = { before: named(first), after: named(second), was: two(first.probability), now: two(second.probability) };
  return first.id === second.id
    ? phrase(t("The next token stays {before}: {was} → {now}."), values)
    : phrase(t("The next token changes: {before} ({was}) → {after} ({now})."), values);
}

/**
 * @param {PageServices} services
 * @returns {{sentence: HTMLElement, search: HTMLElement}}  the sentence; and the button that tries every head
 */
export function bindChangeEffect(services) {
  const { store } = services;
  const sentence = h("p", { className: "change-effect", role: "status" });
  const headSearch = createHeadSearch(services);
  function show() {
    const runs = bothRuns(store.get());
    render(sentence, runs ? effectSentence(services, runs) : [" "]);
    headSearch.show(runs);
  }
  store.subscribe(({ link, trace, status, runs, answers, model }) => [link, trace, status, runs, answers, model], show);
  show();
  return { sentence, search: headSearch.element };
}

/** The head without which the output is least likely: every head is tried when the button is pressed. @param {PageServices} services */
function createHeadSearch(services) {
  const { store, source, t, phrase, figure } = services;
  const element = h("span", { className: "head-search" });
  /** @type {RunPair | null} */
  let pair = null;
  const run = sweeper(source, () => show(pair));

  /** @param {RunPair} runs  The same request as that of the map, so that each is tried once. */
  function body({ before }) {
    const page = store.get();
    const options = { ...page.link.options, ablation: "zero", parts: "heads", over: false };
    return sweepRequest({ ...page, link: { ...page.link, options } }, before);
  }

  /** @param {RunPair | null} runs */
  function show(runs) {
    pair = runs;
    const { share, live, model } = store.get();
    const isOffered = runs?.before.output.tokens.length && model && (!share || live) && figure.offer().some(({ id }) => id === "whatif");
    if (!isOffered) return render(element, []);
    const { key, sweep, problem, running } = run.state();
    if (key !== JSON.stringify(body(runs))) {
      run.stop();
      return render(element, el("button", { type: "button", className: "button", onclick: () => void run.ask(body(runs), true) }, t("Which head matters most?")));
    }
    if (problem) return render(element, el("span", { className: "bad" }, wording(t, problem)));
    if (running || !sweep || sweep.done < sweep.total) return render(element, el("span", {}, t("{done} of {total} heads tried", { done: sweep?.done ?? 0, total: sweep?.total ?? "…" })));
    render(element, strongestHead(sweep, runs));
  }

  /** @param {import("../views/whatif/head-sweep.js").Sweep} sweep @param {RunPair} runs @returns {Child[]} */
  function strongestHead(sweep, { before }) {
    const { model } = store.get();
    const [first] = strongest(sweep, counted(before.output), 1);
    if (!first || first.head === null || first.delta > -NOTHING) return [t("No single head matters here.")];
    const { place: address, head, delta } = first;
    const go = () => store.go({ ...placeOf(model, address), head, query: null, key: null }, "chosen");
    const name = el("button", { type: "button", className: "button quiet", onclick: go }, placeOfChange({ at: address, head, do: "zero" }, t, model));
    return phrase(t("{head} matters most: {likely} without it."), { head: name, likely: likelihood(t, delta) });
  }

  return { element, show };
}
