/**
 * Changes to a sublayer (an attention or a feed-forward network): off, scaled, without its residual
 * connection; and to one hidden unit of a network.
 */

import { attentionAt, axes, place, placeOf, stacked } from "../../core/wire/attentions.js";
import { hasSublayers, networks, sublayerName } from "../../core/store/model-part-names.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { editModel } from "../../core/store/set-interventions.js";
import { FACTOR, FACTORS, PLAIN, amount, oneOf, onOff } from "./change-controls.js";
import { restricted, rowChoice } from "./row-choice.js";

/** @import { Context } from "../../core/figure/types.js" */

/** Values that a unit can be set to with the slider. */
const VALUES = { min: -10, max: 10, step: 0.5 };

/** @param {Context} context */
export function sublayerChanges(context) {
  const { store, t } = context;
  const { put, remove, replace, found, on, toggle, fixed } = editModel(context);
  const select = h("select", { "aria-label": t("Sublayer") });
  /** @type {string | null} */
  let chosen = null;
  const output = (/** @type {any} */ what) => ({ at: `${select.value}.output`, ...rows.named(), do: what });
  const residual = () => ({ at: `${select.value}.residual`, do: "drop" });
  const off = onOff(t("switched off: adds nothing"), (value) => (value ? put(output("zero")) : remove(output("zero"))));
  const scale = amount(t("Scale of its output"), FACTORS, FACTOR, (value, origin) => {
    if (value === 1) remove(output({ scale: 1 }), origin);
    else put(output({ scale: value }), origin);
  });
  const drop = onOff(t("residual connection dropped"), () => toggle(residual()));
  const unit = unitChanges(context, () => select.value, () => rows.named());
  const rows = rowChoice(context, (before, after) => {
    const old = [output("zero"), unit.change("zero")].flatMap((one) => found(restricted(one, before)) ?? []);
    if (old.length) replace(old, (one) => restricted(one, after));
    refresh();
  });
  select.addEventListener("change", () => {
    chosen = select.value;
    refresh();
  });
  const element = h("section", { className: "of-sublayer" }, h("h3", {}, t("A sublayer")), h("div", { className: "option residual" }, select), rows.element, off.element, scale.element, unit.element, drop.element);

  function refresh() {
    const { model, link, trace } = store.get();
    if (!model) return;
    element.hidden = !hasSublayers(model);
    const still = fixed();
    const places = networks(model).flatMap(({ at, stack, layer }) => [...stacked(model, stack).map(({ rows }) => rows[layer].place), at]);
    const current = chosen !== null && places.includes(chosen) ? chosen : place(model, link);
    render(select, places.map((at) => el("option", { value: at }, sublayerName(model, at, t))));
    select.value = current;
    const stack = select.value.split(".")[0];
    const block = attentionAt(model, select.value) ? placeOf(model, select.value)?.block : stacked(model, stack)[0]?.id;
    rows.refresh(trace && block ? axes(model, trace, block).rows : [], still);
    const present = found(output("zero"));
    off.show(present?.do === "zero", still);
    scale.show(Number(present?.do?.scale ?? 1), still || present?.do === "zero");
    drop.show(on(residual()), still);
    // Of a Hugging Face model, the networks whose units are recorded are listed.
    const units = model.networks?.length ? model.networks.some((one) => one.place === current) : networks(model).some(({ at }) => at === current);
    unit.refresh(units, still);
  }
  return { element, refresh };
}

/**
 * Set one hidden unit of a feed-forward network.
 * @param {Context} context
 * @param {() => string} network  such as "encoder.0.ffn"
 * @param {() => {rows?: number[]}} rows
 */
function unitChanges(context, network, rows) {
  const { store, t } = context;
  const { put, remove, found } = editModel(context);
  const number = h("input", { type: "number", min: "1", step: "1", value: "1", inputMode: "numeric", "aria-label": t("Hidden unit") });
  const change = (/** @type {any} */ what) => ({ at: `${network()}.hidden`, units: [Number(number.value) - 1], ...rows(), do: what });
  const value = amount(t("Value of the unit"), VALUES, PLAIN, (to, origin) => put(change({ fill: to }), origin));
  const state = oneOf(context, "unit", t("Its value"), () => ({ own: t("as computed"), zero: t("zero"), fill: t("set") }), (kind) => {
    if (kind === "own") remove(change("zero"));
    else put(change(kind === "zero" ? "zero" : { fill: 1 }));
  });
  number.addEventListener("change", () => {
    if (!number.checkValidity() || number.value === "") number.value = "1";
    show(false);
  });
  const element = h("div", { className: "of-unit" }, h("label", { className: "option" }, h("span", {}, t("Hidden unit")), number), state.element, value.element);

  /** @param {boolean} still */
  function show(still) {
    const present = found(change("zero"));
    const set = present?.do?.fill;
    state.show(!present ? "own" : set === undefined ? "zero" : "fill", still);
    value.element.hidden = set === undefined;
    value.show(Number(set ?? 0), still);
  }
  return {
    element,
    change,
    /** @param {boolean} shown  whether the sublayer is a network @param {boolean} still */
    refresh(shown, still) {
      element.hidden = !shown;
      if (!shown) return;
      const hidden = store.get().model?.networks?.find((one) => one.place === network())?.hidden;
      if (hidden) number.max = String(hidden);
      show(still);
    },
  };
}
