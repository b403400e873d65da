/** The choices for a run (task, mechanisms, training options), Train, and the page's link: a run and a step of it, or the choices. */

import { wording } from "../core/figure/problem-wording.js";
import { taskName } from "../core/store/examples-and-tasks.js";
import { failure } from "../core/wire/reply.js";
import { el, find, render } from "../lib/dom.js";
import { rememberRun } from "./run-commands.js";

/** @import { State } from "../core/store/link.js" */
/** @import { Problem } from "../core/wire/reply.js" */
/** @import { RunsReply } from "../core/wire/schemas.d.ts" */
/** @import { Options } from "../core/wire/requests-by-subject.js" */
/** @import { Translate } from "../lib/i18n.js" */

// The page's link: a run and a step of it, or the chosen options.

/** Keys of the figure, and whether each is a number. @type {Record<string, boolean>} */
const FIGURE = { view: false, block: false, layer: true, head: true, query: true, key: true };

/** @param {string | null} text */
const whole = (text) => (text !== null && /^\d{1,7}$/.test(text) ? Number(text) : null);

/**
 * @param {string} query
 * @returns {{run: string | null, step: number | null, probe: number, options: Record<string, string>, figure: Partial<State>}}
 */
export function parse(query) {
  const parameters = new URLSearchParams(query);
  const figure = Object.entries(FIGURE).flatMap(([key, number]) => {
    const value = number ? whole(parameters.get(key)) : parameters.get(key);
    return value === null ? [] : [[key, value]];
  });
  const pageKeys = new Set([...Object.keys(FIGURE), "run", "step", "probe", "lang"]);
  return {
    run: parameters.get("run"),
    step: whole(parameters.get("step")),
    probe: whole(parameters.get("probe")) ?? 0,
    options: Object.fromEntries([...parameters].filter(([key]) => !pageKeys.has(key))),
    figure: Object.fromEntries(figure),
  };
}

/**
 * @param {object} state
 * @param {{id: string} | null} state.run
 * @param {number | null} state.step  null: the last
 * @param {number} state.probe
 * @param {Record<string, string | number | null>} state.options  those that differ from the
 *   defaults
 * @param {State} state.link  of the figure
 */
export function format({ run, step, probe, options, link }) {
  const parameters = new URLSearchParams();
  const put = (/** @type {string} */ key, /** @type {unknown} */ value) => {
    if (value !== null && value !== undefined && value !== "") parameters.set(key, String(value));
  };
  if (!run) {
    Object.entries(options).forEach(([key, value]) => put(key, value));
    return parameters.toString();
  }
  put("run", run.id);
  put("step", step);
  if (probe) put("probe", probe);
  for (const key of Object.keys(FIGURE)) put(key, link[/** @type {keyof State} */ (key)]);
  return parameters.toString();
}

// The choices for a run (task, mechanisms, training options), and Train.

// A run's options as typed: which are numbers, their errors, and the request.

/** @typedef {Record<string, string>} Typed */

/** Number fields in the form's second row, and those under More options. */
const NUMBERS = ["longest", "heads", "learning_rate", "warmup", "label_smoothing", "steps", "seed"];
const MORE_NUMBERS = ["encoder_layers", "decoder_layers", "d_model", "batch", "dropout"];
const FRACTIONS = new Set(["learning_rate", "label_smoothing", "dropout"]);

/** @param {string} name */
const isNumber = (name) => NUMBERS.includes(name) || MORE_NUMBERS.includes(name);

/** @param {RunsReply} offered @param {Typed} typed */
const taskOf = ({ tasks }, typed) => tasks[typed.task] ?? Object.values(tasks)[0];

/**
 * The options as the server takes them.
 * @param {Typed} typed
 * @returns {import("../core/wire/requests-by-subject.js").Options}
 */
export const requestOptions = (typed) => Object.fromEntries(Object.entries(typed).map(([name, value]) => [name, isNumber(name) ? Number(value) : value]));

/**
 * @param {import("../lib/i18n.js").Translate} t
 * @param {{typed: Typed, offered: RunsReply, fork: {step: number} | null}} form
 * @param {string} name  of an option
 * @returns {string}  the error message; "": none
 */
export function optionError(t, { typed, offered, fork }, name) {
  if (!isNumber(name)) return "";
  const { shortest, most: longest } = taskOf(offered, typed);
  const range = name === "longest" ? { low: shortest, high: longest } : offered.ranges[name];
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

// Names of the options.

/** @param {Translate} t @returns {Record<string, Record<string, string>>}  values by option */
const menus = (t) => ({
  positions: {
    sinusoidal: t("sinusoidal"),
    learned: t("learned"),
    relative: t("relative"),
    "relative-product": t("relative, as a factor"),
    rotary: t("rotary"),
    none: t("none"),
  },
  scoring: { "scaled-dot": "q · k / √dₖ", dot: "q · k", additive: "w · tanh(q + k)", "additive-bias": "w · tanh(q + k + b)" },
  mask: {
    padding: t("no mask"),
    causal: t("causal"),
    "window-2": t("window {n}", { n: 2 }),
    "window-3": t("window {n}", { n: 3 }),
    "window-5": t("window {n}", { n: 5 }),
  },
  norm: { post: t("post-norm"), pre: t("pre-norm") },
});

/** @param {Translate} t @returns {Record<string, string>} */
const labels = (t) => ({
  task: t("Task"),
  positions: t("Positions"),
  scoring: t("Scoring"),
  mask: t("Encoder mask"),
  norm: t("Norm"),
  heads: t("Heads"),
  learning_rate: t("Learning rate"),
  warmup: t("Warm-up steps"),
  label_smoothing: t("Label smoothing"),
  steps: t("Training steps"),
  seed: t("Seed"),
  encoder_layers: t("Encoder layers"),
  decoder_layers: t("Decoder layers"),
  d_model: t("Features"),
  batch: t("Tokens per step"),
  dropout: t("Dropout"),
});

/** The unit of lengths. @param {Translate} t @param {string} unit */
const unitName = (t, unit) => ({ letters: t("letters"), brackets: t("brackets"), digits: t("digits"), nouns: t("nouns") })[unit] ?? unit;

/**
 * @typedef {object} FormState
 * @property {Record<string, string>} typed
 * @property {RunsReply} offered
 * @property {(name: string) => string} wrong  the error of a field; "": none
 * @property {{step: number} | null} fork  the snapshot at which the run starts
 * @property {boolean} busy
 */

const MENUS = ["task", "positions", "scoring", "mask", "norm"];

/** @param {Translate} t @param {FormState} form */
function fields(t, form) {
  const { typed, offered, fork, busy } = form;
  const [source, answer] = offered.tasks[typed.task].example;
  const menu = (/** @type {string} */ name) => choice(t, form, name);
  const typing = (/** @type {string} */ name) => number(t, form, name);
  const { training, waiting } = offered;
  return [
    el("div", { key: "mechanisms", className: "options" }, MENUS.map(menu)),
    el("div", { key: "numbers", className: "options" }, NUMBERS.map(typing)),
    el("details", { key: "more" }, el("summary", {}, t("More options")), el("div", { className: "options" }, MORE_NUMBERS.map(typing))),
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

/** @param {Translate} t @param {FormState} form @param {string} name */
function choice(t, { typed, offered }, name) {
  const tasks = Object.keys(offered.tasks).map((task) => [task, taskName(t, task)]);
  const values = name === "task" ? Object.fromEntries(tasks) : menus(t)[name];
  return el(
    "label",
    { key: name, className: "option menu" },
    el("span", {}, labels(t)[name]),
    el("select", { name, value: typed[name] }, Object.entries(values).map(([id, label]) => el("option", { key: id, value: id }, label))),
  );
}

/** A number field with its error. @param {Translate} t @param {FormState} form @param {string} name */
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
    taskName(t, task),
    t("up to {longest} {unit}", { longest, unit: unitName(t, offered.tasks[task].unit) }),
    ...["positions", "scoring", "mask", "norm"].map((name) => menus(t)[name][typed[name]]),
    t("heads: {heads}", { heads }),
    t("rate {rate}", { rate }),
    t("warm-up {steps}", { steps: warmup }),
    t("steps: {steps}", { steps }),
    t("seed {seed}", { seed }),
  ].join(" · ");
}

/** @typedef {ReturnType<typeof bindChoices>} Choices */

/**
 * @param {import("../workspace/main-figure.js").PageServices} services
 * @param {RunsReply} offered
 * @param {{started: (id: string) => Promise<void>, failed: (problem: Problem) => void, chosen: () => void}} listener
 */
export function bindChoices({ api, t }, offered, { started, failed, chosen }) {
  const form = /** @type {HTMLFormElement} */ (find("#choices"));
  /** The typed values. @type {Record<string, string>} */
  let typed = {};
  /** The server's error for a field. @type {{field: string, words: string} | null} */
  let refused = null;
  /** The snapshot at which the next run starts. @type {{id: string, step: number} | null} */
  let fork = null;
  let busy = false;
  /** Whether the form is collapsed to one line because a run is shown. */
  let folded = false;

  const task = () => taskOf(offered, typed);
  const wrong = (/** @type {string} */ name) => (refused?.field === name ? refused.words : optionError(t, { typed, offered, fork }, name));
  const options = () => requestOptions(typed);

  async function train() {
    if (busy) return;
    const bad = [...NUMBERS, ...MORE_NUMBERS].find(wrong);
    show();
    if (bad) return focus(bad);
    busy = true;
    show();
    try {
      const run = await (fork ? api.forkRun(fork.id, { step: fork.step, options: options() }) : api.startRun(options()));
      rememberRun(run.id, run.key);
      fork = null;
      void started(run.id);
    } catch (error) {
      const problem = failure(error);
      const field = problem.field.split(".").at(-1) ?? "";
      refused = field in typed ? { field, words: wording(t, problem) } : null;
      if (!refused) failed(problem);
    }
    busy = false;
    show();
  }

  /** @param {string} name */
  function focus(name) {
    const field = find(`[name="${name}"]`, form);
    field.closest("details")?.setAttribute("open", "");
    field.focus();
  }

  /** Collapse to one line; its button has the focus if the one that started the run had it. */
  function fold() {
    const inside = form.contains(document.activeElement);
    render(form, el("p", { key: "summary" }, summary(t, typed, offered)), el("button", { key: "unfold", className: "button", type: "button", "data-unfold": "" }, t("New run…")));
    if (inside) find("button", form).focus();
  }

  function show() {
    form.toggleAttribute("data-folded", folded);
    if (folded) return fold();
    render(form, fields(t, { typed, offered, wrong, fork, busy }));
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void train();
  });
  form.addEventListener("input", ({ target }) => {
    const { name, value } = /** @type {HTMLInputElement} */ (target);
    if (!(name in typed)) return;
    if (name === "task" && value !== typed.task) typed.longest = String(offered.tasks[value].usual);
    typed[name] = value;
    refused = null;
    show();
    chosen();
  });
  form.addEventListener("click", ({ target }) => {
    const { cancel, unfold } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
    if (cancel === undefined && unfold === undefined) return;
    fork = null;
    folded = cancel !== undefined;
    show();
    if (!folded) focus("task");
  });

  return {
    /**
     * @param {Record<string, string | number | null>} options  unknown values are left out
     * @param {boolean} [fold]  collapse to one line
     */
    fill(options, fold = false) {
      folded = fold;
      const entries = Object.entries({ ...offered.defaults, ...options }).filter(([name]) => name in offered.defaults);
      typed = Object.fromEntries(entries.map(([name, value]) => [name, value === null ? "" : String(value)]));
      if (!(typed.task in offered.tasks)) typed.task = String(offered.defaults.task);
      typed.longest ||= String(task().usual);
      refused = null;
      show();
    },

    /** The options that differ from the defaults. @returns {Options} */
    changed() {
      /** @type {Options} */
      const usual = { ...offered.defaults, longest: task().usual };
      return Object.fromEntries(Object.entries(typed).filter(([name, value]) => String(usual[name]) !== value));
    },

    /** Let the next run start at a snapshot. @param {{id: string, step: number}} snapshot */
    fork(snapshot) {
      fork = snapshot;
      folded = false;
      if (Number(typed.steps) <= snapshot.step) typed.steps = String(Math.min(snapshot.step * 2, offered.ranges.steps.high));
      show();
      find("[type=submit]", form).focus();
    },
  };
}
