/**
 * The same head as it was trained, beside the changed one: a head that is off shows what is gone. It is
 * there while something is changed, and lit with the other where both have the same tokens.
 */

import { attention, axes } from "../../data/attentions.js";
import { Problem } from "../../data/problem.js";
import { unchanged } from "../../state/before-after.js";
import { isChanged } from "../../state/interventions.js";
import { answer } from "../../state/view-requests.js";
import { four } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { step } from "../../draw/token.js";
import { createMatrix } from "../../parts/matrix.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../state/store.js").Page} Page */
/** @typedef {import("../../data/wire.js").Trace} Trace */

/** Whether there is something to hold against. @param {Page} page */
const compares = (page) => isChanged(page.link) && !page.share && (page.link.options.pool ?? "one") === "one";

/** @param {Page} page */
export const questions = (page) => (compares(page) ? [unchanged(page)] : []);

/** @param {Page} page */
function found(page) {
  const { model, link } = page;
  const before = compares(page) ? /** @type {Trace | Problem | undefined} */ (answer(page, unchanged(page))) : null;
  const matrix = before && !(before instanceof Problem) ? attention(model, before, link) : null;
  return matrix && before && !(before instanceof Problem) ? { matrix, ...axes(model, before, link.block) } : null;
}

/**
 * @param {Context} context
 * @param {Omit<import("../../parts/matrix.js").Options, "label" | "tip">} gestures  of the changed one
 */
export function createTrained({ store, t, ...rest }, gestures) {
  const context = { store, t, ...rest };
  /** Whether both have the same rows and columns. */
  let same = false;
  const matrix = createMatrix(context, {
    ...gestures,
    label: t("Attention weights as trained. Arrow keys move the cell, Escape unpins."),
    onHover: (place) => gestures.onHover(same ? place : null),
    onPick: (place, how) => same && gestures.onPick(place, how),
    tip({ row, col }) {
      const shown = found(store.get());
      if (!shown) return [];
      const value = shown.matrix.values[row * shown.matrix.cols + col];
      const number = Number.isNaN(value) ? t("masked") : four(value);
      return [step(shown.rows[row]), " ", step(shown.cols[col]), " ", h("b", {}, number)];
    },
  });
  const element = h("section", { className: "as-trained", hidden: true }, h("h3", {}, t("As trained")), matrix.element);

  return {
    element,
    there: () => found(store.get()) !== null,

    /**
     * @param {Pick<import("../../parts/matrix.js").Content, "shade" | "titles" | "width" | "height" | "stretch">} content
     * @param {import("../../data/wire.js").Matrix} changed
     */
    draw(content, changed) {
      const shown = found(store.get());
      element.hidden = !shown;
      if (!shown) return;
      same = shown.matrix.rows === changed.rows && shown.matrix.cols === changed.cols;
      matrix.draw({ ...content, ...shown });
    },

    /** @param {import("../../draw/geometry.js").Place} place */
    mark: (place) => matrix.mark(same ? place : { row: null, col: null }),
    drawing: () => (found(store.get()) ? matrix.drawing() : null),
    destroy: matrix.destroy,
  };
}
