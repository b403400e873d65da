/**
 * Before and after: the model as trained, run on the page's sentence, and the changed model with
 * the same translation as its target, so that each row is the same step in both.
 */

import { align } from "../../core/compute/token-diff.js";
import { token } from "../../core/draw/token.js";
import { makeOneStop } from "../../core/figure/pointing.js";
import { compared } from "../../core/store/comparison.js";
import { isChanged } from "../../core/store/interventions.js";
import { otherRunPage, runKind } from "../../core/store/runs-with-and-without-changes.js";
import { answer, runQuestion } from "../../core/store/view-requests.js";
import { attention, axes, blockOf, place, typedText } from "../../core/wire/model-description.js";
import { Problem, continuesAt, counted, outputKind, writtenTokens as ownTokens } from "../../core/wire/reply.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { memo, together } from "../../lib/memo.js";
import { plus, times, two } from "../../lib/numbers.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Comparison } from "../../core/store/comparison.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Question } from "../../core/store/view-requests.js" */
/** @import { Kind } from "../../core/wire/reply.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */
/** @import { Translate } from "../../lib/i18n.js" */

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

// What the view says of an output: a translation, a text that is continued, or words at masks.

/**
 * The effect of the changes, as `phrase` takes it.
 * @param {Translate} t
 * @param {Kind} kind
 * @param {boolean} isSame  whether the changed model writes the same
 */
export function effect(t, kind, isSame) {
  const sentences = {
    translation: () => isSame
      ? t("The translation stays the same. It is now {likely} ({change} nats; log-probability {before} → {after}).")
      : t("The translation changes. The original translation is now {likely} ({change} nats; log-probability " +
          "{before} → {after})."),
    output: () => isSame
      ? t("The output stays the same. It is now {likely} ({change} nats; log-probability {before} → {after}).")
      : t("The output changes. The original output is now {likely} ({change} nats; log-probability {before} → {after})."),
    text: () => isSame
      ? t("The text continues the same way. With its continuation it is now {likely} ({change} nats; log-probability {before} → {after}).")
      : t("The text continues differently. With its original continuation it is now {likely} ({change} nats; " +
          "log-probability {before} → {after})."),
    mask: () => isSame
      ? t("The mask is filled in the same way, which is now {likely} ({change} nats; log-probability {before} → {after}).")
      : t("The mask is filled in differently. What stood there is now {likely} ({change} nats; log-probability " +
          "{before} → {after})."),
  };
  return sentences[kind]();
}

/** All tokens together, within a sentence. @param {Translate} t @param {Kind} kind */
export const theWhole = (t, kind) =>
  ({ translation: t("the whole translation"), output: t("the whole output"), text: t("the whole text"), mask: t("what fills the mask") })[kind];

/** All tokens together, as a title. @param {Translate} t @param {Kind} kind */
export const whole = (t, kind) =>
  ({ translation: t("whole translation"), output: t("whole output"), text: t("whole text"), mask: t("what fills the mask") })[kind];

/** What both runs have in common. @param {Translate} t @param {Kind} kind */
export const basis = (t, kind) =>
  ({
    translation: t("The changed model is given the original translation, so each row is the same step. Ring: before; disc: after."),
    output: t("The changed model is given the original output, so each row is the same step. Ring: before; disc: after."),
    text: t("The changed model is given the same text and continuation: each row is the probability of a token after those before it. Ring: before; disc: after."),
    mask: t("Each row is a mask, with the word that the model as trained puts there. Ring: before; disc: after."),
  })[kind];

/** What the map's colours mean. @param {Translate} t @param {Kind} kind */
export const key = (t, kind) =>
  ({
    translation: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "translation is less probable. Blue (above zero): the head works against the translation. Click to " +
      "switch off; click again to restore."),
    output: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "output is less probable. Blue (above zero): the head works against the output. Click to switch off; click " +
      "again to restore."),
    text: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "text is less probable. Blue (above zero): the head works against the text. Click to switch off; click " +
      "again to restore."),
    mask: t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "word is less probable. Blue (above zero): the head works against the word. Click to switch off; click " +
      "again to restore."),
  })[kind];

/** What the colours of sublayers mean. @param {Translate} t */
export const sublayerKey = (t) =>
  t("The number is the change in log-probability, in nats, when the sublayer adds nothing and only its residual connection is passed on. " +
    "Orange (below zero): the sublayer helps. Click to switch off; click again to restore.");

/** What the colours of pairs mean. @param {Translate} t */
export const pairKey = (t) =>
  t("The number is what both heads together change in log-probability, minus the sum of what each changes alone, in nats. Orange (below " +
    "zero): each stands in for the other, so that losing both costs more. Blue: one is of little use without the other, so that losing both " +
    "costs less. Click to change both; click again to restore.");

/** What the model writes itself, as trained or changed: the name of its line. @param {Translate} t @param {string} mask */
export const needsMask = (t, mask) =>
  t("This model only predicts words at a mask. Put {mask} in place of a word to see what changes do to it.", { mask });

// Describe a difference of log-probabilities in words.

/** Below this many nats nothing is said to have changed: it prints as 0.00. */
export const NOTHING = 0.005;
/** From this ratio on, a text is so many times less likely; above it, so many times as likely. */
const HALF = -Math.LN2;
/** Above this many nats, two decimals of the ratio say nothing more. */
const TENFOLD = Math.LN10;

/**
 * The wording of every view, so that no two say the same differently.
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {number} nats  after − before
 * @returns {string}  such as "1.17 times as likely"
 */
export function likelihood(t, nats) {
  if (Math.abs(nats) < NOTHING) return t("as likely as before");
  if (nats < HALF) return t("{ratio} times less likely", { ratio: times(-nats) });
  return t("{ratio} times as likely", { ratio: nats < TENFOLD ? two(Math.exp(nats)) : times(nats) });
}

/** @param {number} nats  With its sign. */
export const inNats = (nats) => plus(nats, two);

// Choose one written token, or all of them.

/** @param {Trace} trace  What it writes. */
export const writes = ({ output, direction }) => labels(output.tokens, languages(direction)[1]);

/** @param {Context} context */
export function rowPicker({ store, t }) {
  const element = h("div", { className: "sweep-rows", role: "group", "aria-label": t("Written token") });
  makeOneStop(element);

  return {
    element,
    /** @param {Trace} trace @param {number | null} row @param {boolean} all  whether all of them can be chosen */
    show(trace, row, all) {
      const kind = outputKind(store.get().model);
      const from = continuesAt(store.get().model, trace.output);
      const names = writes(trace);
      const choice = (/** @type {import("../../lib/dom.js").Child} */ name, /** @type {number | null} */ written) =>
        el("button", { type: "button", className: `chip${Number(written) >= from ? " continued" : ""}`, "aria-pressed": written === row, title: written === null ? whole(t, kind) : Number(written) >= from ? t("written by the model") : "", onclick: () => store.choose({ written, against: null }) }, name);
      render(element, all && choice(t("all"), null), counted(trace.output).map((index) => choice(token(names[index]), index)));
    },
  };
}
