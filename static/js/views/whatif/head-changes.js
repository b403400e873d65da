/** Changes to the current head, or to all heads of its layer. */

import { axes, place } from "../../core/wire/attentions.js";
import { where } from "../../core/store/model-part-names.js";
import { kindOf as changeKind } from "../../core/store/interventions.js";
import { h } from "../../lib/dom.js";
import { bindTyping } from "../../core/figure/text-input.js";
import { editModel, offered } from "../../core/store/set-interventions.js";
import { swapped } from "../../core/compute/token-diff.js";
import { bcp47 } from "../../core/wire/tokens.js";
import { FACTOR, FACTORS, amount, oneOf, onOff } from "./change-controls.js";
import { restricted, rowChoice } from "./row-choice.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Change } from "../../core/store/interventions.js" */

/** @param {Context} context */
export function headChanges(context) {
  const { store, t } = context;
  const { put, remove, replace, found, fixed } = editModel(context);
  let whole = false;
  const at = () => ({ at: place(store.get().model, store.get().link), ...(whole ? {} : { head: store.get().link.head }) });

  /** @param {any} what @returns {Change} */
  const change = (what) => ({ ...at(), ...rows.named(), do: what });
  const rows = rowChoice(context, (before, after) => {
    const old = [change("zero"), change({ temperature: 1 }), scaled(1)].flatMap((one) => found(restricted(one, before)) ?? []);
    // A borrowed pattern is of all rows.
    const kept = old.filter((one) => changeKind(one) !== "freeze");
    if (kept.length) replace(kept, (one) => restricted(one, after));
    refresh();
  });

  const pattern = oneOf(
    context,
    "pattern",
    t("Attention"),
    (chosen) => offered({ own: t("on"), zero: t("off"), uniform: t("uniform"), mean: t("mean"), ...("rows" in rows.named() ? {} : { freeze: t("borrowed") }) }, store.get().model, chosen),
    (value) => {
      if (value === "own") remove(change("zero"));
      else if (value === "freeze") borrow();
      else put(change(value));
    },
  );
  const sentence = h("input", { type: "text", autocomplete: "off", spellcheck: false, "aria-label": t("The sentence to borrow from") });
  const borrowed = h("div", { className: "borrowed", hidden: true }, h("span", {}, t("from")), sentence);
  bindTyping(sentence, { say: () => sentence.value.trim() && borrow(), when: "leave" });
  const heat = amount(t("Temperature of the softmax"), FACTORS, FACTOR, (value, origin) => {
    if (value === 1) remove(change({ temperature: 1 }), origin);
    else put(change({ temperature: value }), origin);
  });
  const scaled = (/** @type {number} */ factor) => ({ ...change({ scale: factor }), at: `${place(store.get().model, store.get().link)}.mix` });
  const scale = amount(t("Scale of its output"), FACTORS, FACTOR, (value, origin) => {
    if (value === 1) remove(scaled(1), origin);
    else put(scaled(value), origin);
  });
  const scope = onOff(t("all heads of this layer"), (on) => {
    whole = on;
    refresh();
  });
  const title = h("h3", {});
  const element = h("section", { className: "of-head" }, title, scope.element, rows.element, pattern.element, borrowed, heat.element, scale.element);

  function borrow() {
    const source = sentence.value.trim() || swapped(store.get().link.source);
    put(change({ freeze: { source } }));
  }

  function refresh() {
    const { model, link, trace } = store.get();
    const still = fixed();
    rows.refresh(trace ? axes(model, trace, link.block).rows : [], still);
    const present = found(change("zero"));
    const kind = present ? changeKind(present) : "own";
    title.textContent = where(change("zero"), t, model);
    pattern.show(kind, still);
    borrowed.hidden = kind !== "freeze";
    if (document.activeElement !== sentence) sentence.value = present?.do?.freeze?.source ?? swapped(link.source);
    sentence.lang = bcp47((trace?.direction ?? "en-zh").split("-")[0]);
    sentence.disabled = still;
    heat.show(Number(found(change({ temperature: 1 }))?.do?.temperature ?? 1), still);
    scale.show(Number(found(scaled(1))?.do?.scale ?? 1), still);
    scope.show(whole, false);
  }
  return { element, refresh };
}
