/** Restrict a change to some rows: a checkbox and, once it is on, the tokens of these rows. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { plainStep } from "../../core/wire/tokens.js";
import { token } from "../../core/draw/token.js";
import { onOff } from "./change-controls.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Step } from "../../core/wire/tokens.js" */

/** @param {import("../../core/store/interventions.js").Change} change @param {number[] | null} rows */
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
    set(rows.includes(row) ? rows.filter((one) => one !== row) : [...rows, row].sort((a, b) => a - b));
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
        const said = { "aria-label": plainStep(step), "aria-pressed": chosen?.includes(row) ?? false };
        return el("li", {}, el("button", { type: "button", className: "chip", disabled: still, onclick: () => toggle(row), ...said }, token(step.writes)));
      }));
    },
  };
}
