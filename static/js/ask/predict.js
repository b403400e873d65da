/**
 * Predict, then reveal: a question about what a model does, the reader's answer, and the right one,
 * which is computed when it is requested. Used by lessons, shares and rooms.
 *
 *     const prediction = createPrediction({ root, page, sources, label, question: { kind: "looks", link } });
 *
 * A question goes in and an answer comes out; both are plain data (`question.js`). The reader
 * reveals; with `controls: false` the surrounding page decides when, by `reveal()`. It looks up
 * nothing in the document and can be on a page any number of times. Its style is
 * `css/ask/predict.css`.
 */

import { Problem } from "../core/wire/reply.js";
import { createAsker } from "../core/wire/connection.js";
import { el, h, render } from "../lib/dom.js";
import { problemLine } from "../core/figure/figure-status.js";
import { ENTRIES, explainedTerms } from "./answer-entry.js";
import { isJudged, noteOf } from "./own-questions.js";
import { KINDS } from "./question-kinds.js";
import { ask } from "./question.js";

/** @import { Answer, Choice, Revealed } from "./question.js" */
/**
 * @typedef {object} Plan
 * @property {HTMLElement} root  the container to fill
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("./question.js").AnswerSources} sources  access to a model and to the lab
 * @property {import("./question.js").Question} question
 * @property {HTMLElement | string} label  the element with the question in words, or the words
 * @property {Answer | null} [answer]  given earlier
 * @property {boolean} [controls]  whether the reader reveals (default); false: only `reveal()` does
 * @property {(answer: Answer | null) => void} [onAnswer]  called with each change of the answer;
 *   null: it is incomplete
 * @property {(entered: Answer) => void} [onEnter]  called with each change, also of an incomplete answer
 * @property {(result: Result) => void} [onReveal]  called once, when the right answer is shown
 */
/**
 * @typedef {object} Result
 * @property {Answer | null} answer  null: revealed without an answer
 * @property {boolean | null} right  whether the answer is right; null: there is none
 * @property {Revealed} revealed
 */
/** @typedef {ReturnType<typeof createPrediction>} Prediction */

let predictionCount = 0;

/** @param {Plan} plan */
export function createPrediction({ root, page, sources, question, label, answer: earlierAnswer = null, controls = true, onAnswer = () => {}, onEnter = () => {}, onReveal = () => {} }) {
  const { t } = page;
  const kind = KINDS[question.kind];
  if (!kind) throw new Error(`unknown kind of question: ${question.kind} (one of ${Object.keys(KINDS).join(", ")})`);
  const name = kind.entry(question);
  const entry = ENTRIES[name];
  const inquiry = ask(page, sources, question);
  const asker = createAsker();
  const failed = problemLine(page, () => void again());
  const list = h("div", { className: `choices by-${name}`, role: "group", ...named(label) });
  const terms = h("p", { className: "terms" });
  const verdict = h("p", { className: "verdict", role: "status", tabIndex: -1 });
  const actions = h("p", { className: "actions" });
  const element = h("div", { className: "prediction" }, failed.element, list, terms, actions, verdict);
  /** @type {Choice[] | null} */
  let choices = null;
  let answer = earlierAnswer ?? [];
  /** @type {Revealed | null} */
  let shownResult = null;
  /** @type {Answer[] | null} */
  let tally = null;
  let [closed, busy, counts] = [false, false, true];
  /** @type {() => Promise<unknown>} */
  let again = open;
  root.replaceChildren(element);

  const complete = () => choices !== null && entry.complete(answer, choices);

  /** Show the possible answers. */
  async function open() {
    again = open;
    choices = (await requested(() => kind.choices(inquiry))) ?? choices;
    draw();
    if (earlierAnswer?.length && complete()) onAnswer(answer);
  }

  /**
   * Show the right answer.
   * @param {{guessed?: boolean}} [of]  false: the reader's answer is not judged
   * @returns {Promise<Result | null>}  null: the request failed, which is shown with a way to retry
   */
  async function reveal({ guessed = true } = {}) {
    if (busy) return null;
    again = () => reveal({ guessed });
    busy = true;
    draw();
    choices ??= await requested(() => kind.choices(inquiry));
    const answered = choices && (await requested(() => kind.reveal(inquiry)));
    busy = false;
    const hadFocus = actions.contains(document.activeElement);
    if (answered) {
      shownResult = answered;
      counts = guessed && complete();
      onReveal(/** @type {Result} */ (result()));
    }
    draw();
    if (answered && hadFocus) verdict.focus(); // the buttons are gone
    return result();
  }

  /** @template T @param {() => Promise<T>} request @returns {Promise<T | null>} */
  async function requested(request) {
    const fails = (/** @type {Problem} */ problem) => failed.show(choices ? problem : problem.first());
    const reply = await asker.ask(request, fails);
    if (reply === null) return null;
    if (reply instanceof Problem) fails(reply);
    else failed.show(null);
    return reply instanceof Problem ? null : reply;
  }

  /** @returns {Result | null} */
  const result = () => shownResult && { answer: counts ? answer : null, right: counts && isJudged(question) ? entry.right(answer, shownResult, question) : null, revealed: shownResult };

  /** @param {Answer} next */
  function change(next) {
    answer = next;
    draw();
    onEnter(next);
    onAnswer(complete() ? answer : null);
  }

  function draw() {
    const fixed = closed || Boolean(shownResult);
    render(list, choices && entry.draw({ t, question, choices, answer, revealed: shownResult, tally, fixed, change }));
    render(terms, choices && explainedTerms(t, choices));
    const asking = controls && !shownResult && choices !== null;
    actions.hidden = !asking;
    render(actions, asking && buttons());
    const note = shownResult && counts && noteOf(question, answer[0]);
    const sentence = shownResult && el("span", {}, shownResult.says, note);
    render(verdict, shownResult && (counts && isJudged(question) ? [...judgement(t, entry, question, answer, shownResult), sentence] : [sentence]));
  }

  const buttons = () => [
    el("button", { key: "reveal", type: "button", className: "button strong", "aria-disabled": String(busy), disabled: !complete(), onclick: () => void reveal() }, t("Reveal")),
    el("button", { key: "skip", type: "button", className: "button quiet", "aria-disabled": String(busy), onclick: () => void reveal({ guessed: false }) }, t("Reveal without a guess")),
  ];

  void open();
  return {
    /** The answer; null while it is incomplete. */
    answer: () => (complete() ? answer : null),
    reveal,
    /** Accept no more changes to the answer, or accept them again. @param {boolean} [now] */
    close(now = true) {
      closed = now;
      draw();
    },
    /** Show the answers of a class beside the choices; null: hide them. @param {Answer[] | null} answers */
    tally(answers) {
      tally = answers;
      draw();
    },
    /** Remove it from the page. */
    destroy() {
      asker.stop();
      element.remove();
    },
  };
}

/**
 * Whether an answer is right, and how near it is.
 * @param {import("../lib/i18n.js").Translate} t
 * @param {typeof ENTRIES[keyof typeof ENTRIES]} entry
 * @param {Plan["question"]} question
 * @param {Answer} answer
 * @param {Revealed} revealed
 */
function judgement(t, entry, question, answer, revealed) {
  const right = entry.right(answer, revealed, question);
  const near = entry.says?.(answer, revealed, t);
  const verdictText = el("b", { className: right ? "right" : "wrong" }, right ? t("✓ You were right.") : t("✗ Not what you guessed."));
  return [verdictText, " ", near && el("span", {}, near), " "];
}

/** The attributes that name a group by its question. @param {HTMLElement | string} label */
function named(label) {
  if (typeof label === "string") return { "aria-label": label };
  label.id ||= `prediction-${++predictionCount}`;
  return { "aria-labelledby": label.id };
}
