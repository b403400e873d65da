/** The form of a run's options, and their one-line summary. */

import { el } from "../lib/render.js";
import { MORE, NUMBERS } from "./options.js";
import { labels, menus, taskNames, unitName } from "./words.js";

/** @import { RunsReply } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */
/**
 * @typedef {object} Shown
 * @property {Record<string, string>} typed
 * @property {RunsReply} offered
 * @property {(name: string) => string} wrong  the error of a field; "": none
 * @property {{step: number} | null} fork  the snapshot at which the run starts
 * @property {boolean} busy
 */

const MENUS = ["task", "positions", "scoring", "mask", "norm"];

/** @param {Translate} t @param {Shown} shown */
export function fields(t, shown) {
  const { typed, offered, fork, busy } = shown;
  const [source, answer] = offered.tasks[typed.task].example;
  const menu = (/** @type {string} */ name) => choice(t, shown, name);
  const typing = (/** @type {string} */ name) => number(t, shown, name);
  const { training, waiting } = offered;
  return [
    el("div", { key: "mechanisms", className: "options" }, MENUS.map(menu)),
    el("div", { key: "numbers", className: "options" }, NUMBERS.map(typing)),
    el("details", { key: "more" }, el("summary", {}, t("More options")), el("div", { className: "options" }, MORE.map(typing))),
    el(
      "div",
      { key: "go", className: "go" },
      el("button", { key: "train", className: "button strong", type: "submit", "aria-disabled": String(busy) }, fork ? t("Fork from step {step}", { step: fork.step }) : t("Train")),
      fork && el("button", { key: "cancel", className: "button quiet", type: "button", "data-cancel": "" }, t("Cancel")),
      el("p", { key: "example", className: "note" }, t("Example: {source} → {answer}", { source, answer })),
      training + waiting > 0 && el("p", { key: "busy", className: "note" }, t("Training now: {training}; waiting: {waiting}", { training, waiting })),
    ),
  ];
}

/** @param {Translate} t @param {Shown} shown @param {string} name */
function choice(t, { typed, offered }, name) {
  const values = name === "task" ? taskNames(t, Object.keys(offered.tasks)) : menus(t)[name];
  return el(
    "label",
    { key: name, className: "option menu" },
    el("span", {}, labels(t)[name]),
    el("select", { name, value: typed[name] }, Object.entries(values).map(([id, says]) => el("option", { key: id, value: id }, says))),
  );
}

/** A number field with its error. @param {Translate} t @param {Shown} shown @param {string} name */
function number(t, { typed, offered, wrong }, name) {
  const why = wrong(name);
  const unit = unitName(t, offered.tasks[typed.task].unit);
  const bad = why ? { "aria-invalid": "true", "aria-describedby": `why-${name}` } : {};
  return el(
    "label",
    { key: name, className: "option number" },
    el("span", {}, name === "longest" ? t("Up to ({unit})", { unit }) : labels(t)[name]),
    el("input", { name, className: "short", inputMode: "decimal", autocomplete: "off", value: typed[name], ...bad }),
    why && el("span", { id: `why-${name}`, className: "why" }, why),
  );
}

/**
 * The chosen options in one line.
 * @param {Translate} t
 * @param {Record<string, string>} typed
 * @param {RunsReply} offered
 */
export function summary(t, typed, offered) {
  const { task, heads, steps, learning_rate: rate, warmup, longest, seed } = typed;
  return [
    taskNames(t, [task])[task],
    t("up to {longest} {unit}", { longest, unit: unitName(t, offered.tasks[task].unit) }),
    ...["positions", "scoring", "mask", "norm"].map((name) => menus(t)[name][typed[name]]),
    t("heads: {heads}", { heads }),
    t("rate {rate}", { rate }),
    t("warm-up {steps}", { steps: warmup }),
    t("steps: {steps}", { steps }),
    t("seed {seed}", { seed }),
  ].join(" · ");
}
