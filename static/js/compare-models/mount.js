/** Compare with a second model, on the same text. */

import { Problem } from "../core/wire/problem.js";
import { matrix, named } from "../core/compute/computed-tensors.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { changeList } from "../core/figure/comparison/largest-changes.js";
import { wording } from "../core/figure/problem-wording.js";
import { models } from "./model-comparison.js";
import { finding } from "./finding.js";
import { panels } from "./panels.js";
import { pickers } from "./pickers.js";
import { axesOf, pointing } from "./pointing.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Models } from "./model-comparison.js" */

/**
 * @param {Context} context
 * @param {HTMLElement} root
 * @param {HTMLElement} bar  with the options, to which it adds
 * @param {import("../core/figure/types.js").Finding} finding
 */
export function mountModels(context, root, bar, { line: lead, inner }) {
  const { store } = context;
  const found = () => {
    const result = models(store.get());
    return result instanceof Problem ? null : result;
  };
  function light() {
    const shown = found();
    const marked = points.marked();
    all.mark(marked);
    render(lead, shown ? finding(context, shown, marked) : []);
  }
  const points = pointing(context, found, light);
  const choose = pickers(context);
  const hint = h("div", { className: "hint" });
  const all = panels(context, points);
  all.element.classList.add("models");
  const list = changeList(context, points.pick);
  all.element.append(list.element);
  bar.append(...choose.elements);
  root.append(inner, hint, all.element);

  return {
    draw() {
      const result = models(store.get());
      const shown = found();
      choose.refresh();
      render(hint, hints(context, result));
      all.element.hidden = !shown;
      if (shown) {
        points.forget();
        all.draw(shown);
        const [rows, cols] = axesOf(shown, "delta");
        list.draw({ rows, cols, changes: shown.changes });
      }
      light();
    },
    light,
    destroy: () => (points.stop(), all.destroy(), choose.elements.forEach((element) => element.remove())),
    picture: () => (found() ? all.picture() : null),
    numbers() {
      const shown = found();
      return shown && numbersOf(shown);
    },
  };
}

/**
 * Why there is nothing to compare, or no difference.
 * @param {Context} context
 * @param {ReturnType<typeof models>} result
 * @returns {import("../lib/render.js").Described[]}
 */
function hints({ t }, result) {
  if (result instanceof Problem) return [el("p", { className: "problem", role: "alert" }, wording(t, result))];
  if (!result || result.delta) return [];
  const same = { rows: result.a.rows.text === result.b.rows.text, cols: result.a.cols.text === result.b.cols.text };
  if (same.rows && same.cols) return [el("p", {}, t("A and B have no equal tokens, so there is no difference to show."))];
  return [el("p", {}, same.cols
    ? t("The rows of A and B are different texts, so there is no difference to show. Point at a column to see the same characters in both.")
    : same.rows
      ? t("The columns of A and B are different texts, so there is no difference to show. Point at a row to see the same characters in both.")
      : t("A and B show different texts. Choose attention within the sentence in both to compare them."))];
}

/** @param {Models} shown @returns {import("../core/compute/computed-tensors.js").Shown} */
function numbersOf(shown) {
  const { a, b, delta } = shown;
  const [rows, cols] = axesOf(shown, "delta");
  const tokens = { "a.query": named(a.rows.steps), "a.key": named(a.cols.steps), "b.query": named(b.rows.steps), "b.key": named(b.cols.steps) };
  const tensors = { a: matrix(a.matrix, "a.query", "a.key"), b: matrix(b.matrix, "b.query", "b.key") };
  if (!delta) return { tokens, tensors };
  return {
    tokens: { ...tokens, query: named(rows.steps), key: named(cols.steps) },
    tensors: { ...tensors, delta: matrix(delta.matrix) },
  };
}
