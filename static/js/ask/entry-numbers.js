/** An answer by typing numbers, one per field. */

import { number } from "../lib/cells.js";
import { four, plainly, two } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { judged } from "../lab/exercise.js";
import { isStated } from "./number.js";

/** @import { Question } from "./question.js" */
/** @import { Shown } from "./entries.js" */

/** @param {string} text @param {number} value @param {Question} question */
function near(text, value, { within }) {
  if (within === undefined) return judged(text, value) === "right";
  const typed = number(text).value;
  return typed !== null && Math.abs(typed - value) <= within;
}

/** @type {import("./entries.js").Entry} */
export const numbersEntry = {
  complete: (answer, choices) => choices.every((_, i) => number(answer[i] ?? "").value !== null),
  right: (answer, { numbers = [] }, question) => numbers.every((value, i) => near(answer[i] ?? "", value, question)),
  draw: (shown) => shown.choices.map((_, i) => field(shown, i)),
};

/** Numbers as a program reads them; what is no number stays. @param {string[]} answer */
export const plainNumbers = (answer) => answer.map((text) => String(number(text).value ?? text));

/** @param {Shown} shown @param {number} i */
function field({ t, question, choices, answer, found, tally, fixed, change }, i) {
  const text = answer[i] ?? "";
  const value = found?.numbers?.[i];
  const right = value === undefined || !text.trim() ? undefined : near(text, value, question);
  const wrong = text.trim() !== "" && number(text).value === null;
  const oninput = (/** @type {Event} */ { target }) => {
    const typed = /** @type {HTMLInputElement} */ (target).value;
    change(choices.map((_, at) => (at === i ? typed : (answer[at] ?? ""))));
  };
  const input = el("input", { type: "text", inputMode: "decimal", autocomplete: "off", value: text, readOnly: fixed, "aria-invalid": String(wrong), oninput });
  const truth = value !== undefined && el("span", { className: "truth" }, el("span", { "aria-hidden": "true" }, right === undefined ? "" : right ? "✓ " : "✗ "), isStated(question) ? plainly(value) : four(value));
  const mean = tally && average(tally.map((one) => number(one[i] ?? "").value));
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
  const typed = values.flatMap((one) => (one === null ? [] : [one]));
  return typed.length ? typed.reduce((a, b) => a + b, 0) / typed.length : null;
}
