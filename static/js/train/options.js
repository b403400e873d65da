/** A run's options as typed: which are numbers, their errors, and the request. */

/** @import { RunsReply } from "../core/wire/schemas.d.ts" */
/** @typedef {Record<string, string>} Typed */

/** Number fields in the form's second row, and those under More options. */
export const NUMBERS = ["longest", "heads", "learning_rate", "warmup", "label_smoothing", "steps", "seed"];
export const MORE = ["encoder_layers", "decoder_layers", "d_model", "batch", "dropout"];
const FRACTIONS = new Set(["learning_rate", "label_smoothing", "dropout"]);

/** @param {string} name */
const isNumber = (name) => NUMBERS.includes(name) || MORE.includes(name);

/** @param {RunsReply} offered @param {Typed} typed */
export const taskOf = ({ tasks }, typed) => tasks[typed.task] ?? Object.values(tasks)[0];

/**
 * The options as the server takes them.
 * @param {Typed} typed
 * @returns {import("../core/wire/subject-requests.js").Options}
 */
export const asked = (typed) => Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, isNumber(name) ? Number(value) : value]));

/**
 * @param {import("../lib/i18n.js").Translate} t
 * @param {{typed: Typed, offered: RunsReply, fork: {step: number} | null}} form
 * @param {string} name  of an option
 * @returns {string}  the error message; "": none
 */
export function wrongOf(t, { typed, offered, fork }, name) {
  if (!isNumber(name)) return "";
  const { shortest, most } = taskOf(offered, typed);
  const range = name === "longest" ? { low: shortest, high: most } : offered.ranges[name];
  const low = name === "steps" && fork ? fork.step + 1 : range.low;
  const { high } = range;
  const value = Number(typed[name]);
  const whole = FRACTIONS.has(name) || Number.isInteger(value);
  if (typed[name].trim() === "" || !whole || !(value >= low && value <= high))
    return FRACTIONS.has(name) ? t("A number from {low} to {high}", { low, high }) : t("A whole number from {low} to {high}", { low, high });
  if (name === "heads" && Number(typed.d_model) % value)
    return t("{width} channels cannot be shared by {heads} heads", { width: typed.d_model, heads: value });
  return "";
}
