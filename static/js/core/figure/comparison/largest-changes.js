/** The largest changes, in words and numbers. */

import { isOff } from "../../store/interventions.js";
import { blockAt } from "../../wire/attentions.js";
import { four, plus, two } from "../../../lib/numbers.js";
import { h } from "../../../lib/dom.js";
import { el, render } from "../../../lib/render.js";
import { quoted, step } from "../../draw/token.js";

/** @import { Context } from "../types.js" */
/** @import { Comparison } from "../../store/comparison.js" */
/** @import { Change } from "../../compute/token-diff.js" */
/** @import { Step } from "../../wire/tokens.js" */

/**
 * @param {Context} context
 * @param {Comparison} shown
 * @returns {import("../../../lib/render.js").Child[]}
 */
export function headline({ store, t, say }, { rows, cols, changes }) {
  const { other: by } = store.get().link.options;
  const [first] = changes;
  if (!first && by === "sentence" && isOff(store.get())) return [t("Nothing changes: this head is off in A and in B.")];
  if (!first && [...rows.pairs, ...cols.pairs].some(({ a, b }) => a === null || b === null))
    return [t("No weight changes between the tokens that A and B share.")];
  if (!first)
    return [by === "sentence" ? t("Nothing changes: A and B are the same. Change a word in B.") : t("Nothing changes: A and B are the same.")];
  const writes = blockAt(store.get()).writes && by !== "direction";
  const values = {
    query: el("span", { className: "as-query" }, quoted(rows.steps[first.row].writes)),
    key: el("span", { className: "as-key" }, quoted(cols.steps[first.col].writes)),
    a: two(first.a),
    b: two(first.b),
  };
  if (by === "direction")
    return say(t("Largest difference: between {query} and {key} the weight is {a} in A, {b} in B."), values);
  return writes
    ? say(t("Largest change: while writing {query} the weight on {key} is {a} in A, {b} in B."), values)
    : say(t("Largest change: the weight of {query} on {key} is {a} in A, {b} in B."), values);
}

/**
 * @param {Context} context
 * @param {(change: Change) => void} choose
 */
export function changeList({ t }, choose) {
  const list = h("ol", {});
  const element = h("section", { className: "changes" }, h("h3", {}, t("Largest changes")), list);
  return {
    element,
    /** @param {{rows: {steps: Step[]}, cols: {steps: Step[]}, changes: Change[]}} shown */
    draw({ rows, cols, changes }) {
      element.hidden = !changes.length;
      render(
        list,
        changes.map((change) =>
          el(
            "li",
            {},
            el(
              "button",
              { type: "button", className: "change", onclick: () => choose(change) },
              el(
                "span",
                { className: "cell-name" },
                el("span", { className: "as-query" }, step({ ...rows.steps[change.row], reads: null })),
                " ",
                el("span", { className: "as-key" }, step(cols.steps[change.col])),
              ),
              el("span", { className: "numbers" }, `${four(change.a)} → ${four(change.b)}`),
              el("b", { className: change.change > 0 ? "more" : "less" }, plus(change.change, four)),
            ),
          ),
        ),
      );
    },
  };
}
