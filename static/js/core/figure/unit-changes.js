/** One hidden unit of a feed-forward network: its number, and what is done to it. */

import { editModel } from "../store/model-changes.js";
import { h } from "../../lib/dom.js";
import { PLAIN, amount, oneOf } from "./change-controls.js";

/** @import { Context } from "./types.js" */

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
