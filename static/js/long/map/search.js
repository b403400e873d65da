/** Search in a long text: a field, the number of matches, and buttons to step through them. */

import { h, write } from "../../lib/dom.js";
import { bindTyping } from "../../core/figure/text-input.js";
import { matches } from "./text-search.js";

/** @import { Axis } from "./axes.js" */

/**
 * @param {import("../../core/figure/types.js").Context} context
 * @param {(tokens: {from: number, to: number} | null) => void} onFound  the tokens of a match; null: none
 */
export function createSearch({ t, announce }, onFound) {
  const field = h("input", { type: "search", placeholder: t("Find in the text"), "aria-label": t("Find in the text"), enterKeyHint: "search" });
  const count = h("output", {});
  const [back, next] = [[t("Previous match"), "‹"], [t("Next match"), "›"]].map(([label, sign]) =>
    h("button", { type: "button", className: "button quiet", "aria-label": label, disabled: true }, sign));
  const element = h("div", { className: "find", role: "search" }, field, count, back, next);
  /** @type {Axis | null} */
  let axis = null;
  /** @type {{from: number, to: number}[]} */
  let found = [];
  let at = 0;

  function look() {
    found = axis ? matches(axis, field.value) : [];
    at = 0;
    show();
  }

  function show() {
    const said = !field.value.trim() ? "" : found.length ? t("match {n} of {count}", { n: at + 1, count: found.length }) : t("not found");
    write(count, said);
    back.disabled = next.disabled = found.length < 2;
    if (said) announce(said);
    onFound(found[at] ?? null);
  }

  /** @param {number} by */
  function step(by) {
    if (!found.length) return;
    at = (at + by + found.length) % found.length;
    show();
  }

  bindTyping(field, { say: look, onEnter: () => (found.length ? step(1) : look()) });
  field.addEventListener("search", () => !field.value && look());
  back.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));

  return {
    element,
    /** @param {Axis} text  that is searched */
    read(text) {
      if (axis?.tokens === text.tokens) return;
      axis = text;
      if (field.value) look();
    },
  };
}
