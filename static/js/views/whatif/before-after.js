/**
 * Before and after: the model as trained, run on the page's sentence, and the changed model with
 * the same translation as its target, so that each row is the same step in both.
 */

import { align } from "../../core/compute/token-diff.js";
import { Problem, counted, writtenTokens as ownTokens } from "../../core/wire/reply.js";
import { attention, axes, blockOf, place, typedText } from "../../core/wire/model.js";
import { isChanged } from "../../core/store/interventions.js";
import { compared } from "../../core/store/comparison.js";
import { memo, together } from "../../lib/memo.js";
import { otherRunPage, runKind } from "../../core/store/runs-with-and-without-changes.js";
import { answer, runQuestion } from "../../core/store/view-requests.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/** @import { Question } from "../../core/store/view-requests.js" */
/** @import { Comparison } from "../../core/store/comparison.js" */
/**
 * @typedef {object} Runs
 * @property {Trace} before  the model as trained
 * @property {Trace} after  the changed model, with the original's translation as its target
 */
/**
 * @typedef {object} Row  one written token of the original translation
 * @property {number} index  of its token in the output
 * @property {number | null} shownIndex  its index in the page's own translation; null if it is not there
 * @property {number} before  probability
 * @property {number} after
 * @property {[number, number] | null} ranks  in the whole vocabulary, from 1; null if not recorded
 */

/**
 * Tensors to compare besides the output. A share contains all of them, whichever part is open.
 * @param {Page} page
 */
function select({ model, link, share }) {
  const showsAttention = share || link.view !== "whatif" || link.options.effect === "attention";
  return showsAttention ? [place(model, link, "weights"), place(model, link, "mask")] : [];
}

/** @param {Page} page @returns {Question}  the run without any change */
export const unchanged = (page) => runQuestion(page, { interventions: null, select: select(page) });

/** @param {Trace} trace */
const ids = ({ output }) => output.tokens.map(({ id }) => id);

/**
 * Options that make a run write the tokens of another run. A typed target is split into the same
 * tokens again; a text that the model wrote may be split differently, so it is forced by ids.
 * @param {Pick<import("../../core/store/link.js").State, "target">} link
 * @param {Trace} before
 * @returns {{target: string} | {target: null, decode: object}}
 */
export function writing({ target }, before) {
  if (target !== null) return { target };
  const prefix = ownTokens(before.output).map(({ id }) => id);
  return { target, decode: { method: "greedy", prefix, max_tokens: prefix.length } };
}

/**
 * @param {Page} page
 * @param {Trace} before  the original run
 * @returns {Question}  the changed model, writing the same tokens
 */
export const forcedRun = (page, before) =>
  runQuestion(page, { ...writing(page.link, before), interventions: page.link.interventions, select: select(page) });

/**
 * Old shares gave the text as the target: equivalent if it was split into the same tokens.
 * @param {Page} page
 * @param {Trace} before
 */
function earlier(page, before) {
  if (!page.share || page.live) return undefined;
  const byText = runQuestion(page, { target: before.output.text, decode: null, interventions: page.link.interventions, select: select(page) });
  const after = /** @type {Trace | Problem | undefined} */ (answer(page, byText));
  if (!after || after instanceof Problem) return undefined;
  return String(ids(after)) === String(ids(before)) ? after : undefined;
}

/**
 * The changed run itself, if it writes the same tokens as the original anyway.
 * @param {Page} page
 * @param {Trace} before
 */
function equalChangedRun(page, before) {
  const changed = runKind(page.link) === "changed" ? page : otherRunPage(page);
  const { status, trace } = changed ?? { status: "waiting", trace: null };
  return status === "ready" && trace && String(ids(trace)) === String(ids(before)) ? trace : null;
}

/**
 * @param {Page} page
 * @param {Page} [as]  the page whose selection they use
 * @returns {Question[]}  those that can be sent now
 */
export function questions(page, as = page) {
  const before = /** @type {Trace | Problem | undefined} */ (answer(page, unchanged(page)));
  const needsForced = before && !(before instanceof Problem) && isChanged(page.link) && !equalChangedRun(page, before);
  return [unchanged(as), ...(needsForced ? [forcedRun(as, before)] : [])];
}

/** @param {Page} page @returns {Question[]}  what a share of the page has to hold */
export const sharedQuestions = (page) => questions(page, { ...page, share: /** @type {any} */ (page.share ?? {}) });

/** @param {Page} page @returns {Runs | Problem | null}  null while something is on its way */
export function runs(page) {
  const before = /** @type {Trace | Problem | undefined} */ (answer(page, unchanged(page)));
  if (!before || before instanceof Problem) return before ?? null;
  if (!isChanged(page.link)) return { before, after: before };
  const answered = /** @type {Trace | Problem | undefined} */ (answer(page, forcedRun(page, before)));
  const after = earlier(page, before) ?? answered ?? equalChangedRun(page, before);
  if (!after || after instanceof Problem) return after ?? null;
  return { before, after };
}

/** @param {Trace} trace */
const written = ({ output }) => output.tokens.map(({ id, text }) => `${id} ${text}`);

/**
 * @param {Trace} a
 * @param {Trace} b
 * @returns {(number | null)[]}  for each token that a writes, the index of the same token in b
 */
function partners(a, b) {
  const pairs = align(written(a), written(b));
  return a.output.tokens.map((_, i) => pairs.find((pair) => pair.a === i)?.b ?? null);
}

/**
 * @param {Runs} runs
 * @param {Trace} shownTrace  the page's
 * @returns {Row[]}  without the tokens of a chat's template
 */
export function rowsOf({ before, after }, shownTrace) {
  const mine = partners(before, shownTrace);
  const [was, is] = [before, after].map(({ output }) => output.ranks);
  return counted(before.output).map((index) => ({
    index,
    shownIndex: mine[index],
    before: Math.exp(before.output.logprobs[index]),
    after: Math.exp(after.output.logprobs[index]),
    ranks: was?.length && is?.length ? [was[index], is[index]] : null,
  }));
}

/**
 * What the model wrote, split where the other run differs.
 * @param {Trace} trace
 * @param {Trace} otherTrace
 * @returns {{text: string, differs: boolean}[]}  special tokens left out
 */
export function pieces(trace, otherTrace) {
  const partnerIndices = partners(trace, otherTrace);
  /** @type {{text: string, differs: boolean}[]} */
  const cut = [];
  trace.output.tokens.forEach(({ text, special }, i) => {
    if (special || i < (trace.output.continues ?? 0)) return;
    const differs = partnerIndices[i] === null;
    const last = cut.at(-1);
    if (last?.differs === differs) last.text += text;
    else cut.push({ text, differs });
  });
  if (cut.length) cut[0].text = cut[0].text.trimStart();
  return cut;
}

/**
 * The current head's attention before and after; pins refer to the page's own tokens.
 * @param {Page} page
 * @returns {Comparison | null}
 */
export function attentions(page) {
  const bothRuns = runs(page);
  const { link, model, trace } = page;
  if (!trace || !bothRuns || bothRuns instanceof Problem) return null;
  const { before, after } = bothRuns;
  const name = `attentions ${link.block} ${link.layer} ${link.head}`;
  return memo(together(before, after, trace), name, () => {
    const [a, b] = [before, after].map((run) => {
      const matrix = attention(model, run, link);
      return matrix && { matrix, ...axes(model, run, link.block) };
    });
    if (!a || !b) return null;
    const comparison = compared(a, b);
    return { ...comparison, rows: pinned(comparison.rows, "query"), cols: pinned(comparison.cols, "key") };
  });

  /** @param {Comparison["rows"]} axis @param {"query" | "key"} side */
  function pinned(axis, side) {
    if (blockOf(model, link.block)[side] === typedText(model)) return axis;
    const shownIndices = partners(before, /** @type {Trace} */ (trace));
    // A written token becomes a key one step later.
    const late = side === "key" ? 1 : 0;
    const partner = (/** @type {number} */ i) => (i < late ? i : (shownIndices[i - late] ?? null));
    const mine = (/** @type {number | null} */ i) => (i === null || partner(i) === null ? null : Number(partner(i)) + (i < late ? 0 : late));
    return { ...axis, pairs: axis.pairs.map((pair) => ({ ...pair, a: mine(pair.a) })) };
  }
}
