/**
 * The text beside the map, with tokens shaded by the weights of the pinned row or column, and a
 * search.
 */

import { h, write } from "../../lib/dom.js";
import { render } from "../../lib/render.js";
import { two } from "../../lib/numbers.js";
import { radios } from "../../core/figure/controls.js";
import { shadeOf } from "../../core/draw/shade.js";
import { createTextPanel } from "./text-panel.js";
import { createSearch } from "./search.js";
import { matrixName } from "./requests.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Shown, Place } from "./map.js" */
/** @typedef {"row" | "col"} Side  the text of the queries, or of the keys */

/**
 * With one text, a switch selects the shading; with two, each has its own.
 * @param {Context} context
 * @param {ReturnType<typeof import("./pins.js").createPins>} pins
 */
export function createReader(context, pins) {
  const { store, t, own } = context;
  /** @type {{from: number, to: number} | null} */
  let match = null;
  /** @type {Shown | null} */
  let shown = null;
  let shaded = "";

  const one = () => shown !== null && shown.axes.rows.tokens === shown.axes.cols.tokens;
  const column = () => store.get().link.options.shade === "column";
  /** What a click in a panel pins. @param {Side} side @returns {Side} */
  const picks = (side) => (one() ? (column() ? "col" : "row") : side);
  const panelOf = (/** @type {Side} */ side, /** @type {string} */ label) =>
    createTextPanel({ label, onPick: (token) => pins.token(picks(side), token), onHover: (token) => pins.point(picks(side), token) });
  const panels = { col: panelOf("col", t("The text of the keys")), row: panelOf("row", t("The text of the queries")) };
  const search = createSearch(context, (tokens) => {
    match = tokens;
    mark(null);
    if (!tokens) return;
    panels.col.reveal(tokens.from);
    pins.goTo(tokens.from, one() ? ["row", "col"] : ["col"]);
  });
  const says = h("p", { className: "darkest" });
  const ways = h("fieldset", { className: "choice ways" }, h("legend", { className: "hidden" }, t("Shading of the text")));
  ways.addEventListener("change", ({ target }) => store.choose({ shade: /** @type {HTMLInputElement} */ (target).value }));
  const element = h("div", { className: "reader" }, search.element, ways, says, panels.row.element, panels.col.element);

  /** What a panel shows: its axis, and the weights for shading. @param {Side} side */
  function roleOf(side) {
    if (!shown) return null;
    const { axes, row, col } = shown;
    const byRow = one() ? !column() : side === "col";
    return { axis: byRow ? axes.cols : axes.rows, weights: byRow ? row : col, pinned: byRow ? shown.lit.row : shown.lit.col };
  }

  function shade() {
    if (!shown) return;
    const roles = { col: roleOf("col"), row: roleOf("row") };
    const sides = /** @type {Side[]} */ (one() ? ["col"] : ["col", "row"]);
    const state = [matrixName(shown.page), column(), shown.shade.floor, context.theme().paper, ...sides.map((side) => roles[side]?.weights && roles[side]?.pinned)].join(" ");
    if (state === shaded) return;
    shaded = state;
    for (const side of sides) {
      const { axis, weights } = /** @type {NonNullable<ReturnType<typeof roleOf>>} */ (roles[side]);
      const most = panels[side].shade(weights && ((token) => weights[axis.unitOf(token)]), shadeOf(context, shown.page));
      if (side === "col") tell(most);
    }
  }

  /** @param {number | null} most  the weight that is darkest */
  function tell(most) {
    const by = column() && one() ? t("Click a token to see which tokens look at it.") : t("Click a token to see what it looks at.");
    write(says, most === null ? by : shown?.shade.floor ? t("The darker, the larger the weight; the largest is {weight}.", { weight: two(most) }) : t("The darkest token has {weight}.", { weight: two(most) }));
  }

  /** Outline the pinned, found and hovered tokens. @param {Place | null} hovered  in units */
  function mark(hovered) {
    if (!shown) return;
    const { axes: { rows, cols }, lit } = shown;
    const place = (/** @type {string} */ name, /** @type {import("./axes.js").Axis} */ axis, /** @type {number | null | undefined} */ unit) => {
      if (unit === null || unit === undefined) return [];
      const [from, to] = axis.tokensOf(unit);
      return [{ name, from, to }];
    };
    const ofRows = [...place("pointed", rows, hovered?.row), ...place("as-query", rows, lit.row)];
    const ofCols = [...place("pointed", cols, hovered?.col), ...place("as-key", cols, lit.col)];
    const found = match ? [{ name: "found", ...match }] : [];
    panels.col.mark([...(one() ? ofRows : []), ...ofCols, ...found]);
    if (!one()) panels.row.mark(ofRows);
  }

  return {
    element,
    mark,

    /** @param {Shown} next */
    show(next) {
      shown = next;
      panels.row.element.hidden = one();
      ways.hidden = !one();
      panels.col.element.setAttribute("aria-label", one() ? t("The text") : t("The text of the keys"));
      render(ways, ways.firstElementChild, radios(own("shade"), { row: t("what it looks at"), column: t("what looks at it") }, column() ? "column" : "row"));
      panels.col.write(next.axes.cols);
      if (!one()) panels.row.write(next.axes.rows);
      search.read(next.axes.cols);
      shade();
      mark(null);
    },

    /** @param {Side} side @param {number} token */
    reveal: (side, token) => panels[one() ? "col" : side].reveal(token),
  };
}
