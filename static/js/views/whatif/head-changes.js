/** Changes to the current head, or to all heads of its layer. */

import { place } from "../../data/attentions.js";
import { where } from "../../state/feature-wording.js";
import { kindOf } from "../../state/interventions.js";
import { h } from "../../lib/dom.js";
import { bindTyping } from "../../parts/text-input.js";
import { editModel, offered } from "../../state/set-interventions.js";
import { swapped } from "../../compute/word-swap.js";
import { bcp47 } from "../../data/tokens.js";
import { FACTOR, FACTORS, amount, oneOf, onOff } from "./change-controls.js";

/** @typedef {import("../../state/types.js").Context} Context */

/** @param {Context} context */
export function headChanges(context) {
  const { store, t } = context;
  const { put, remove, found, fixed } = editModel(context);
  let whole = false;

  /** @param {any} what */
  function change(what) {
    const { model, link } = store.get();
    return { at: place(model, link), ...(whole ? {} : { head: link.head }), do: what };
  }

  const pattern = oneOf(
    context,
    "pattern",
    t("Attention"),
    (chosen) => offered({ own: t("on"), zero: t("off"), uniform: t("uniform"), mean: t("mean"), freeze: t("borrowed") }, store.get().model, chosen),
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
  const element = h("section", { className: "of-head" }, title, scope.element, pattern.element, borrowed, heat.element, scale.element);

  function borrow() {
    const source = sentence.value.trim() || swapped(store.get().link.source);
    put(change({ freeze: { source } }));
  }

  function refresh() {
    const { link, trace } = store.get();
    const still = fixed();
    const present = found(change("zero"));
    const kind = present ? kindOf(present) : "own";
    title.textContent = where({ ...change("zero") }, t, store.get().model);
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
