/**
 * A tour with six stops: each goes to a place, explains it, and asks the reader to do something.
 * Pure functions of the page and of its state when the stop began.
 */

import { blockAt, crossBlock, isBetweenTexts } from "../core/wire/model.js";
import { example } from "../core/store/highlight.js";
import { isChanged } from "../core/store/interventions.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { State } from "../core/store/link.js" */
/** @import { Translate } from "../lib/i18n.js" */
/**
 * @typedef {object} Stop
 * @property {string} id
 * @property {string} at  selectors of what it describes; the first visible one is used
 * @property {"left" | "right"} side  where its text is placed, so that it hides nothing
 * @property {"top" | "bottom"} narrow  the same on narrow screens
 * @property {(t: Translate, page: Page, began: Page) => {title: string, says: string, task: string, done: string}} words
 * @property {(page: Page) => Partial<State>} go  where it goes
 * @property {(page: Page, began: Page) => boolean} [did]  whether its task was done; absent: the
 *   page reports it
 */

/**
 * Cross-attention at the head that aligns best, if known.
 * @param {Page} page
 * @returns {Partial<State>}
 */
function aligner({ model, link }) {
  const block = crossBlock(model).id;
  const best = model?.aligners?.find(({ rows }) => rows === "writes");
  if (!block || isBetweenTexts(blockAt({ model, link }))) return {};
  return { block, query: null, key: null, ...(best ? { layer: best.layer, head: best.head } : {}) };
}

/**
 * Heads of the shipped model whose absence is seen on the sentence with which the page begins: the translation changes, or
 * becomes much less likely.
 * @type {Record<string, {layer: number, head: number}>}
 */
const NEEDED_HEADS = { "en-zh": { layer: 0, head: 4 }, "zh-en": { layer: 2, head: 5 } };

/**
 * A cell of a head whose absence is seen.
 * @param {Page} page
 * @returns {Partial<State>}
 */
function neededHead(page) {
  const { model, trace, link } = page;
  const head = model?.id === "en-zh" ? NEEDED_HEADS[trace?.direction ?? ""] : undefined;
  if (!head || isChanged(link)) return cell(page);
  const [block, query] = [crossBlock(model).id, link.query ?? 0];
  return block ? { block, ...head, query, key: link.block === block ? link.key : null } : cell(page);
}

/** A cell to pin, unless one is pinned. @param {Page} page @returns {Partial<State>} */
const cell = (page) => (page.link.query === null ? (example(page) ?? {}) : {});

/**
 * The outcome of a change, in words.
 * @param {Translate} t
 * @param {Page} page
 * @param {Page} began
 */
function outcome(t, page, began) {
  const [before, after] = [began, page].map(({ trace }) => trace?.output.text ?? "");
  if (before === after) return t("Without this head the model writes the same translation. The sentence on the changed model says how likely it " +
    "still is.");
  return t("With this head the model wrote “{before}”, without it “{after}”.", { before, after });
}

/** @type {readonly Stop[]} */
export const STOPS = Object.freeze([
  {
    id: "sentence",
    at: "#source, #band-open",
    side: "right",
    narrow: "bottom",
    go: () => ({ view: "alignment", query: null, key: null }),
    did: ({ link }, began) => link.source !== began.link.source && link.source.trim() !== "",
    words: (t) => ({
      title: t("A sentence"),
      says: t("The model reads your sentence and writes a translation, one token at a time. The lines show which words " +
        "it looks at for each word that it writes."),
      task: t("Change a word of the sentence."),
      done: t("The model has translated it again. All numbers on this page come from that run."),
    }),
  },
  {
    id: "tokens",
    at: "#source-tokens, #band-open",
    side: "right",
    narrow: "bottom",
    go: () => ({ query: null, key: null }),
    did: ({ link }) => link.query !== null || link.key !== null,
    words: (t) => ({
      title: t("Tokens"),
      says: t("The model does not see letters. It sees tokens: words, or pieces of words. “·” is a space; tokens in " +
        "angle brackets are special, such as the end of the text."),
      task: t("Click a token."),
      done: t("The same token is marked wherever it occurs on the page. Click it again, or press Esc, to unpin it."),
    }),
  },
  {
    id: "head",
    at: "#heads, #rail-open",
    side: "right",
    narrow: "bottom",
    go: (page) => ({ view: "attention", ...aligner(page) }),
    did: ({ link }, began) => link.head !== began.link.head || link.layer !== began.link.layer || link.block !== began.link.block,
    words: (t) => ({
      title: t("A head"),
      says: t("A head is one way of looking: for each token it decides how much to look at every other token. In the " +
        "picture, each row is a token that looks, and each column a token that is looked at; darker means " +
        "more. Each row sums to 1."),
      task: t("Choose another head."),
      done: t("Another head looks elsewhere. The model combines the results of all heads."),
    }),
  },
  {
    id: "cell",
    at: "#check-cell, #view .matrix, #view",
    side: "left",
    narrow: "top",
    go: (page) => ({ view: "attention", ...cell(page) }),
    did: ({ link }) => link.view === "worksheet",
    words: (t) => ({
      title: t("The arithmetic of a cell"),
      says: t("Each cell is a number that you can check by hand. The query of the row times the key of the column gives a score; softmax turns the scores of a row into weights that add up to 1."),
      task: t("Press “Check this cell”."),
      done: t("This is the whole calculation, step by step, with the model’s own numbers."),
    }),
  },
  {
    id: "change",
    at: "#switch-head, #view",
    side: "left",
    narrow: "top",
    go: (page) => ({ view: "attention", ...neededHead(page) }),
    did: ({ link }) => isChanged(link),
    words: (t, page, began) => ({
      title: t("Change the model"),
      says: t("What is a head for? Switch it off and look at what the model writes without it."),
      task: t("Press “head off”."),
      done: outcome(t, page, began),
    }),
  },
  {
    id: "share",
    at: "#share",
    side: "right",
    narrow: "bottom",
    go: () => ({}),
    words: (t) => ({
      title: t("Share it"),
      says: t("A link contains everything you see: the sentence, the view, the head, the cell and your changes."),
      task: t("Press “Share”."),
      done: t("Anyone who opens the link sees exactly this. That was the tour: now try a sentence of your own."),
    }),
  },
]);
