/** Controls that change the model instead of the view. */

import { el, h, render } from "../../lib/dom.js";
import { significant } from "../../lib/numbers.js";
import { throttle } from "../../lib/timing.js";
import { token } from "../draw/token.js";
import {
  changes, isSameChange, linkValueOf, plainChange, putChange, toggleChange, withSameTarget, withoutChange,
} from "../store/interventions.js";
import { isFixed } from "../store/share-contents.js";
import { canChangeAttention } from "../wire/model-description.js";
import { plainStep } from "../wire/tokens.js";
import { radios } from "./controls.js";

/** @import { Change } from "../store/interventions.js" */
/** @import { Origin } from "../store/store.js" */
/** @import { Step } from "../wire/tokens.js" */
/** @import { Context } from "./types.js" */

// Change the model: each change is a separate entry in the browser's history, so Back undoes it.

/**
 * The effects that a model supports: the mean of a head has to be known.
 * @param {Record<string, string>} effects  with their names
 * @param {import("../store/store.js").Page["model"]} model
 * @param {string} [present]  one that is chosen already
 */
export const offered = (effects, model, present) =>
  Object.fromEntries(Object.entries(effects).filter(([effect]) => effect !== "mean" || effect === present || !model || model.capabilities.includes("mean")));

/** @param {Pick<Context, "store" | "t" | "announce">} context */
export function editModel({ store, t, announce }) {
  const list = () => changes(store.get().link);

  /** Set the changes and show the changed model. @param {Change[]} next @param {Origin} [origin] */
  function set(next, origin = "chosen") {
    if (JSON.stringify(next) === JSON.stringify(list())) return;
    const { options } = store.get().link;
    store.go({ interventions: linkValueOf(next), options: options.as === "trained" ? { ...options, as: "changed" } : options }, origin);
  }

  return {
    list,

    /**
     * Whether the model cannot be changed: a share whose model is gone, or a model of which only
     * the weights are known.
     */
    fixed: () => isFixed(store.get()) || !canChangeAttention(store.get().model),

    /** @param {Change} change @returns {Change | null}  what is done to the same thing */
    currentChange: (change) => withSameTarget(list(), change),

    /** @param {Change} change  Whether just this is on. */
    on(change) {
      const present = withSameTarget(list(), change);
      return present !== null && isSameChange(present, change);
    },

    /** @param {Change} change @param {Origin} [origin] */
    put(change, origin) {
      announce(plainChange(change, store.get(), t));
      set(putChange(list(), change), origin);
    },

    /** @param {Change} change  What is about the same thing goes. @param {Origin} [origin] */
    remove(change, origin) {
      announce(t("Undone: {change}", { change: plainChange(withSameTarget(list(), change) ?? change, store.get(), t) }));
      set(withoutChange(list(), change), origin);
    },

    /** @param {Change} change */
    toggle(change) {
      announce(plainChange(change, store.get(), t));
      set(toggleChange(list(), change));
    },

    /**
     * @param {Change[]} present  of the list
     * @param {(change: Change) => Change | null} to  null: it goes
     * @param {Origin} [origin]
     */
    replace(present, to, origin) {
      const next = list().map((change) => (present.includes(change) ? to(change) : change));
      for (const change of next) if (change && !list().includes(change)) announce(plainChange(change, store.get(), t));
      set(next.flatMap((change) => change ?? []), origin);
    },

    /** @param {number} index  One of the list, whatever it is. */
    drop(index) {
      announce(t("Undone: {change}", { change: plainChange(list()[index], store.get(), t) }));
      set(list().filter((_, i) => i !== index));
    },

    clear() {
      announce(t("All changes undone: this is the model as trained."));
      set([]);
    },
  };
}

/**
 * Radio buttons.
 * @param {import("./types.js").Context} context
 * @param {string} name  of the radio buttons
 * @param {string} label
 * @param {(value: string) => Record<string, string>} values  given the chosen one
 * @param {(value: string) => void} choose
 */
export function oneOf({ uniqueId }, name, label, values, choose) {
  const list = h("div", { className: "choice" });
  const element = h("fieldset", { className: "option" }, h("legend", {}, label), list);
  element.addEventListener("change", (event) => choose(/** @type {HTMLInputElement} */ (event.target).value));
  return {
    element,
    /** @param {string} value @param {boolean} fixed */
    show: (value, fixed) => render(list, radios(uniqueId(`change-${name}`), values(value), value, () => fixed)),
  };
}

/**
 * A checkbox.
 * @param {string} label
 * @param {(on: boolean) => void} choose
 */
export function onOff(label, choose) {
  const box = h("input", { type: "checkbox" });
  box.addEventListener("change", () => choose(box.checked));
  return {
    element: h("label", { className: "option toggle" }, box, h("span", {}, label)),
    box,
    /** @param {boolean} value @param {boolean} fixed */
    show: (value, fixed) => ((box.checked = value), (box.disabled = fixed)),
  };
}

/** Make one gesture one entry in the browser's history, however often the value changes. */
export function gesture() {
  let going = false;
  return {
    next: () => (going ? "moved" : ((going = true), "chosen")),
    end: () => void (going = false),
  };
}

/** A tenth of a decade per step, in both directions: 0.1 to 10, with 0.5 and 2. */
export const FACTORS = { min: -10, max: 10, step: 1 };
export const FACTOR = {
  read: (/** @type {number} */ position) => Number((10 ** (position / 10)).toPrecision(2)),
  write: (/** @type {number} */ value) => 10 * Math.log10(value),
  say: (/** @type {number} */ value) => significant(value, 3),
};

/** A slider whose positions are the values. */
export const PLAIN = { read: (/** @type {number} */ position) => position, write: (/** @type {number} */ value) => value, say: String };

/** Milliseconds between two runs while a slider moves. */
export const PACE = 90;

/**
 * A slider with a number field. One drag of the slider is one step of Back.
 * @param {string} label
 * @param {{min: number, max: number, step: number}} range
 * @param {{read: (position: number) => number, write: (value: number) => number, say: (value: number) =>
 *   string}} scale converts between slider positions and values
 * @param {(value: number, origin: "chosen" | "moved") => void} choose
 */
export function amount(label, range, scale, choose) {
  const moved = gesture();
  const slider = h("input", { type: "range", min: String(range.min), max: String(range.max), step: String(range.step), "aria-label": label });
  const number = h("input", { type: "number", step: "any", inputMode: "decimal", "aria-label": label });
  const [low, high] = [scale.read(range.min), scale.read(range.max)];
  const move = throttle((/** @type {number} */ value) => choose(value, moved.next()), PACE);
  slider.addEventListener("input", () => {
    const value = scale.read(Number(slider.value));
    number.value = scale.say(value);
    move.later(value);
  });
  slider.addEventListener("change", () => (move.now(), moved.end()));
  number.addEventListener("change", () => {
    const value = Number(number.value);
    if (number.value.trim() !== "" && value >= low && value <= high) choose(value, "chosen");
    else number.setAttribute("aria-invalid", "true");
  });
  [number.min, number.max] = [String(low), String(high)];
  return {
    element: h("div", { className: "option amount" }, h("span", {}, label), slider, number),
    /** @param {number} value @param {boolean} fixed */
    show(value, fixed) {
      if (document.activeElement !== slider) slider.value = String(scale.write(value));
      if (document.activeElement !== number) number.value = scale.say(value);
      number.removeAttribute("aria-invalid");
      slider.setAttribute("aria-valuetext", scale.say(value));
      slider.disabled = number.disabled = fixed;
    },
  };
}

// Restrict a change to some rows: a checkbox and, once it is on, the tokens of these rows.

/** @param {import("../store/interventions.js").Change} change @param {number[] | null} rows */
export function restricted({ rows: _, ...change }, rows) {
  return rows ? { ...change, rows } : change;
}

/**
 * @param {Context} context
 * @param {(before: number[] | null, after: number[] | null) => void} changed  null: all rows
 * @param {() => number} [first]  the row that is chosen at first
 */
export function rowChoice({ store, t }, changed, first = () => store.get().link.query ?? 0) {
  /** @type {number[] | null} */
  let chosen = null;
  /** @type {Step[]} */
  let steps = [];
  const some = onOff(t("only at some tokens"), (on) => set(on ? [Math.min(first(), steps.length - 1)] : null));
  const tokens = h("ol", { className: "row-tokens", "aria-label": t("Tokens at which the model is changed") });
  const element = h("div", { className: "row-choice" }, some.element, tokens);

  /** @param {number[] | null} rows */
  function set(rows) {
    const before = chosen;
    chosen = rows?.length ? rows : null;
    changed(before, chosen);
  }

  /** @param {number} row */
  function toggle(row) {
    const rows = chosen ?? [];
    set(rows.includes(row) ? rows.filter((chosenRow) => chosenRow !== row) : [...rows, row].sort((a, b) => a - b));
  }

  return {
    element,
    /** The rows as a change names them: nothing for all of them. */
    named: () => (chosen ? { rows: chosen } : {}),
    /** @param {number[] | null} rows  From now on, without a change. */
    take: (rows) => void (chosen = rows),
    /** @param {Step[]} now @param {boolean} still */
    refresh(now, still) {
      steps = now;
      // Another sentence may be shorter.
      chosen = chosen?.filter((row) => row < steps.length) ?? null;
      if (!chosen?.length) chosen = null;
      some.show(chosen !== null, still || !steps.length);
      tokens.hidden = chosen === null;
      render(tokens, steps.map((step, row) => {
        const ariaProps = { "aria-label": plainStep(step), "aria-pressed": chosen?.includes(row) ?? false };
        return el("li", {}, el("button", { type: "button", className: "chip", disabled: still, onclick: () => toggle(row), ...ariaProps }, token(step.writes)));
      }));
    },
  };
}

// One hidden unit of a feed-forward network: its number, and what is done to it.

/** Values that a unit can be set to with the slider. */
const VALUES = { min: -20, max: 20, step: 0.5 };

/**
 * @param {Context} context
 * @param {object} of
 * @param {() => string} of.network  such as "encoder.0.ffn"
 * @param {() => {rows?: number[]}} [of.rows]  to which a change is restricted
 * @param {(unit: number) => void} [of.onUnit]  called when the reader has typed another number
 */
export function createUnitChanges(context, { network, rows = () => ({}), onUnit = () => {} }) {
  const { store, t } = context;
  const { put, remove, currentChange } = editModel(context);
  const number = h("input", { type: "number", min: "1", step: "1", value: "1", inputMode: "numeric", "aria-label": t("Hidden unit") });
  const change = (/** @type {any} */ effect) => ({ at: `${network()}.hidden`, units: [Number(number.value) - 1], ...rows(), do: effect });
  const value = amount(t("Value of the unit"), VALUES, PLAIN, (to, origin) => put(change({ fill: to }), origin));
  const state = oneOf(context, "unit", t("Its value"), () => ({ own: t("as computed"), zero: t("zero"), fill: t("set") }), (kind) => {
    if (kind === "own") remove(change("zero"));
    else put(change(kind === "zero" ? "zero" : { fill: 1 }));
  });
  number.addEventListener("change", () => {
    if (!number.checkValidity() || number.value === "") number.value = "1";
    show(false);
    onUnit(Number(number.value) - 1);
  });
  const element = h("div", { className: "of-unit" }, h("label", { className: "option" }, h("span", {}, t("Hidden unit")), number), state.element, value.element);

  /** @param {boolean} still */
  function show(still) {
    const present = currentChange(change("zero"));
    const set = present?.do?.fill;
    state.show(!present ? "own" : set === undefined ? "zero" : "fill", still);
    value.element.hidden = set === undefined;
    value.show(Number(set ?? 0), still);
  }
  return {
    element,
    change,
    /** @param {number} unit */
    choose(unit) {
      if (document.activeElement !== number) number.value = String(unit + 1);
    },
    /** @param {boolean} isNetwork  whether the sublayer is a network @param {boolean} still */
    refresh(isNetwork, still) {
      element.hidden = !isNetwork;
      if (!isNetwork) return;
      const hidden = store.get().model?.networks?.find((candidate) => candidate.place === network())?.hidden;
      if (hidden) number.max = String(hidden);
      show(still);
    },
  };
}
