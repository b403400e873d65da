/** The numbers of a formula: typed, or moved with a slider, and checked. */

import { number } from "../../lib/csv.js";
import { el, h } from "../../lib/dom.js";
import { grouped, tiny } from "../../lib/numbers.js";

/** @import { Child } from "../../lib/dom.js" */

/**
 * @typedef {object} Field  an integer
 * @property {string} name
 * @property {string} label
 * @property {string} [symbol]  in the formula
 * @property {number} value  unless the link has another one
 * @property {[number, number]} limits
 * @property {number[]} [stops]  the values of a slider beside the field
 * @property {(value: number) => string} [valueText]  what a slider alone is called at a value; with it
 *   there is nothing to type
 */

/** An integer of any size. @param {number} value */
export const integerText = (value) => (value < 1e15 ? grouped(value) : tiny(value));

/**
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {Field[]} list
 * @param {(name: string) => string | null} initialText  by a link
 * @param {() => void} changed
 */
export function createFields(t, list, initialText, changed) {
  const bound = list.map((field) => {
    const control = field.valueText ? slider(field, field.valueText) : typed(field);
    control.input.value = initialText(field.name) ?? String(field.value);
    control.follow();
    return { ...control, field, fits: read(field, control.input.value) === null ? String(field.value) : control.input.value };
  });
  const element = h("div", { className: "options" }, ...bound.map((control) => control.element));
  element.addEventListener("input", () => {
    bound.forEach(({ follow }) => follow());
    changed();
  });

  /** @param {typeof bound[number]} of @returns {number | null}  null: not within its limits, and it says so */
  function value(of) {
    const { field, input, why } = of;
    const [min, max] = field.limits;
    const parsed = read(field, input.value);
    if (parsed !== null) of.fits = input.value;
    input.setAttribute("aria-invalid", String(parsed === null));
    why.textContent = parsed === null ? t("A whole number from {least} to {most}.", { least: integerText(min), most: integerText(max) }) : "";
    return parsed;
  }

  return {
    element,
    /** By name; null: one of them is not within its limits. @returns {Record<string, number> | null} */
    values() {
      const all = bound.map((control) => [control.field.name, value(control)]);
      return all.some(([, parsed]) => parsed === null) ? null : Object.fromEntries(all);
    },
    /** Names and texts of what differs from the initial values, with the last text that fits. @returns {[string, string][]} */
    changed: () => bound.filter(({ field, fits }) => fits !== String(field.value)).map(({ field, fits }) => [field.name, fits]),
    /**
     * Fill in all fields; one that is not given gets its initial value. Nothing is called.
     * @param {Record<string, string>} texts  by name
     * @returns {boolean}  false: a name or a text is not that of a field, and no field has changed
     */
    fill(texts) {
      const names = new Set(list.map(({ name }) => name));
      if (Object.keys(texts).some((name) => !names.has(name))) return false;
      if (list.some((field) => read(field, texts[field.name] ?? String(field.value)) === null)) return false;
      for (const { field, input, follow } of bound) {
        input.value = texts[field.name] ?? String(field.value);
        follow();
      }
      return true;
    },
    /** @param {string} name @param {string} text */
    type(name, text) {
      const control = bound.find(({ field }) => field.name === name);
      if (!control) return;
      control.input.value = text;
      control.input.dispatchEvent(new Event("input", { bubbles: true }));
    },
  };
}

/** The number in a text. @param {Field} field @param {string} text @returns {number | null}  null: it does not fit the field */
function read({ limits: [min, max] }, text) {
  const parsed = number(text).value;
  return parsed !== null && Number.isInteger(parsed) && parsed >= min && parsed <= max ? parsed : null;
}

/** A field, with a slider beside it if it has stops. @param {Field} field */
function typed({ name, label, symbol = name, stops }) {
  const input = h("input", { className: "short", name, inputMode: "numeric", autocomplete: "off" });
  const why = h("span", { className: "wrong-choice", "data-why": name });
  /** @type {HTMLElement[]} */
  const parts = [h("label", { className: "option" }, h("span", {}, label), input)];
  let follow = () => {};
  if (stops) {
    const range = h("input", { type: "range", min: "0", max: String(stops.length - 1), step: "1", "aria-label": label });
    // Both send "input"; this one first fills in the field.
    range.addEventListener("input", () => (input.value = String(stops[Number(range.value)])));
    follow = () => {
      const typed = number(input.value).value;
      if (typed !== null) range.value = String(nearest(stops, typed));
      range.setAttribute("aria-valuetext", input.value);
    };
    parts.push(range);
  }
  return { element: h("div", { className: "option field", "data-symbol": symbol }, ...parts, why), input, why, follow };
}

/** @param {Field} field @param {(value: number) => string} valueText */
function slider({ name, label, symbol = name, limits: [min, max] }, valueText) {
  const input = h("input", { name, type: "range", min: String(min), max: String(max), step: "1" });
  const output = h("output", {});
  const why = h("span", { className: "wrong-choice", "data-why": name });
  const follow = () => {
    output.textContent = valueText(Number(input.value));
    input.setAttribute("aria-valuetext", output.textContent);
  };
  return { element: h("label", { className: "option slider", "data-symbol": symbol }, h("span", {}, label), input, output, why), input, why, follow };
}

/** @param {number[]} stops @param {number} value */
const nearest = (stops, value) => stops.reduce((best, stop, i) => (Math.abs(Math.log((stop + 1) / (value + 1))) < Math.abs(Math.log((stops[best] + 1) / (value + 1))) ? i : best), 0);

// A plain table of results; a column may name its symbol.

/**
 * @param {(string | {text: string, symbol: string})[]} heads  "": no heading
 * @param {Child[][]} rows  the first cell of each is its heading
 */
export const resultTable = (heads, rows) =>
  el(
    "table",
    { className: "number-table" },
    el("thead", {}, el("tr", {}, heads.map(headed))),
    el("tbody", {}, rows.map(([first, ...otherCells], i) => el("tr", { key: i }, el("th", { scope: "row" }, first), otherCells.map((cell, j) => el("td", { key: j }, cell))))),
  );

/** @param {string | {text: string, symbol: string}} head @param {number} key */
function headed(head, key) {
  if (!head) return el("td", { key });
  return typeof head === "string" ? el("th", { key, scope: "col" }, head) : el("th", { key, scope: "col", "data-symbol": head.symbol }, head.text);
}
