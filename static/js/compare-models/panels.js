/** Two models' maps side by side, each with its own tokens, and B − A where tokens are equal. */

import { abreast } from "../core/draw/side-by-side.js";
import { file } from "../core/draw/svg.js";
import { diverging, sequential } from "../core/draw/scale.js";
import { reach } from "../core/compute/token-diff.js";
import { h } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { el, render } from "../lib/render.js";
import { FAINT, layout } from "../core/figure/comparison/panels.js";
import { legend } from "../core/figure/legend.js";
import { createMatrix } from "../core/figure/matrix.js";
import { modelB, placeB } from "./model-comparison.js";
import { called } from "../core/store/model-names.js";
import { placeName } from "../core/store/model-part-names.js";
import { axesOf } from "./pointing.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Models } from "./model-comparison.js" */
/** @import { Which } from "./pointing.js" */

const WHICH = /** @type {Which[]} */ (["a", "b", "delta"]);

/**
 * @param {Context} context
 * @param {ReturnType<typeof import("./pointing.js").pointing>} points
 */
export function panels(context, points) {
  const { t, theme } = context;
  const labels = {
    a: t("Attention weights of A. Arrow keys move the cell, Escape unpins."),
    b: t("Attention weights of B. Arrow keys move the cell, Escape unpins."),
    delta: t("B minus A. Arrow keys move the cell, Escape unpins."),
  };
  const all = WHICH.map((which) => {
    const title = h("h3", {});
    const matrix = createMatrix(context, { ...points.of(which), label: labels[which] });
    const key = legend(context);
    return { which, title, matrix, key, element: h("section", { className: `trio-${which}` }, title, matrix.element, key.element) };
  });
  const element = h("div", { className: "trio" }, ...all.map((one) => one.element));
  let most = FAINT;
  /** @type {Models | null} */
  let drawn = null;
  const visible = () => all.filter(({ which }) => which !== "delta" || drawn?.delta);

  return {
    element,

    /** @param {Models} shown */
    draw(shown) {
      drawn = shown;
      most = Math.max(shown.delta ? reach(shown.delta.matrix) : 0, FAINT);
      const sizes = [shown.a, shown.b].flatMap(({ rows, cols }) => [rows.steps.length, cols.steps.length]);
      const [across, room] = layout(context, Math.max(...sizes), shown.delta && fits(context, Math.max(...sizes)) ? 3 : 2);
      element.dataset.across = String(across);
      element.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
      for (const { which, element: section } of all) section.hidden = which === "delta" && !shown.delta;
      for (const { which, title, matrix, key } of visible()) {
        /** @type {import("../core/draw/paint.js").Shade} */
        const shade = which === "delta" ? { stops: diverging(theme()), range: [-most, most] } : { stops: sequential(theme()), range: [0, 1] };
        const [rows, cols] = axesOf(shown, which);
        const numbers = which === "delta" && shown.delta ? shown.delta : { matrix: shown[which === "b" ? "b" : "a"].matrix };
        const says = heading(context, which, most);
        render(title, el("b", {}, { a: "A", b: "B", delta: "Δ" }[which]), ` ${says}`);
        title.title = says;
        key.show({ shade, covers: new Set("cover" in numbers ? numbers.cover : numbers.matrix.values.some(Number.isNaN) ? [1] : []) });
        matrix.draw({ ...numbers, shade, rows: rows.steps, cols: cols.steps, titles: { rows: t("query (looks)"), cols: t("key (looked at)") }, ...room });
      }
    },

    /** @param {import("./pointing.js").Marked} marked */
    mark: (marked) => all.forEach(({ which, matrix }) => matrix.mark(marked[which])),

    destroy: () => all.forEach(({ matrix }) => matrix.destroy()),

    /** The pictures side by side, each below its title. */
    picture() {
      const parts = visible().map(({ which, matrix }) => ({ svg: matrix.drawing(), title: `${{ a: "A ", b: "B ", delta: "Δ = " }[which]}${heading(context, which, most)}` }));
      return { svg: file(abreast(parts, theme()), theme()) };
    },
  };
}

/** The width of a cell and of what is beside the cells, below which B − A goes below the maps. */
const ROOM = { cell: 14, beside: 120 };

/** Whether three pictures fit side by side. @param {Context} context @param {number} cells  in a row */
const fits = (context, cells) => context.room().width / 3 >= ROOM.beside + ROOM.cell * cells;

/**
 * The model, and the place in it; of Δ, the limit of its scale.
 * @param {Context} context
 * @param {Which} which
 * @param {number} most
 */
function heading({ store, t }, which, most) {
  const page = store.get();
  if (which === "delta") return `B − A, ±${two(most)}`;
  const [model, at] = which === "a" ? [page.model, page.link] : [modelB(page), placeB(page)];
  if (!model || !at) return "";
  return t("{place}, head {n} · {model}", { model: called(t, model), place: placeName(at.block, at.layer, t), n: at.head + 1 });
}
