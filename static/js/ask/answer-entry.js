/** The ways to enter an answer. */

import { shareBar } from "../core/draw/colour-scales.js";
import { judgeNumber } from "../lab/figure/step-results.js";
import { number } from "../lib/csv.js";
import { asTyped, four, two } from "../lib/numbers.js";
import { el } from "../lib/dom.js";
import { cellPicker } from "./cells.js";
import { isStated } from "./question-kinds.js";

/** @import { Answer, Choice, Question, Revealed } from "./question.js" */

// An answer by choosing one of several.

/** @type {Entry} */
const choiceEntry = {
  complete: (answer) => answer.length === 1,
  right: ([id], { right = [] }) => right.includes(id),
  draw(answering) {
    const listed = answering.choices.filter((choice) => isListed(answering, choice));
    const unlistedCount = answering.choices.length - listed.length;
    return [...listed.map((choice) => button(answering, choice)), unlistedCount > 0 && el("span", { key: "rest", className: "rest" }, answering.t("{count} more: below 0.01 each, and chosen by nobody", { count: unlistedCount }))];
  },
};

/** Up to so many choices, all are shown. */
const FEW = 8;

/**
 * Whether a choice is shown. Of many, those that the model gives nearly nothing and that nobody
 * chose are left out beside the answers of a class.
 * @param {Answering} answering @param {import("./question.js").Choice} choice
 */
function isListed({ choices, answer, revealed, tally }, { id }) {
  const share = revealed?.shares?.[id];
  if (choices.length <= FEW || share === undefined || !tally) return true;
  return share >= 0.005 || Boolean(revealed?.right?.includes(id)) || answer[0] === id || tally.some(([chosenId]) => chosenId === id);
}

/** @param {Answering} answering @param {import("./question.js").Choice} choice */
function button({ t, answer, revealed, tally, fixed, change }, { id, label }) {
  const mine = answer[0] === id;
  const right = revealed?.right?.includes(id);
  const share = revealed?.shares?.[id];
  const bar = share === undefined ? [] : [shareBar(share), el("span", { className: "number" }, two(share))];
  const count = tally?.filter(([chosenId]) => chosenId === id).length;
  const marks = revealed ? el("span", { className: "mark-of" }, [right && "✓", mine && t("your guess")].filter(Boolean).join(" ")) : "";
  return el(
    "button",
    { key: id, type: "button", className: "choose", "aria-pressed": String(mine), "data-right": revealed ? String(Boolean(right)) : undefined, disabled: fixed, onclick: () => change([id]) },
    el("span", { className: "what" }, label),
    ...bar,
    marks,
    count === undefined ? "" : el("span", { className: "tally" }, t("chosen by {count}", { count })),
  );
}

// An answer by typing numbers, one per field.

/** @param {string} text @param {number} value @param {Question} question */
function near(text, value, { within }) {
  if (typeof within !== "number") return judgeNumber(text, value) === "right";
  const typed = number(text).value;
  return typed !== null && Math.abs(typed - value) <= within;
}

/** @type {Entry} */
const numbersEntry = {
  complete: (answer, choices) => choices.every((_, i) => number(answer[i] ?? "").value !== null),
  right: (answer, { numbers = [] }, question) => numbers.every((value, i) => near(answer[i] ?? "", value, question)),
  draw: (answering) => answering.choices.map((_, i) => field(answering, i)),
};

/** Numbers as a program reads them; what is no number stays. @param {string[]} answer */
export const plainNumbers = (answer) => answer.map((text) => String(number(text).value ?? text));

/** @param {Answering} answering @param {number} i */
function field({ t, question, choices, answer, revealed, tally, fixed, change }, i) {
  const text = answer[i] ?? "";
  const value = revealed?.numbers?.[i];
  const right = value === undefined || !text.trim() ? undefined : near(text, value, question);
  const wrong = text.trim() !== "" && number(text).value === null;
  const oninput = (/** @type {Event} */ { target }) => {
    const typed = /** @type {HTMLInputElement} */ (target).value;
    change(choices.map((_, fieldIndex) => (fieldIndex === i ? typed : (answer[fieldIndex] ?? ""))));
  };
  const input = el("input", { type: "text", inputMode: "decimal", autocomplete: "off", value: text, readOnly: fixed, "aria-invalid": String(wrong), oninput });
  const truth = value !== undefined && el("span", { className: "truth" }, el("span", { "aria-hidden": "true" }, right === undefined ? "" : right ? "✓ " : "✗ "), isStated(question) ? asTyped(value) : four(value));
  const mean = tally && average(tally.map((typedAnswer) => number(typedAnswer[i] ?? "").value));
  return el(
    "label",
    { key: choices[i].id, className: "fill", "data-right": right === undefined ? undefined : String(right) },
    el("span", { className: "what" }, choices[i].label),
    input,
    wrong && el("span", { className: "wrong" }, t("Not a number. Write 0.5, −2 or 1/3.")),
    truth,
    typeof mean === "number" && el("span", { className: "tally" }, t("mean answer {mean}", { mean: two(mean) })),
  );
}

/** @param {(number | null)[]} values */
function average(values) {
  const typed = values.flatMap((parsed) => (parsed === null ? [] : [parsed]));
  return typed.length ? typed.reduce((a, b) => a + b, 0) / typed.length : null;
}

// An answer by drawing bars that share out a whole: each bar is a slider, moved by a finger, the
// mouse or the arrow keys. Only the proportions count, so they need not add up to 1.

/** From this overlap on, a drawn row is near enough. */
const NEAR = 0.7;
const STEP = 0.02;

/**
 * Convert drawn bars to shares of 1.
 * @param {Answer} answer
 * @param {number} count
 */
function drawnShares(answer, count) {
  const drawn = Array.from({ length: count }, (_, i) => Number(answer[i] ?? 0) || 0);
  const whole = drawn.reduce((a, b) => a + b, 0);
  return drawn.map((height) => (whole ? height / whole : 0));
}

/** The part of two distributions that agrees: Σ min(p, q), from 0 to 1. @param {number[]} p @param {number[]} q */
const overlap = (p, q) => p.reduce((sum, probability, i) => sum + Math.min(probability, q[i] ?? 0), 0);

/** @type {Entry} */
const sharesEntry = {
  complete: (answer) => answer.some((height) => Number(height) > 0),
  right: (answer, { numbers = [] }) => overlap(drawnShares(answer, numbers.length), numbers) >= NEAR,
  says: (answer, { numbers = [] }, t) =>
    t("Your row and the model’s agree on {overlap} of the weight; from {near} on it counts as right.", { overlap: two(overlap(drawnShares(answer, numbers.length), numbers)), near: two(NEAR) }),
  draw: (answering) => answering.choices.map((_, i) => bar(answering, i)),
};

/** @param {Answering} answering @param {number} i */
function bar({ t, choices, answer, revealed, tally, fixed, change }, i) {
  const share = drawnShares(answer, choices.length)[i];
  const value = revealed?.numbers?.[i];
  const oninput = (/** @type {Event} */ { target }) => {
    const drawn = /** @type {HTMLInputElement} */ (target).value;
    change(choices.map((_, fieldIndex) => (fieldIndex === i ? drawn : (answer[fieldIndex] ?? "0"))));
  };
  const slider = el("input", { type: "range", min: "0", max: "1", step: String(STEP), value: answer[i] ?? "0", disabled: fixed, "aria-valuetext": two(share), oninput });
  const drawn = !fixed || answer.length > 0; // a page that only looks has no row of its own
  const mean = tally?.length ? tally.reduce((sum, otherAnswer) => sum + drawnShares(otherAnswer, choices.length)[i], 0) / tally.length : null;
  return el(
    "label",
    { key: choices[i].id, className: "draw-share" },
    el("span", { className: "what" }, choices[i].label),
    drawn && [slider, el("span", { className: "number" }, two(share))],
    value !== undefined && el("span", { className: "truth" }, shareBar(value), el("span", { className: "number" }, two(value))),
    mean !== null && el("span", { className: "tally" }, t("mean answer {mean}", { mean: two(mean) })),
  );
}

// An answer by putting things in order: each is tapped in its turn, and tapped again to take it back.

/** @type {Entry} */
const orderEntry = {
  complete: (answer, choices) => answer.length === choices.length,
  right: (answer, { right = [] }) => answer.join(" ") === right.join(" "),
  draw({ t, choices, answer, revealed, fixed, change }) {
    const steps = choices.map(({ id, label }) => {
      const [place, truth] = [answer.indexOf(id) + 1, (revealed?.right?.indexOf(id) ?? -1) + 1];
      const onclick = () => change(place ? answer.filter((stepId) => stepId !== id) : [...answer, id]);
      const right = truth ? String(place === truth) : undefined;
      return el(
        "button",
        { key: id, type: "button", className: "choose", "aria-pressed": String(place > 0), "data-right": right, disabled: fixed, onclick },
        el("span", { className: "place" }, place ? String(place) : "·"),
        el("span", { className: "what" }, label),
        truth > 0 && el("span", { className: "mark-of" }, place === truth ? "✓" : t("right: {place}", { place: truth })),
      );
    });
    return [!fixed && el("p", { key: "how", className: "rest" }, t("Tap them in order; tap again to take one back.")), ...steps];
  },
};

// An answer by choosing a cell of a matrix.

/** @type {Entry} */
const cellEntry = {
  complete: (answer) => answer.length === 1,
  right: ([id], { right = [] }) => right.includes(id),
  draw({ t, choices, answer, revealed, fixed, change }) {
    if (!choices.length) return [el("p", { key: "none", className: "rest" }, t("This figure cannot be pointed at here."))];
    const chosen = choices.find(({ id }) => id === answer[0]);
    return [
      !fixed && el("p", { key: "how", className: "rest" }, t("Tap a cell, or go to it with the arrow keys and press Enter.")),
      cellPicker(t, choices, { chosen: answer, right: revealed?.right, fixed, choose: (id) => change([id]) }),
      chosen && el("p", { key: "chosen", className: "chosen-cell" }, t("Your answer"), " ", chosen.label),
    ];
  },
};

// An answer in words, which nothing judges.

/** @type {Entry} */
const textEntry = {
  complete: ([text = ""]) => Boolean(text.trim()),
  right: () => true,
  draw: ({ t, answer, fixed, change }) => [
    el("textarea", { key: "text", rows: 2, maxLength: 500, "aria-label": t("Your answer"), value: answer[0] ?? "", readOnly: fixed, oninput: (/** @type {any} */ { target }) => change([target.value]) }),
  ],
};

// What special tokens are, where they are choices: not everybody has met them.

/** @param {import("../lib/i18n.js").Translate} t @param {string} term */
function explanation(t, term) {
  const token = term;
  if (/^<2[a-z]{2}>$/.test(term)) return t("{token}: which language to write in", { token });
  if (["<eos>", "</s>", "<|endoftext|>", "<|im_end|>"].includes(term)) return t("{token}: the end of the text", { token });
  if (["<bos>", "<s>", "[CLS]"].includes(term)) return t("{token}: the beginning of the text", { token });
  if (term === "[SEP]") return t("{token}: the end of a sentence", { token });
  if (["<pad>", "[PAD]"].includes(term)) return t("{token}: fills up the length", { token });
  return t("{token}: a special token, not a word", { token });
}

/** @param {import("../lib/i18n.js").Translate} t @param {Choice[]} choices */
export const explainedTerms = (t, choices) => [...new Set(choices.flatMap(({ term }) => (term ? [explanation(t, term)] : [])))].join(" · ");

/**
 * @typedef {object} Answering  what is drawn
 * @property {import("../lib/i18n.js").Translate} t
 * @property {Question} question
 * @property {Choice[]} choices
 * @property {Answer} answer  of the reader, possibly incomplete
 * @property {Revealed | null} revealed  null: not revealed yet
 * @property {Answer[] | null} tally  the answers of a class; null: none are shown
 * @property {boolean} fixed  whether the answer can no longer be changed
 * @property {(answer: Answer) => void} change
 */
/**
 * @typedef {object} Entry
 * @property {(answer: Answer, choices: Choice[]) => boolean} complete
 * @property {(answer: Answer, revealed: Revealed, question: Question) => boolean} right
 * @property {(answer: Answer, revealed: Revealed, t: Answering["t"]) => string} [says]  how near it was
 * @property {(answering: Answering) => import("../lib/dom.js").Child[]} draw
 */

/** @type {Record<import("../core/wire/requests-by-subject.js").Entry, Entry>} */
export const ENTRIES = { choice: choiceEntry, numbers: numbersEntry, shares: sharesEntry, order: orderEntry, cell: cellEntry, text: textEntry, work: textEntry };
