/**
 * Highlight one cell in all three pictures: the hovered one, else the pinned one, else the largest
 * change. The link pins tokens of the page's own run; cells that only B has can be hovered but not
 * pinned.
 */

import { blockAt } from "../../wire/attentions.js";
import { lit } from "../../store/highlight.js";
import { four } from "../../../lib/numbers.js";
import { plainStep } from "../../wire/tokens.js";
import { shownAt } from "../../store/comparison.js";
import { el } from "../../../lib/render.js";
import { step } from "../../draw/token.js";
import { COVER } from "../../compute/aggregate-attention.js";

/** @import { Context } from "../types.js" */
/** @import { Comparison } from "../../store/comparison.js" */
/** @import { Place } from "../../draw/geometry.js" */
/** @typedef {{row: number, col: number}} Cell */

/**
 * @param {Context} context
 * @param {() => Comparison | null} found  what is shown
 * @param {() => void} light  called when the highlight changes
 */
export function pointing(context, found, light) {
  const { store } = context;
  /** @type {Place | null} */
  let over = null;

  /** @returns {Place} */
  function marked() {
    const shown = found();
    if (!shown) return { row: null, col: null };
    if (over) return over;
    const at = lit(store.get(), store.hovered());
    const [first] = shown.changes;
    if (at.by === "default" && first) return { row: first.row, col: first.col };
    return { row: shownAt(shown.rows, at.query), col: shownAt(shown.cols, at.key) };
  }

  /** @param {Place | null} place */
  function onHover(place) {
    const shown = found();
    over = place;
    store.hover(place && shown && refs(context, shown, place));
    light();
  }

  /** @param {Place} place @param {"click" | "key" | "list"} how */
  function onPick(place, how) {
    const shown = found();
    if (!shown) return;
    const row = place.row ?? marked().row;
    const { col } = place;
    over = null;
    const { query, key } = tokens(shown, { row, col });
    const { link } = store.get();
    if (query === null || (key === null && col !== null)) over = { row, col };
    else if (how === "click" && link.query === query && link.key === key) {
      store.go({ query: null, key: null });
      return light();
    } else store.go({ query, key }, how === "key" ? "moved" : "pinned");
    light();
    if (row === null || col === null) return;
    const names = { query: plainStep(shown.rows.steps[row]), key: plainStep(shown.cols.steps[col]) };
    context.announce(context.t("query {query}, key {key}: {weight}", { ...names, weight: said(context, shown, { row, col }).join(", ") }));
  }

  // A cell that only B has is not pinned by the link, which Escape clears.
  const stop = context.keys.listen(({ key }) => {
    if (key !== "Escape" || !over) return;
    over = null;
    light();
    context.announce(context.t("Unpinned."));
  });

  return {
    marked,
    stop,
    onHover,
    onPick,
    /** Forget the hovered cell, because the drawing has changed. */
    forget: () => (over = null),
    picked: () => ({ row: marked().row ?? 0, col: marked().col ?? 0 }),
    /** @param {Cell} cell */
    tip(cell) {
      const shown = found();
      if (!shown) return [];
      return [
        el("span", { className: "as-query" }, step(shown.rows.steps[cell.row])),
        " ",
        el("span", { className: "as-key" }, step(shown.cols.steps[cell.col])),
        ...said(context, shown, cell).map((words) => el("b", {}, words)),
      ];
    },
  };
}

/** @param {Comparison} shown @param {Place} place  A's tokens; null where it has none. */
function tokens({ rows, cols }, { row, col }) {
  return {
    query: row === null ? null : rows.pairs[row].a,
    key: col === null ? null : cols.pairs[col].a,
  };
}

/**
 * @param {Context} context
 * @param {Comparison} shown
 * @param {Place} place
 * @returns {import("../../store/store.js").Lit}
 */
function refs({ store }, shown, place) {
  const sides = blockAt(store.get());
  const { query, key } = tokens(shown, place);
  return {
    query: query === null ? null : { side: sides.query, index: query },
    key: key === null ? null : { side: sides.key, index: key },
  };
}

/**
 * A, B and B − A of a cell, in words.
 * @param {Context} context
 * @param {Comparison} shown
 * @param {Cell} cell
 */
function said({ t }, { a, b, delta, cols }, { row, col }) {
  const at = row * cols.pairs.length + col;
  /** @param {import("../../compute/token-diff.js").Covered} of @param {string} sign  of what is above zero */
  const number = ({ matrix, cover }, sign = "") => {
    if (cover[at] === COVER.masked) return t("masked");
    if (cover[at] !== COVER.open) return "—";
    return (matrix.values[at] > 0 ? sign : "") + four(matrix.values[at]);
  };
  return [`A ${number(a)}`, `B ${number(b)}`, `Δ ${number(delta, "+")}`];
}
