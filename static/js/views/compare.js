/** Two runs, heads or layers side by side, and what changed between them. */

import { Problem } from "../api.js";
import { BLOCK, lit, place } from "../blocks.js";
import { four } from "../caption.js";
import { comparison, otherPlace, otherRun, shownAt } from "../compare.js";
import { h, step } from "../dom.js";
import { choice, text, whole } from "../options.js";
import { controls } from "../parts/controls.js";
import { COVER } from "../reshape.js";
import { changeList, headline } from "./compare/changes.js";
import { otherPicker } from "./compare/picker.js";
import { panels } from "./compare/panels.js";
import { otherBox } from "./compare/sentence.js";

/** @typedef {import("./index.js").View} View */
/** @typedef {import("../geometry.js").Place} Place */

/** @type {View} */
export const compare = {
  id: "compare",
  name: (t) => t("Compare"),
  about: (t) =>
    t(
      "A is the page's own sentence, head and layer; B differs from it in one thing. The same tokens share a row and a column, and what only one of the two has leaves a gap in the other. The third picture is B minus A: orange where B looks more, blue where it looks less.",
    ),
  frame: { rail: "both", inspector: false, caption: false, legend: "none" },
  options: {
    other: choice("sentence", "head", "layer", "direction"),
    b: text(),
    head_b: whole(0, 999),
    layer_b: whole(0, 999),
  },
  needs(page) {
    const places = [page.link, { ...page.link, ...otherPlace(page) }];
    return places.flatMap((at) => [place(at, "weights"), place(at, "mask")]);
  },
  asks: (page) => [otherRun(page)].flatMap((question) => question ?? []),
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  /** Where the pointer is: what only B has is no place of the page's own run. @type {Place | null} */
  let over = null;
  const found = () => {
    const result = comparison(store.get());
    return result instanceof Problem ? null : result;
  };
  const bar = controls(context, [
    {
      option: "other",
      label: t("B differs in"),
      values: {
        sentence: t("a word"),
        head: t("the head"),
        layer: t("the layer"),
        direction: t("the direction"),
      },
    },
  ]);
  const picker = otherPicker(context);
  const box = otherBox(context);
  const lead = h("p", { className: "lead" });
  const hint = h("div", { className: "hint" });
  const trio = panels(context, { onHover, onPick, picked, tip });
  const list = changeList(context, (change) => pick({ row: change.row, col: change.col }, "push"));
  bar.append(picker.element);
  trio.element.append(list.element);
  root.append(bar, box.element, lead, hint, trio.element);

  /** @param {Place | null} place */
  function onHover(place) {
    const shown = found();
    over = place;
    store.hover(place && shown && refs(place));
    light();
  }
  /** @param {Place} place  Of what is not in A nothing is lit elsewhere. */
  function refs({ row, col }) {
    const shown = found();
    const sides = BLOCK[store.get().link.block];
    const query = row === null ? null : (shown?.rows.pairs[row].a ?? null);
    const key = col === null ? null : (shown?.cols.pairs[col].a ?? null);
    return {
      query: query === null ? null : { side: sides.query, index: query },
      key: key === null ? null : { side: sides.key, index: key },
    };
  }
  /** @param {Place} place @param {"click" | "key"} how */
  function onPick(place, how) {
    pick(place, how === "click" ? "push" : "replace", how === "click");
  }
  /** @param {Place} place @param {"push" | "replace"} history @param {boolean} [toggles] */
  function pick(place, history, toggles = false) {
    const shown = found();
    if (!shown) return;
    over = null;
    const at = marked();
    const row = place.row ?? at.row;
    const query = row === null ? null : shown.rows.pairs[row].a;
    const key = place.col === null ? null : shown.cols.pairs[place.col].a;
    if (query === null || (key === null && place.col !== null)) {
      over = { row, col: place.col };
      light();
    } else if (toggles && store.get().link.query === query && store.get().link.key === key)
      store.go({ query: null, key: null });
    else store.go({ query, key }, history);
    if (!toggles && row !== null && place.col !== null) announce({ row, col: place.col });
  }
  function picked() {
    const { row, col } = marked();
    return { row: row ?? 0, col: col ?? 0 };
  }
  /** What is lit in all three: the pointer's cell, else the pin, else the largest change. @returns {Place} */
  function marked() {
    const shown = found();
    if (!shown) return { row: null, col: null };
    if (over) return over;
    const at = lit(store.get(), store.hovered());
    const first = shown.changes[0];
    if (at.by === "default" && first) return { row: first.row, col: first.col };
    return { row: shownAt(shown.rows, at.query), col: shownAt(shown.cols, at.key) };
  }

  /** @param {{row: number, col: number}} cell @returns {string[]}  A, B and B − A */
  function said({ row, col }) {
    const shown = found();
    if (!shown) return [];
    const at = row * shown.cols.pairs.length + col;
    const values = [shown.a, shown.b, shown.delta].map(({ matrix, cover }) => {
      if (cover[at] === COVER.open) return matrix.values[at];
      return cover[at] === COVER.masked ? t("masked") : null;
    });
    const [a, b, delta] = values.map((value) => (typeof value === "number" ? four(value) : (value ?? "—")));
    const sign = typeof values[2] === "number" && values[2] > 0 ? "+" : "";
    return [`A ${a}`, `B ${b}`, `Δ ${sign}${delta}`];
  }
  /** @param {{row: number, col: number}} cell */
  function tip(cell) {
    const shown = found();
    if (!shown) return [];
    return [
      h("span", { className: "as-query" }, step(shown.rows.steps[cell.row])),
      " ",
      h("span", { className: "as-key" }, step(shown.cols.steps[cell.col])),
      ...said(cell).map((words) => h("b", {}, words)),
    ];
  }
  /** @param {{row: number, col: number}} cell */
  function announce(cell) {
    context.announce(said(cell).join(", "));
  }

  function draw() {
    const page = store.get();
    const { other: by } = page.link.options;
    const result = comparison(page);
    const shown = result instanceof Problem ? null : result;
    bar.refresh();
    picker.refresh();
    box.refresh(by === "sentence", result instanceof Problem ? result : null);
    hint.replaceChildren(...hints(result));
    trio.element.hidden = !shown;
    lead.replaceChildren(...(shown ? headline(context, shown) : []));
    if (!shown) return;
    over = null;
    trio.draw(shown);
    list.draw(shown);
    light();
  }

  /** @param {ReturnType<typeof comparison>} result @returns {(Node | string)[]}  What stands in the way. */
  function hints(result) {
    const { other: by } = store.get().link.options;
    if (by !== "direction") return [];
    if (store.get().link.block !== "cross") {
      const button = h("button", { type: "button", className: "button" }, t("Show cross attention"));
      button.addEventListener("click", () => store.go({ block: "cross", query: null, key: null }));
      return [h("p", {}, t("The two directions meet in cross attention only, where one language looks at the other.")), button];
    }
    if (result instanceof Problem) return [h("p", {}, t("The translation cannot be read back: the other direction has nothing to show."))];
    return [];
  }

  function light() {
    trio.mark(marked());
  }

  return { draw, light, destroy: trio.destroy, picture: trio.picture };
}
