/** Controls: for the options of views, for moving through steps, and for typing a sentence. */

import { el, h, render, write } from "../../lib/dom.js";
import { debounce } from "../../lib/timing.js";
import { plan, planInLink } from "../store/link-options.js";
import { isFixed } from "../store/share-contents.js";
import { outputKind } from "../wire/reply.js";
import { labels, plainLabel } from "../wire/tokens.js";
import { onSteps } from "./pointing.js";

/** @import { Context } from "./types.js" */

/**
 * @typedef {object} Control
 * @property {string} option  its name in the link
 * @property {string} label
 * @property {Record<string, string> | (() => Record<string, string>)} [values]  the values of a
 *   choice with their names
 * @property {Range | (() => Range)} [range]  of a slider
 * @property {(value: number) => string} [format]  a slider's value; absent: the number
 * @property {() => any} [otherwise]  the effective value if nothing was chosen; absent: none
 * @property {(value: any) => any} [effective]  what a chosen value stands for here, if not itself
 */
/** @typedef {[number, number, number]} Range  lowest, highest, step */
/** @typedef {{element: HTMLElement, show: (value: any) => void}} Bound */

/**
 * @param {Context} context
 * @param {Control[]} list  a control without values or a range is a checkbox
 * @returns {HTMLElement & {refresh: () => void}}  `refresh` updates the controls from the link
 */
export function controls({ store, uniqueId }, list) {
  const bound = list.map((control) => {
    /** @param {any} value */
    const choose = (value) => store.choose({ [control.option]: value });
    const make = control.values ? choices : control.range ? slider : toggle;
    return { otherwise: () => null, effective: (/** @type {any} */ value) => value, ...control, ...make(control, choose, uniqueId) };
  });
  const element = h("div", { className: "options" }, ...bound.map((control) => control.element));
  const refresh = () => {
    const { options } = store.get().link;
    bound.forEach(({ option, show, otherwise, effective }) => show(effective(options[option] ?? otherwise())));
  };
  refresh();
  return Object.assign(element, { refresh });
}

/** @param {Control} control @param {(value: string) => void} choose @param {Context["uniqueId"]} uniqueId @returns {Bound} */
function choices({ option, label, values = {} }, choose, uniqueId) {
  const list = h("div", { className: "choice" });
  const element = h("fieldset", { className: "option" }, h("legend", {}, label), list);
  element.addEventListener("change", ({ target }) => choose(/** @type {HTMLInputElement} */ (target).value));
  const options = () => (typeof values === "function" ? values() : values);
  return {
    element,
    show(value) {
      element.hidden = Object.keys(options()).length < 2;
      render(list, radios(uniqueId(`option-${option}`), options(), value));
    },
  };
}

/**
 * Radio buttons side by side.
 * @param {string} name
 * @param {Record<string, string>} values  values with their names
 * @param {string | null} chosen
 * @param {(value: string) => boolean} [fixed]  which values are disabled
 */
export const radios = (name, values, chosen, fixed = () => false) =>
  Object.entries(values).map(([value, label]) =>
    el(
      "label",
      { key: value },
      el("input", { type: "radio", className: "hidden", name, value, checked: value === chosen, disabled: fixed(value) }),
      el("span", {}, label),
    ),
  );

/** @param {Control} control @param {(value: boolean) => void} choose @returns {Bound} */
function toggle({ label }, choose) {
  const box = h("input", { type: "checkbox" });
  box.addEventListener("change", () => choose(box.checked));
  return {
    element: h("label", { className: "option toggle" }, box, h("span", {}, label)),
    show: (value) => (box.checked = value),
  };
}

/** @param {Control} control @param {(value: number) => void} choose @returns {Bound} */
function slider({ label, range = [0, 1, 1], format = String }, choose) {
  const input = h("input", { type: "range" });
  const output = h("output", {});
  input.addEventListener("input", () => choose(Number(input.value)));
  return {
    element: h("label", { className: "option slider" }, h("span", {}, label), input, output),
    show(value) {
      const [min, max, step] = (typeof range === "function" ? range() : range).map(String);
      Object.assign(input, { min, max, step, value: value ?? min });
      const text = format(Number(input.value));
      write(output, text);
      input.setAttribute("aria-valuetext", text);
    },
  };
}

// How many tokens a decoder writes after the text: part of the run, as `decode.max_tokens`.

const COUNTS = [1, 5, 10, 20, 40];

/**
 * @param {Context} context
 * @param {number} usual  the number if the link has none
 */
export function continuationLength({ store, t }, usual) {
  const menu = h("select", {});
  const element = h("label", { className: "option menu" }, h("span", {}, t("Tokens to write")), menu);
  menu.addEventListener("change", () => {
    const { decode } = store.get().link;
    const max_tokens = Number(menu.value);
    store.go({ decode: planInLink({ ...plan(decode), prefix: [], max_tokens: max_tokens === usual ? undefined : max_tokens }) }, "chosen");
  });

  function refresh() {
    const page = store.get();
    element.hidden = !page.model || outputKind(page.model) !== "text";
    const { max_tokens = usual, prefix } = plan(page.link.decode);
    const count = Math.max(max_tokens, prefix.length);
    const counts = COUNTS.includes(count) ? COUNTS : [...COUNTS, count].sort((a, b) => a - b);
    render(menu, counts.map((n) => el("option", { value: String(n) }, String(n))));
    menu.value = String(count);
    menu.disabled = isFixed(page);
  }
  return { element, refresh };
}

// A menu of tokens to contrast a written one with, for a sentence that asks why.

/** @typedef {{id: number, text: string, special: boolean}} Piece  a token of the vocabulary */

/**
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {string} lang  of the tokens
 * @param {{value: string, tokens: {value: string, piece: Piece}[], onChoice: (value: string) => void}} choice
 */
export const contrastMenu = (t, lang, { value, tokens, onChoice }) =>
  el(
    "select",
    { className: "contrast-menu", "aria-label": t("Word to contrast with"), value, lang, onchange: (/** @type {Event} */ { target }) => onChoice(/** @type {HTMLSelectElement} */ (target).value) },
    tokens.map(({ value, piece }) => el("option", { key: value, value }, plainLabel(labels([{ ...piece, start: 0, end: 0 }], lang)[0]))),
  );

// Back, Play, Next: buttons and keys that move through steps, one at a time or automatically.

/**
 * @typedef {object} Steps
 * @property {() => number} current  the current one
 * @property {() => number} last  −1: none yet
 * @property {(to: number) => void} go
 * @property {number} beat  milliseconds per step while playing
 * @property {() => boolean} [waits]  whether playing must wait
 */

/** Elements that use letters and arrows themselves, and those that use only arrows. */
const WRITES = "input:not([type=range]), textarea, select, [contenteditable]";
const MOVES = "input, [role=application], .tiles";
/** @param {Context} context @param {Steps} steps */
export function createTransport(context, { current, last, go, beat, waits = () => false }) {
  const { t } = context;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let playing;
  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, className = "button") =>
    h("button", { type: "button", className, onclick }, text);
  const back = button("← " + t("Back"), () => by(-1));
  const play = button("", toggle, "button strong play");
  const on = button(t("Next") + " →", () => by(1));
  const positionLabel = h("span", { className: "where", "aria-live": "off" });
  const element = h("div", { className: "transport", role: "group", "aria-label": t("Steps") }, back, play, on, positionLabel);

  /** @param {number} steps  by the reader's own hand, which ends playing */
  function by(steps) {
    pause();
    move(steps);
  }

  /** @param {number} steps */
  function move(steps) {
    if (last() >= 0) go(Math.min(Math.max(current() + steps, 0), last()));
  }

  function toggle() {
    if (playing !== undefined || last() < 0) return pause();
    if (current() === last()) go(0);
    playing = setInterval(tick, beat);
    label();
  }

  function tick() {
    if (waits()) return;
    if (current() < last()) move(1);
    if (current() >= last()) pause();
  }

  function pause() {
    clearInterval(playing);
    playing = undefined;
    label();
  }

  function label() {
    const [sign, word] = playing === undefined ? ["▶", t("Play")] : ["❚❚", t("Pause")];
    render(play, el("span", { "aria-hidden": "true" }, sign), word);
  }

  const release = onSteps(context.keys, {
    projector: () => context.store.get().link.options.projector === true,
    takes: { arrows: `${WRITES}, ${MOVES}`, space: WRITES },
    ends: true,
    go: by,
    space: toggle,
  });
  label();
  return {
    element,
    pause,

    /** @param {string} positionText  where one is */
    show(positionText) {
      back.disabled = current() === 0;
      on.disabled = current() >= last();
      positionLabel.textContent = positionText;
    },
    destroy: () => (pause(), release()),
  };
}

// Typing a sentence: submit after a pause or on Enter, and never while an input method is composing. Used
// by every text box for sentences.

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
