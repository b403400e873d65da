/**
 * A sentence above and its translation below, word by word with glosses, and lines for the
 * highlighted word only: the picture of the opening and of a lesson.
 */

import { alignment } from "../core/compute/alignment.js";
import { findingOf } from "../core/compute/attention-row.js";
import { curve, fine, s } from "../core/draw/svg.js";
import { token } from "../core/draw/token.js";
import { makeOneStop } from "../core/figure/pointing.js";
import { attention, crossBlock, place, singleStep } from "../core/wire/model-description.js";
import { labels, languages, numberedWord, isWord } from "../core/wire/tokens.js";
import { el, h, render } from "../lib/dom.js";
import { memo } from "../lib/memo.js";

/** @import { Alignment } from "../core/compute/alignment.js" */
/** @import { Label } from "../core/wire/tokens.js" */
/** @import { Page } from "../core/store/store.js" */

/** Smaller weights have no line. */
const FAINT = 0.05;
/** The width in pixels of a line with weight 1; and where words wrap, so that lines pass between them without touching one. */
const [THICK, THIN] = [10, 4];

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {(word: number, clicked: boolean) => void} pick  clicked: false if it is only pointed at
 */
export function createPairing({ t, theme, onTheme }, pick) {
  const source = h("ol", { className: "words from", "aria-label": t("Sentence") });
  const written = h("ol", { className: "words to", "aria-label": t("Translation") });
  makeOneStop(written);
  const lines = s("svg", { "aria-hidden": "true", class: "threads-of-one" });
  const element = h("div", { className: "pairing" }, source, written, lines);
  /** @type {{opening: Opening, at: number} | null} */
  let drawn = null;

  /** @param {Opening} opening @param {number} litWord  the lit word @param {boolean} glossed */
  function draw(opening, litWord, glossed) {
    const { weights } = opening.written[litWord] ?? { weights: [] };
    render(source, opening.source.map((label, i) => el("li", { className: weights[i] >= FAINT ? "looked" : "", lang: label.lang }, token({ ...label, space: "" }))));
    render(written, opening.written.map((word, i) => button(word, i, i === litWord, glossed)));
    drawn = { opening, at: litWord };
    join();
  }

  /** @param {Written} word @param {number} i @param {boolean} lit @param {boolean} glossed */
  function button({ label, gloss }, i, lit, glossed) {
    const onpointerenter = (/** @type {PointerEvent} */ { pointerType }) => pointerType === "mouse" && pick(i, false);
    const below = glossed && el("span", { className: "gloss" }, gloss ?? "\u00a0");
    return el("li", {}, el("button", { type: "button", "aria-pressed": String(lit), onclick: () => pick(i, true), onpointerenter }, token({ ...label, space: "" }), below));
  }

  /** Draw lines from the highlighted word, as thick as its weights. */
  function join() {
    if (!drawn || !element.clientWidth) return;
    const { opening, at: litWord } = drawn;
    const frame = element.getBoundingClientRect();
    lines.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    const boxes = (/** @type {Element} */ list) =>
      [...list.children].map((item) => {
        const { left, right, top, bottom } = item.getBoundingClientRect();
        return { left: left - frame.left, right: right - frame.left, top: top - frame.top, bottom: bottom - frame.top };
      });
    const [above, below] = [boxes(source), boxes(written)];
    const { attention } = theme();
    const widest = [above, below].some((words) => rowsOf(words).length > 1) ? THIN : THICK;
    const { weights = [] } = opening.written[litWord] ?? {};
    const paths = [...weights].flatMap((weight, i) => {
      if (!(weight >= FAINT) || !below[litWord]) return [];
      const d = thread(above, i, below, litWord);
      return s("path", { d, fill: "none", stroke: attention, "stroke-width": Math.max(1.5, weight * widest), "stroke-linecap": "round", opacity: 0.25 + 0.75 * weight });
    });
    lines.replaceChildren(...paths);
  }

  new ResizeObserver(join).observe(element);
  onTheme(join);
  return { element, draw };
}

/** @typedef {{left: number, right: number, top: number, bottom: number}} Box  in pixels */

/**
 * A line from a word to one of another text below it. It passes the rows of words between them
 * through the gaps between their words, so that it never crosses one.
 * @param {Box[]} above  the words of the upper text, in rows from top to bottom
 * @param {number} from  index of its word
 * @param {Box[]} below
 * @param {number} to
 * @returns {string}  a path
 */
export function thread(above, from, below, to) {
  const [start, end] = [above[from], below[to]];
  const [x1, x2] = [start, end].map(({ left, right }) => (left + right) / 2);
  const passed = [
    ...rowsOf(above.filter(({ top }) => top >= start.bottom)).map((row) => ({ row, x: gapNear(row, x1) })),
    ...rowsOf(below.filter(({ bottom }) => bottom <= end.top)).map((row) => ({ row, x: gapNear(row, x2) })),
  ];
  /** @type {[number, number]} */
  let last = [x1, start.bottom];
  let path = "";
  for (const { row, x } of passed) {
    const [top, bottom] = [Math.min(...row.map((box) => box.top)), Math.max(...row.map((box) => box.bottom))];
    path += `${curve(last, [x, top], "y")}L${fine(x)} ${fine(bottom)}`;
    last = [x, bottom];
  }
  return (path + curve(last, [x2, end.top], "y")).replace(/(?<!^)M[^C]*/g, "");
}

/** Words whose heights overlap stand in one row. @param {Box[]} boxes @returns {Box[][]} */
function rowsOf(boxes) {
  /** @type {Box[][]} */
  const rows = [];
  for (const box of boxes) {
    const row = rows.at(-1);
    if (row && box.top < row[0].bottom) row.push(box);
    else rows.push([box]);
  }
  return rows;
}

/** The gap beside or between the words of a row that is nearest to x. @param {Box[]} row @param {number} x */
function gapNear(row, x) {
  const gaps = [row[0].left - THICK, ...row.slice(1).map(({ left }, i) => (row[i].right + left) / 2), row[row.length - 1].right + THICK];
  return gaps.reduce((nearest, gap) => (Math.abs(gap - x) < Math.abs(nearest - x) ? gap : nearest));
}

// Glosses: for each written word, the source word that a head looks at once it has read the written
// one. They are the model's guesses, not dictionary entries.

/** The smallest weight of a gloss: below it, the head has not settled on one word. */
const SURE = 0.7;
/**
 * A Chinese word may have several characters: neighbours of the strongest one that have at least
 * half its weight belong to it.
 */
const BESIDE = 0.5;

const HAN = /^\p{Script=Han}$/u;
const WORD = /[\p{L}\p{N}]/u;

/**
 * @param {Pick<Alignment, "source" | "target" | "soft">} alignment  by the rows that have read a
 *   word
 * @returns {(string | null)[]}  one per written word; null if the head does not settle on a word
 */
export function glosses({ source, target, soft: { cols, values } }) {
  const names = source.tokens.map(({ text }) => text.trim());
  return target.tokens.map(({ text }, word) => (WORD.test(text) ? gloss(names, [...values.subarray(word * cols, (word + 1) * cols)]) : null));
}

/** @param {string[]} names @param {number[]} row  weights of the source words */
function gloss(names, row) {
  const best = row.reduce((bestIndex, weight, i) => (weight > row[bestIndex] ? i : bestIndex), 0);
  if (!WORD.test(names[best] ?? "")) return null;
  const joins = (/** @type {number} */ i) => HAN.test(names[i] ?? "") && HAN.test(names[best]) && row[i] >= row[best] * BESIDE;
  let [from, to] = [best, best + 1];
  while (joins(from - 1)) from--;
  while (joins(to)) to++;
  const share = row.slice(from, to).reduce((sum, weight) => sum + weight, 0);
  return share >= SURE ? names.slice(from, to).join("") : null;
}

// What the opening shows: the sentence and its translation word by word, the source words that each
// written word looks at (by the head that aligns best while it writes), and a gloss under each (by
// the head that aligns best once it has read the word).

/**
 * @typedef {object} Opening
 * @property {Label[]} source
 * @property {Written[]} written
 * @property {number} first  index of the word highlighted first
 */
/**
 * @typedef {object} Written  a word of the translation
 * @property {Label} label
 * @property {string | null} gloss
 * @property {Float32Array} weights  on the source words while it is written
 * @property {number} special  weight on special tokens
 * @property {boolean} spoken  whether it is a word, not punctuation
 */

/**
 * The heads that the opening uses.
 * @param {Page["model"]} model
 * @returns {{writes: import("../core/wire/model-description.js").Head, reads: import("../core/wire/model-description.js").Head} |
 *   null}  null: the model's alignment was not measured
 */
function aligners(model) {
  const [writes, reads] = ["writes", "reads"].map((rows) => model?.aligners?.find((head) => head.rows === rows));
  return writes && reads ? { writes, reads } : null;
}

/** Whether a model has an opening. @param {Page["model"]} model */
export const hasOpening = (model) => aligners(model) !== null;

/** @param {Page["model"]} model @returns {string[]}  addresses */
export function openingNeeds(model) {
  const heads = aligners(model);
  if (!heads) return [];
  const block = crossBlock(model).id;
  return [heads.writes, heads.reads].flatMap(({ layer }) => ["weights", "mask"].map((name) => place(model, { block, layer }, name)));
}

/** @param {Pick<Page, "model" | "trace">} page @returns {Opening | null}  null while something is on its way */
export function openingOf({ model, trace }) {
  const heads = aligners(model);
  if (!heads || !trace) return null;
  const { id: block, key } = crossBlock(model);
  const [writes, reads] = [heads.writes, heads.reads].map((head) => {
    const matrix = attention(model, trace, { block, ...head });
    return matrix && alignment({ read: trace.tokens[key], written: trace.output.tokens }, matrix, head.rows);
  });
  return writes && reads ? memo(trace, "opening", () => opening(trace.direction, writes, reads)) : null;
}

/**
 * @param {string} direction
 * @param {import("../core/compute/alignment.js").Alignment} writes
 * @param {import("../core/compute/alignment.js").Alignment} reads
 * @returns {Opening}
 */
function opening(direction, writes, reads) {
  const [from, to] = languages(direction);
  const meant = glosses(reads);
  const { cols, values } = writes.soft;
  const written = labels(writes.target.tokens, to).map((label, i) => ({
    label,
    gloss: meant[i] ?? null,
    weights: Float32Array.from(values.subarray(i * cols, (i + 1) * cols), (weight) => weight || 0),
    special: writes.special[i] || 0,
    spoken: isWord(singleStep(label)),
  }));
  return { source: labels(writes.source.tokens, from), written, first: clearest(written) };
}

/** The word that looks most strongly at one source word. @param {Written[]} written */
function clearest(written) {
  const score = (/** @type {Written} */ { weights, spoken }) => (spoken ? Math.max(0, ...weights) : -1);
  return written.reduce((best, candidate, i) => (score(candidate) > score(written[best]) ? i : best), 0);
}

/**
 * What a written word looks at, claiming no more than its numbers.
 * @param {Written} word
 * @returns {{kind: "one" | "most" | "both" | "special" | "spread", keys: number[]}}
 */
function attendedBy({ weights, special }) {
  const summary = findingOf(weights);
  if (!("keys" in summary) || summary.weight < special) return { kind: "special", keys: [] };
  const [key, secondKey] = summary.keys;
  if (summary.kind === "both") return { kind: "both", keys: [key, secondKey] };
  if (summary.kind === "spread") return { kind: "spread", keys: [] };
  return { kind: summary.weight >= 0.5 ? "one" : "most", keys: [key] };
}

// What a written word looks at, in one sentence.

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "phrase" | "t">} page
 * @param {Opening} content
 * @param {number} wordIndex  the written word
 * @param {boolean} glossed  whether its gloss is told
 */
export function attentionSentence({ phrase, t }, content, wordIndex, glossed) {
  const { label, gloss } = content.written[wordIndex];
  const { kind, keys } = attendedBy(content.written[wordIndex]);
  const words = {
    one: t("Here: while writing {word}, it looks at {key}."),
    most: t("Here: while writing {word}, it looks most at {key}."),
    both: t("Here: while writing {word}, it looks equally at {key} and {other}."),
    spread: t("Here: while writing {word}, it looks equally at several words."),
    special: t("Here: while writing {word}, it looks only at special tokens."),
  }[kind];
  const named = (/** @type {import("../core/wire/tokens.js").Label} */ tokenLabel, /** @type {string} */ className) => el("span", { className, lang: tokenLabel.lang }, numberedWord(tokenLabel));
  const [key, secondLabel] = keys.map((i) => named(content.source[i], "as-key"));
  const meaning = glossed && gloss ? el("i", { className: "meaning", lang: content.source[0]?.lang }, ` (${gloss})`) : "";
  return phrase(words, { word: el("span", {}, named(label, "as-query"), meaning), key, other: secondLabel });
}
