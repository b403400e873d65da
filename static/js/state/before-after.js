/**
 * Before and after: the machine as it was trained, run on the page's sentence, and the changed one
 * that is made to write the same translation, so that a row of one is the same step as in the other.
 */

import { align } from "../compute/token-diff.js";
import { Problem } from "../data/problem.js";
import { attention, axes, blockOf, place, typed } from "../data/attentions.js";
import { isChanged } from "./interventions.js";
import { compared } from "./comparison.js";
import { memo, together } from "../lib/memo.js";
import { otherOf, shownAs } from "./two-runs.js";
import { answer, traced } from "./view-requests.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {import("./view-requests.js").Question} Question */
/** @typedef {import("../data/tokens.js").Label} Label */
/** @typedef {import("./comparison.js").Comparison} Comparison */
/**
 * @typedef {object} Runs
 * @property {Trace} before  the machine as it was trained
 * @property {Trace} after  the changed one, held to the translation of the other
 */
/**
 * @typedef {object} Row  one written token of the unchanged translation
 * @property {number} index
 * @property {number | null} own  its place in the page's own translation; null where that has it not
 * @property {number} before  probability
 * @property {number} after
 * @property {[number, number] | null} ranks  among all of the vocabulary, from 1; null where nobody counted
 */

/**
 * What is compared of the runs beside what they write. A share holds all of it, whatever part is open.
 * @param {Page} page
 * @returns {string[]}
 */
function select({ model, link, share }) {
  const shown = share || link.view !== "whatif" || link.options.effect === "attention";
  return shown ? [place(model, link, "weights"), place(model, link, "mask")] : [];
}

/** @param {Page} page @returns {Question}  the run without any change */
export const unchanged = (page) => traced(page, { interventions: null, select: select(page) });

/** @param {Trace} trace */
const ids = ({ output }) => output.tokens.map(({ id }) => id);

/**
 * What makes a run write the tokens of another one. A text that was given is cut into the same
 * tokens again; one that the model wrote need not be, and is held to the very ids.
 * @param {import("./link.js").State} link
 * @param {Trace} before
 * @returns {{target: string} | {target: null, decode: object}}
 */
export function writing({ target }, before) {
  if (target !== null) return { target };
  const prefix = ids(before);
  return { target, decode: { method: "greedy", prefix, max_tokens: prefix.length } };
}

/**
 * @param {Page} page
 * @param {Trace} before  the unchanged run
 * @returns {Question}  the changed machine, made to write the same
 */
export const held = (page, before) =>
  traced(page, { ...writing(page.link, before), interventions: page.link.interventions, select: select(page) });

/**
 * Shares once held the changed machine to the text: as good where it was cut into the same tokens.
 * @param {Page} page
 * @param {Trace} before
 */
function earlier(page, before) {
  if (!page.share || page.live) return undefined;
  const byText = traced(page, { target: before.output.text, decode: null, interventions: page.link.interventions, select: select(page) });
  const after = /** @type {Trace | Problem | undefined} */ (answer(page, byText));
  if (!after || after instanceof Problem) return undefined;
  return String(ids(after)) === String(ids(before)) ? after : undefined;
}

/**
 * The changed run, where that writes the same as the unchanged one: it need not be made to.
 * @param {Page} page
 * @param {Trace} before
 */
function alike(page, before) {
  const changed = shownAs(page.link) === "changed" ? page : otherOf(page);
  const { status, trace } = changed ?? { status: "waiting", trace: null };
  return status === "ready" && trace && String(ids(trace)) === String(ids(before)) ? trace : null;
}

/**
 * @param {Page} page
 * @param {Page} [as]  the page whose selection they have
 * @returns {Question[]}  as far as they can be asked by now
 */
export function questions(page, as = page) {
  const before = /** @type {Trace | Problem | undefined} */ (answer(page, unchanged(page)));
  const known = before && !(before instanceof Problem) && isChanged(page.link) && !alike(page, before);
  return [unchanged(as), ...(known ? [held(as, before)] : [])];
}

/** @param {Page} page @returns {Question[]}  what a share of the page has to hold */
export const kept = (page) => questions(page, { ...page, share: /** @type {any} */ (page.share ?? {}) });

/** @param {Page} page @returns {Runs | Problem | null}  null while something is on its way */
export function runs(page) {
  const before = /** @type {Trace | Problem | undefined} */ (answer(page, unchanged(page)));
  if (!before || before instanceof Problem) return before ?? null;
  if (!isChanged(page.link)) return { before, after: before };
  const answered = /** @type {Trace | Problem | undefined} */ (answer(page, held(page, before)));
  const after = earlier(page, before) ?? answered ?? alike(page, before);
  if (!after || after instanceof Problem) return after ?? null;
  return { before, after };
}

/** @param {Trace} trace */
const written = ({ output }) => output.tokens.map(({ id, text }) => `${id} ${text}`);

/**
 * @param {Trace} a
 * @param {Trace} b
 * @returns {(number | null)[]}  for each token that a writes, which of b's it is
 */
function partners(a, b) {
  const pairs = align(written(a), written(b));
  return a.output.tokens.map((_, i) => pairs.find((pair) => pair.a === i)?.b ?? null);
}

/**
 * @param {Runs} runs
 * @param {Trace} own  the page's
 * @returns {Row[]}
 */
export function rowsOf({ before, after }, own) {
  const mine = partners(before, own);
  const [was, is] = [before, after].map(({ output }) => output.ranks);
  return before.output.tokens.map((_, index) => ({
    index,
    own: mine[index],
    before: Math.exp(before.output.logprobs[index]),
    after: Math.exp(after.output.logprobs[index]),
    ranks: was?.length && is?.length ? [was[index], is[index]] : null,
  }));
}

/**
 * A translation cut where the other one differs.
 * @param {Trace} trace
 * @param {Trace} other
 * @returns {{text: string, differs: boolean}[]}  special tokens left out
 */
export function pieces(trace, other) {
  const found = partners(trace, other);
  /** @type {{text: string, differs: boolean}[]} */
  const cut = [];
  trace.output.tokens.forEach(({ text, special }, i) => {
    if (special) return;
    const differs = found[i] === null;
    const last = cut.at(-1);
    if (last?.differs === differs) last.text += text;
    else cut.push({ text, differs });
  });
  if (cut.length) cut[0].text = cut[0].text.trimStart();
  return cut;
}

/**
 * The present head's attention before and after; a place of it is pinned by the page's own tokens.
 * @param {Page} page
 * @returns {Comparison | null}
 */
export function attentions(page) {
  const found = runs(page);
  const { link, model, trace } = page;
  if (!trace || !found || found instanceof Problem) return null;
  const { before, after } = found;
  const name = `attentions ${link.block} ${link.layer} ${link.head}`;
  return memo(together(before, after, trace), name, () => {
    const [a, b] = [before, after].map((run) => {
      const matrix = attention(model, run, link);
      return matrix && { matrix, ...axes(model, run, link.block) };
    });
    if (!a || !b) return null;
    const both = compared(a, b);
    return { ...both, rows: pinned(both.rows, "query"), cols: pinned(both.cols, "key") };
  });

  /** @param {Comparison["rows"]} axis @param {"query" | "key"} which @returns {Comparison["rows"]} */
  function pinned(axis, which) {
    if (blockOf(model, link.block)[which] === typed(model)) return axis;
    const own = partners(before, /** @type {Trace} */ (trace));
    // A key of what is written is read one step after it was written.
    const late = which === "key" ? 1 : 0;
    const at = (/** @type {number} */ i) => (i < late ? i : (own[i - late] ?? null));
    const mine = (/** @type {number | null} */ i) => (i === null || at(i) === null ? null : Number(at(i)) + (i < late ? 0 : late));
    return { ...axis, pairs: axis.pairs.map((pair) => ({ ...pair, a: mine(pair.a) })) };
  }
}
