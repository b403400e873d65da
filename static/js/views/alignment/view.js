/**
 * Which source word each written word looks at: lines between the sentence and its translation,
 * and the same as a table. From one head, the mean of its layer, or the mean of all.
 */

import { alignment as alignments, links, wordOf } from "../../compute/alignment.js";
import { across, attention, between, extent, place } from "../../data/attentions.js";
import { lit } from "../../state/highlight.js";
import { prose } from "../../lib/i18n.js";
import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";
import { token } from "../../draw/token.js";
import { choice, some, whole } from "../../state/options.js";
import { controls } from "../../parts/controls.js";
import { createMatrix } from "../../parts/matrix.js";
import { combine } from "../../compute/aggregate-attention.js";
import { sequential } from "../../draw/scale.js";
import { file } from "../../draw/svg.js";
import { labels, languages } from "../../data/tokens.js";
import { createLines } from "./word-lines.js";
import { nearest, remarks, rowsOf, sentence, text } from "./summary.js";

/** @typedef {import("../../state/types.js").View} View */
/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../state/store.js").Page} Page */
/** @typedef {import("./summary.js").Shown} Shown */

/** Pixels: between lines and table, the least that each needs beside the other, what is around. */
const [GAP, HALF, TEXT, LOW] = [32, 460, 150, 240];

/** @type {View} */
export const alignment = {
  id: "alignment",
  name: (t) => t("Alignment"),
  about: (t) =>
    t(
      "A line joins each written word to the source words that were looked at while it was written, or just after, when it was read; the thicker, the more. The dark line is the strongest one of its word. The table has the same in numbers.",
    ),
  blocks: between,
  capabilities: ["alignment"],
  frame: { rail: "both", inspector: false, caption: false, legend: "attention" },
  options: { of: choice("head", "layer", "all"), rows: some("writes", "reads"), least: whole(0, 100, 10) },
  needs: (page) => layers(page).flatMap((layer) => ["weights", "mask"].map((name) => place(page.model, { block: across(page.model).id, layer }, name))),
  mount,
};

/** @param {Page} page */
function layers({ link, model }) {
  if (link.options.of !== "all" || !model) return [link.layer];
  return [...Array(extent(model, across(model).id).layers).keys()];
}

/** @param {Page} page @returns {import("../../data/wire.js").Matrix | null}  null until all of it is here */
function weights(page) {
  const { trace, link, model } = page;
  if (!trace || !model) return null;
  const one = link.options.of === "head";
  const heads = one ? [link.head] : [...Array(extent(model, across(model).id).heads).keys()];
  const planes = layers(page).flatMap((layer) =>
    heads.map((head) => attention(model, trace, { block: across(model).id, layer, head })),
  );
  const found = planes.filter((plane) => plane !== null);
  return found.length === planes.length ? combine(found, "mean") : null;
}

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  /** @type {Shown | null} */
  let shown = null;
  const options = controls(context, [
    {
      option: "of",
      label: t("Weights of"),
      values: { head: t("this head"), layer: t("this layer"), all: t("all layers") },
    },
    {
      option: "rows",
      label: t("Rows that"),
      values: { writes: t("write the word"), reads: t("read it") },
      otherwise: () => rowsOf(store.get()),
    },
    {
      option: "least",
      label: t("Lines from"),
      range: [0, 50, 1],
      say: (value) => two(value / 100),
    },
  ]);
  const finding = h("p", { className: "finding" });
  const best = h("p", { className: "best" });
  const lines = createLines(context, { hover, pick });
  const note = h("p", { className: "note" });
  const table = createMatrix(context, {
    label: t("Soft alignment: one row a written word, one column a source word"),
    onHover: (at) => hover({ target: at?.row ?? null, source: at?.col ?? null }),
    onPick: ({ row, col }, how) => pick({ target: row, source: col }, how),
    picked() {
      const { target, source } = words();
      return { row: Math.max(target, 0), col: Math.max(source, 0) };
    },
    tip,
  });
  root.append(
    options,
    h(
      "div",
      { className: "aligned" },
      finding,
      best,
      h("div", { className: "scroller" }, lines.element),
      h("div", { className: "scroller" }, table.element),
      note,
    ),
  );

  /** The words that are lit; −1 where none is. */
  function words() {
    if (!shown) return { target: -1, source: -1, by: /** @type {const} */ ("default") };
    const at = lit(store.get(), store.hovered());
    const { source, target } = shown.found;
    // The row that is lit by itself is worth a look for what it reads, where that is what is shown.
    const before = at.by === "default" && shown.by === "reads" && at.query !== null;
    const query = before ? Math.max(Number(at.query) - 1, 0) : at.query;
    return { target: wordOf(target, query), source: wordOf(source, at.key), by: at.by };
  }

  /** @param {{target: number | null, source: number | null}} at */
  function hover({ target, source }) {
    if (!shown || (target === null && source === null)) return store.hover(null);
    const { found } = shown;
    store.hover({
      query: target === null ? null : { side: across(store.get().model).query, index: found.target.groups[target][0] },
      key: source === null ? null : { side: across(store.get().model).key, index: found.source.groups[source][0] },
    });
  }

  /** @param {{target: number | null, source: number | null}} at @param {"click" | "key"} how */
  function pick({ target, source }, how) {
    if (!shown) return;
    const { found } = shown;
    const present = lit(store.get(), null).query;
    const query = target === null ? present : found.target.groups[target][0];
    const key = source === null ? null : found.source.groups[source][0];
    store.go({ query, key }, how === "click" ? "pinned" : "moved");
    if (target !== null) context.announce(sentence(context, shown, target).map(text).join(""));
  }

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    if (!shown) return [];
    const value = shown.found.soft.values[row * shown.found.soft.cols + col];
    const none = Number.isNaN(shown.found.special[row]) ? t("no row") : t("masked");
    return [
      h("span", { className: "as-query" }, token(shown.target[row])),
      " ",
      h("span", { className: "as-key" }, token(shown.source[col])),
      " ",
      h("b", {}, Number.isNaN(value) ? none : four(value)),
    ];
  }

  function draw() {
    options.refresh();
    const page = store.get();
    best.replaceChildren(...nearest(context, page));
    const matrix = weights(page);
    if (!page.trace || !matrix) return;
    shown = read(page, page.trace, matrix);
    const { found, source, target } = shown;
    const empty = !source.length || !target.length;
    root.querySelector(".aligned")?.toggleAttribute("data-empty", empty);
    if (empty) return finding.replaceChildren(t("There are no words to align: only special tokens."));
    const { width, height } = context.room();
    const least = page.link.options.least / 100;
    const { links: drawn, faint } = links(found, least);
    const half = (width - GAP) / 2;
    const picture = { links: drawn, source, target };
    // Side by side where both have room, else one above the other.
    const pair = half >= HALF && lines.fits(picture, half);
    lines.draw({ ...picture, width: pair ? half : width, height: pair ? height - TEXT : LOW });
    note.textContent = prose(remarks(context, shown, least, faint));
    table.draw({
      matrix: found.soft,
      shade: { stops: sequential(context.theme()), range: [0, 1] },
      rows: target.map(alone),
      cols: source.map(alone),
      titles: { rows: t("written word"), cols: t("source word") },
      width: pair ? half : width,
      height: pair ? Math.max(height - TEXT, target.length * 16 + 90) : target.length * 34 + 90,
      stretch: 1.8,
      largest: 36,
    });
    light();
  }

  function light() {
    if (!shown || !shown.source.length || !shown.target.length) return;
    const at = words();
    lines.light(at);
    table.mark({ row: at.target < 0 ? null : at.target, col: at.source < 0 ? null : at.source });
    if (at.target >= 0) render(finding, ...sentence(context, shown, at.target));
  }

  return {
    draw,
    light,
    destroy: () => (table.destroy(), root.replaceChildren()),
    picture: () => ({ svg: file(lines.drawing(), context.theme()) }),
  };
}

/** @param {Page} page @param {import("../../data/wire.js").Trace} trace @param {import("../../data/wire.js").Matrix} matrix @returns {Shown} */
function read(page, trace, matrix) {
  const by = rowsOf(page);
  const found = alignments({ read: trace.tokens[across(page.model).key], written: trace.output.tokens }, matrix, by);
  const [from, to] = languages(trace.direction);
  return { page, found, by, source: labels(found.source.tokens, from), target: labels(found.target.tokens, to) };
}

/** @param {import("../../data/tokens.js").Label} label @returns {import("../../data/tokens.js").Step} */
const alone = (label) => ({ reads: null, writes: label });
