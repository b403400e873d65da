/**
 * The questions of a lesson: on its page, in a room, and which of them this reader has answered; and the
 * veil over a figure that has their answer.
 */

import { createPrediction } from "../ask/predict.js";
import { find, h, inSight } from "../lib/dom.js";
import { bindScenes, scenesOf, topOf } from "./presentation-scenes.js";

/** Which questions a reader has answered; stored only in the browser. */

const KEY = "lessons";

/** @returns {Record<string, number[]>}  numbers of questions, by lesson */
function read() {
  try {
    const stored = JSON.parse(window.localStorage.getItem(KEY) ?? "{}");
    return stored && typeof stored === "object" ? stored : {};
  } catch {
    return {};
  }
}

/** The questions of a lesson that were answered on this device. @param {string} lesson @returns {number[]} */
export function answeredEarlier(lesson) {
  const numbers = read()[lesson];
  return Array.isArray(numbers) ? numbers : [];
}

/** @param {string} lesson @param {number} question */
function answered(lesson, question) {
  const answers = read();
  const all = [...new Set([...(answers[lesson] ?? []), question])];
  try {
    window.localStorage.setItem(KEY, JSON.stringify({ ...answers, [lesson]: all }));
  } catch {
    // Without storage, no progress is shown.
  }
}

/**
 * Show progress in the table of contents.
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 */
export function showProgress({ t }) {
  const answers = read();
  for (const item of document.querySelectorAll("#lessons [data-lesson]")) {
    const { lesson = "", questions = "0" } = /** @type {HTMLElement} */ (item).dataset;
    const done = Array.isArray(answers[lesson]) ? Math.min(answers[lesson].length, Number(questions)) : 0;
    const label = item.querySelector(".done");
    if (label && done) label.textContent = ` · ${t("{done} of {all} predictions made", { done, all: questions })}`;
  }
}

/** Letters of a question's words in a room. */
const LONGEST = 500;

/** @typedef {ReturnType<typeof bindQuestions>} LessonQuestions */

/**
 * Let the reader answer the questions of a lesson and reveal the answers. On the pages of a class, its
 * teacher reveals: else whoever reads ahead knows the answer before the class is asked.
 * @param {import("../pages/learn.js").LessonServices} services
 * @param {Veils} veils
 */
export function bindQuestions({ page, api, source, lesson }, veils) {
  const sources = { source, compute: (/** @type {object} */ body) => api.lab(body) };
  const { room, screen } = find("#learn").dataset;
  /** @type {Map<string, import("../ask/predict.js").Prediction>} */
  const predictions = new Map();
  /** Questions that are revealed, or will be once they come into view. @type {Set<string>} */
  const revealed = new Set();
  /** @type {Set<() => void>} */
  const listeners = new Set();

  inSight(document.querySelectorAll("#lesson .predict"), async (element) => {
    const place = find(".choosing", element);
    const prediction = createPrediction({
      root: place,
      page,
      sources,
      question: questionOf(element),
      label: find(".asks", element),
      controls: !room,
      onReveal() {
        find(".why", element).hidden = false;
        element.querySelector(".teacher-asks")?.remove();
        const question = numberOf(element.id);
        answered(lesson, question);
        veils.reveal(question);
        revealed.add(element.id);
        listeners.forEach((listener) => listener());
      },
    });
    predictions.set(element.id, prediction);
    if (room) prediction.close();
    if (room && screen !== "yes") place.after(h("p", { className: "teacher-asks" }, page.t("Your teacher asks this question and shows the answer.")));
    if (revealed.has(element.id)) void prediction.reveal({ guessed: false });
  });

  return {
    /** Reveal a question that the class was shown the answer of. @param {string} id */
    reveal(id) {
      veils.reveal(numberOf(id));
      if (revealed.has(id)) return;
      revealed.add(id);
      void predictions.get(id)?.reveal({ guessed: false });
    },
    /** The ids of those whose answers are shown. */
    revealed: () => [...revealed],
    /** @param {() => void} listener */
    onReveal: (listener) => void listeners.add(listener),
  };
}

/** The number of a question. @param {string} scene  its id */
const numberOf = (scene) => Number(scene.split("-")[1]);

/** @param {HTMLElement} element @returns {import("../ask/question.js").Question} */
function questionOf(element) {
  const { kind = "", link = "", page = "workspace", step } = element.dataset;
  return { kind, link, page: page === "lab" ? "lab" : "workspace", ...(step ? { step } : {}), ...numbersOf(element) };
}

/**
 * The question as a room is asked it. If the number is stated, it is about no page that a room knows,
 * such as the zoo's.
 * @param {HTMLElement} element
 * @returns {import("../room/room.js").Asks}
 */
function asksOf(element) {
  const question = questionOf(element);
  const words = find(".asks", element).textContent?.trim().slice(0, LONGEST) ?? "";
  return { ...question, ...(question.value === undefined ? {} : { link: "", page: "lab" }), scene: element.id, words };
}

/**
 * The words of a question with their formulas, and what can be learnt from its answer.
 * @param {HTMLElement | null} element
 */
function wordingOf(element) {
  if (!element?.matches(".predict")) return null;
  const copied = (/** @type {string} */ selector) => [...find(selector, element).childNodes].map((node) => node.cloneNode(true));
  return { words: copied(".asks"), why: copied(".why") };
}

/** The numbers of a question that are given. @param {HTMLElement} element */
const numbersOf = ({ dataset }) =>
  Object.fromEntries(["row", "column", "value", "within"].flatMap((name) => (dataset[name] === undefined ? [] : [[name, Number(dataset[name])]])));

/**
 * @param {import("../pages/learn.js").LessonServices} services
 * @param {import("./figures.js").LiveFigures} figures
 * @param {Veils} veils
 * @param {LessonQuestions} questions
 */
export function bindLessonRoom({ page, api, lesson }, figures, veils, questions) {
  const root = find("#learn");
  if (root.dataset.screen === "yes") document.documentElement.toggleAttribute("data-projector", true);
  const scenes = new Map(scenesOf(find("#lesson")).flatMap((scene) => (scene.block ? [[scene.block, scene]] : [])));
  bindScenes({
    page,
    api,
    root,
    path: `/learn/${lesson}`,
    scenes: [...scenes.keys()],
    topOf: (block) => topOf(/** @type {import("./presentation-scenes.js").Scene} */ (scenes.get(block))),
    figures,
    veils,
    says: (scene) => scene?.querySelector(scene.matches("[data-veiled]") ? "h2" : "figcaption > span, .asks")?.textContent ?? find("#lesson h1").textContent ?? "",
    questions,
    wording: (id) => wordingOf(document.getElementById(id)),
    own: (scene) => (scene?.matches(".predict") ? asksOf(/** @type {HTMLElement} */ (scene)) : null),
  });
}

// The veil over a figure that has the answer to the questions above it: it is lifted once all of these were
// revealed, or the reader asks to see the figure. On paper there is none.
//
//  * The text of a veil is in the page; without a script it stays hidden, and the figure is visible.

/** @typedef {ReturnType<typeof bindVeils>} Veils */

/**
 * @param {HTMLElement} article
 * @param {object} of
 * @param {number[]} of.answered  the questions that were revealed on an earlier visit
 * @param {Element | null} of.linked  the figure that the page's address shows in a state of its own
 */
export function bindVeils(article, { answered, linked }) {
  /** The questions that are still to be answered, by figure. @type {Map<HTMLElement, Set<number>>} */
  const openQuestions = new Map();
  /** @type {Set<(figure: HTMLElement) => void>} */
  const listeners = new Set();

  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (article.querySelectorAll("figure[data-after]"))) {
    const questions = (figure.dataset.after ?? "").split(" ").map(Number);
    const open = questions.filter((question) => !answered.includes(question));
    if (!open.length || figure === linked) continue;
    openQuestions.set(figure, new Set(open));
    cover(figure, true);
    find(".veil button", figure).addEventListener("click", () => lift(figure));
  }

  /** @param {HTMLElement} figure @param {boolean} covered */
  function cover(figure, covered) {
    figure.toggleAttribute("data-veiled", covered);
    find(".veil", figure).hidden = !covered;
    for (const part of [".stand", "figcaption"]) find(part, figure).inert = covered;
  }

  /** @param {HTMLElement} figure */
  function lift(figure) {
    if (!openQuestions.delete(figure)) return;
    const hadFocus = find(".veil", figure).contains(document.activeElement);
    cover(figure, false);
    if (hadFocus) {
      figure.tabIndex = -1; // the button is gone
      figure.focus({ preventScroll: true });
    }
    listeners.forEach((listener) => listener(figure));
  }

  return {
    lift,
    /** @param {number} question  whose answer was revealed */
    reveal(question) {
      for (const [figure, open] of openQuestions) if (open.delete(question) && !open.size) lift(figure);
    },
    /** @param {HTMLElement} figure */
    isVeiled: (figure) => openQuestions.has(figure),
    /** @param {(figure: HTMLElement) => void} listener */
    onLift: (listener) => void listeners.add(listener),
  };
}
