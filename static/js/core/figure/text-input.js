/**
 * Typing a sentence: submit after a pause or on Enter, and never while an input method is
 * composing. Used by every text box for sentences.
 */

import { debounce } from "../../lib/timing.js";

/** The pause, in milliseconds; a long text takes seconds to run, so its author is given longer. */
const PAUSE = { short: 250, long: 800 };
/** Letters from which a text is long. */
const LONG = 1000;

/**
 * @typedef {object} Typing
 * @property {() => void} submit  submits the text
 * @property {() => void} [onEnter]  called on Enter instead of submitting
 * @property {() => void} [onInput]  called at every key, composing or not
 * @property {"rest" | "leave" | "enter"} [submitOn]  when to submit: after a pause or on Enter; on
 *   leaving the box or on Enter; only on Enter
 */

/**
 * @param {HTMLInputElement | HTMLTextAreaElement} box
 * @param {Typing} typing
 * @returns {{now: () => void, cancel: () => void}}  now: submit pending text; cancel: discard it
 */
export function bindTyping(box, { submit, onEnter, onInput = () => {}, submitOn = "rest" }) {
  const rests = { short: debounce(submit, PAUSE.short), long: debounce(submit, PAUSE.long) };
  /** The pause that runs. */
  let pause = rests.short;
  let composing = false;
  let submitted = "";
  function typed() {
    if (submitOn !== "rest" || composing) return;
    pause.cancel();
    pause = box.value.length > LONG ? rests.long : rests.short;
    pause.later();
  }

  box.addEventListener("compositionstart", () => {
    composing = true;
    pause.cancel();
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
    // Safari ends a composition before its last Enter; there only the key code shows it.
    if (key !== "Enter" || isComposing || composing || keyCode === 229) return;
    event.preventDefault();
    pause.cancel();
    submitted = box.value;
    (onEnter ?? submit)();
  });
  // After Enter, leaving the box submits nothing new.
  if (submitOn === "leave") box.addEventListener("change", () => box.value !== submitted && submit());
  return { now: () => pause.now(), cancel: () => pause.cancel() };
}

/**
 * Make a text box as tall as its contents, if the browser lacks `field-sizing`.
 * @param {HTMLTextAreaElement} box
 */
export function grow(box) {
  if (CSS.supports("field-sizing", "content")) return;
  box.style.height = "auto";
  box.style.height = `${box.scrollHeight}px`;
}
