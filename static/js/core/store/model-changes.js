/**
 * Change the model: each change is a separate entry in the browser's history, so Back undoes it.
 */

import { canChangeAttention } from "../wire/attentions.js";
import { isFixed } from "./share-contents.js";
import { changes, withSameTarget, linkValueOf, plainChange, putChange, isSameChange, toggleChange, withoutChange } from "./interventions.js";

/** @import { Context } from "../figure/types.js" */
/** @import { Change } from "./interventions.js" */
/** @import { Origin } from "./store.js" */

/**
 * The effects that a model supports: the mean of a head has to be known.
 * @param {Record<string, string>} effects  with their names
 * @param {import("./store.js").Page["model"]} model
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
