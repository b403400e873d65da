/**
 * The veil over a figure that has the answer to the questions above it: it is lifted once all of
 * these were revealed, or the reader asks to see the figure. On paper there is none.
 *
 * The text of a veil is in the page; without a script it stays hidden, and the figure is visible.
 */

import { find } from "../lib/dom.js";

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
