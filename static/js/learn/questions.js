/** The questions of a lesson. */

import { createPrediction } from "../ask/predict.js";
import { find, inSight } from "../lib/dom.js";
import { answered } from "./progress.js";

/** Letters of a question's words in a room. */
const LONGEST = 500;

/** @param {import("../pages/learn.js").Desk} desk */
export function bindQuestions({ page, api, source, lesson }) {
  const sources = { source, compute: (/** @type {object} */ body) => api.lab(body) };
  inSight(document.querySelectorAll("#lesson .predict"), async (element) => {
    createPrediction({
      root: find(".choosing", element),
      page,
      sources,
      question: questionOf(element),
      label: find(".asks", element),
      onReveal() {
        find(".why", element).hidden = false;
        answered(lesson, Number(element.id.split("-")[1]));
      },
    });
  });
}

/** @param {HTMLElement} element @returns {import("../ask/question.js").Question} */
function questionOf(element) {
  const { kind = "", link = "", page = "workspace", step } = element.dataset;
  return { kind, link, page: page === "lab" ? "lab" : "workspace", ...(step ? { step } : {}), ...numbersOf(element) };
}

/**
 * The question as a room is asked it. If the number is stated, it is about no page that a room knows,
 * such as the zoo's.
 * @param {HTMLElement} element
 * @returns {import("../room/types.js").Asks}
 */
export function asksOf(element) {
  const question = questionOf(element);
  const words = find(".asks", element).textContent?.trim().slice(0, LONGEST) ?? "";
  return { ...question, ...(question.value === undefined ? {} : { link: "", page: "lab" }), scene: element.id, words };
}

/**
 * The words of a question with their formulas, and what can be learnt from its answer.
 * @param {HTMLElement | null} element
 */
export function wordingOf(element) {
  if (!element?.matches(".predict")) return null;
  const copied = (/** @type {string} */ where) => [...find(where, element).childNodes].map((node) => node.cloneNode(true));
  return { words: copied(".asks"), why: copied(".why") };
}

/** The numbers of a question that are given. @param {HTMLElement} element */
const numbersOf = ({ dataset }) =>
  Object.fromEntries(["row", "column", "value", "within"].flatMap((name) => (dataset[name] === undefined ? [] : [[name, Number(dataset[name])]])));
