/** Controls for the options of views. */

import { h, write } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { plan, planInLink } from "../store/decode-options.js";
import { isFixed } from "../store/share-contents.js";
import { outputKind } from "../wire/reply.js";
import { labels, plainLabel } from "../wire/tokens.js";

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
