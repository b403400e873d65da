/** The similarity of positions, which depends only on their distance. */

import { largest } from "../../lib/vectors.js";
import { brief, four, tiny, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el } from "../../lib/render.js";
import { step } from "../../core/draw/token.js";
import { decay, dots } from "../../core/compute/positions.js";
import { diverging } from "../../core/draw/scale.js";
import { plot } from "../../core/draw/curves.js";
import { createPanel } from "./position-matrix.js";
import { marked, places } from "./encodings.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Positions } from "./encodings.js" */

/** @param {Context} context */
export function createLikeness(context) {
  const { store, t } = context;
  /** @type {Positions | null} */
  let found = null;
  /** @type {import("../../core/wire/wire.js").Matrix | null} */
  let matrix = null;
  let fall = { mean: /** @type {number[]} */ ([]), spread: 0 };
  const panel = createPanel(context, {
    name: t("Similarity"),
    says: "",
    square: true,
    tip({ row, col }) {
      if (!found || !matrix) return [];
      const value = matrix.values[row * found.length + col];
      const rows = places(store.get(), found.length);
      return [step(rows[row]), " ", step(rows[col]), " ", el("b", {}, four(value))];
    },
  });
  const canvas = h("div", { className: "scroller curves", tabIndex: 0, role: "group", "aria-label": t("By distance") });
  const section = h("section", { className: "panel" }, h("h3", {}, t("By distance")), canvas);
  const dot = () => store.get().link.options.measure === "dot";

  /** @param {Positions} table */
  function values({ length, d_model, positions, similarity }) {
    const cosines = { rows: length, cols: length, values: similarity };
    return dot() ? dots({ rows: length, cols: d_model, values: positions }, cosines) : cosines;
  }

  function draw() {
    if (!found) return;
    const { length } = found;
    matrix = values(found);
    fall = decay(matrix);
    const { width, height, wide } = context.room();
    const most = reach();
    panel.say(
      dot()
        ? t("PE(a) · PE(b), as in a score: from −{most} to {most}", { most: two(most) })
        : found.waves
          ? t("cosine between the encodings of two positions: neighbours are similar; −1 to 1")
          : t("cosine between the rows of two positions; −1 to 1"),
    );
    const rows = places(store.get(), length);
    panel.draw({
      matrix,
      shade: { stops: diverging(context.theme()), range: [-most, most] },
      rows,
      cols: rows,
      titles: { rows: t("position"), cols: t("position") },
      width: wide ? (width - 48) * 0.46 : width,
      height: height - 90,
      stretch: 1,
      largest: 40,
    });
    light();
  }

  function light() {
    panel.light();
    if (!found) return;
    canvas.replaceChildren(curve(context, dot() ? "PE · PE" : "cos", fall.mean, reach()));
  }

  const reach = () => (dot() && found && matrix ? dotReach(found, matrix) : 1);

  function finding() {
    if (!found) return [];
    return fall.spread < 1e-3 * reach()
      ? [t("Similarity depends only on the distance: pairs at the same distance differ by at most {spread}.", { spread: tiny(fall.spread) })]
      : [t("Similarity depends on more than the distance: single pairs are up to {spread} away from the mean of their distance.", { spread: four(fall.spread) })];
  }

  return {
    element: h("div", { className: "panels" }, panel.element, section),
    /** @param {Positions} table */
    draw(table) {
      found = table;
      draw();
    },
    light,
    finding,
    destroy: panel.destroy,
    picture: panel.picture,
  };
}

/**
 * The limit of the scale of dot products.
 * @param {Positions} found
 * @param {import("../../core/wire/wire.js").Matrix} matrix
 */
const dotReach = ({ waves, d_model }, { values }) => (waves ? Math.max(1, d_model / 2) : largest(values) || 1);

/**
 * A curve by distance.
 * @param {Context} context
 * @param {string} name
 * @param {number[]} values  one per distance
 * @param {number} most  largest possible value
 */
function curve({ store, t, theme, room }, name, values, most) {
  const { width, height, wide } = room();
  const { row, col } = marked(store.get(), store.hovered());
  return plot(
    {
      curves: [{ name, values, colour: theme().attention }],
      range: [Math.min(0, ...values), most],
      titles: { x: t("distance between the positions"), y: "" },
      width: Math.max(280, wide ? (width - 48) * 0.5 : width),
      height: Math.min(400, Math.max(240, height - 120)),
      at: row !== null && col !== null ? Math.abs(row - col) : null,
      say: brief,
    },
    theme(),
  );
}
