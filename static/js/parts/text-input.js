/**
 * Typing a sentence: said when the hands rest, at once on Enter, and never while an input method
 * composes. Every box that a sentence is typed into is bound here.
 */

import { settle } from "../lib/timing.js";

/** How long the hands rest, in milliseconds. */
const PAUSE = 250;

/**
 * @typedef {object} Typing
 * @property {() => void} say  takes what the box holds
 * @property {() => void} [onEnter]  in place of saying it at once
 * @property {() => void} [onInput]  at every key, composing or not
 * @property {"rest" | "leave" | "enter"} [when]  what it is said at: a rest of the hands or Enter,
 *   leaving the box or Enter, Enter alone
 */

/**
 * @param {HTMLInputElement | HTMLTextAreaElement} box
 * @param {Typing} typing
 * @returns {{now: () => void, cancel: () => void}}  now: what is not said yet is said; cancel: never
 */
export function bindTyping(box, { say, onEnter, onInput = () => {}, when = "rest" }) {
  const rest = settle(say, PAUSE);
  let composing = false;
  let said = "";
  const typed = () => when === "rest" && !composing && rest.later();

  box.addEventListener("compositionstart", () => {
    composing = true;
    rest.cancel();
  });
  box.addEventListener("compositionend", () => {
    composing = false;
    typed();
  });
  box.addEventListener("input", () => {
    onInput();
    typed();
  });
  box.addEventListener("keydown", (event) => {
    const { key, isComposing, keyCode } = /** @type {KeyboardEvent} */ (event);
    // Safari ends a composition before its last Enter; there only the key code tells.
    if (key !== "Enter" || isComposing || composing || keyCode === 229) return;
    event.preventDefault();
    rest.cancel();
    said = box.value;
    (onEnter ?? say)();
  });
  // Leaving it after Enter says nothing new.
  if (when === "leave") box.addEventListener("change", () => box.value !== said && say());
  return { now: rest.now, cancel: rest.cancel };
}

/**
 * Makes a box as tall as what it holds, where its stylesheet cannot (`field-sizing`).
 * @param {HTMLTextAreaElement} box
 */
export function grow(box) {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
