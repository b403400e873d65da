/**
 * Which source word each written word looks at: lines between the sentence and its translation,
 * and the same as a table. From one head, the mean of its layer, or the mean of all.
 */

import { alignment as alignments, links, wordOf } from "../alignment.js";
import { attention, extent, lit, place } from "../blocks.js";
import { four, prose, two } from "../caption.js";
import { h, quoted, token } from "../dom.js";
import { choice, some, whole } from "../options.js";
import { controls } from "../parts/controls.js";
import { createMatrix } from "../parts/matrix.js";
import { combine } from "../reshape.js";
import { sequential } from "../scale.js";
import { file } from "../svg.js";
import { labels, languages } from "../tokens.js";
import { createLines } from "./alignment/lines.js";

/** @typedef {import("./index.js").View} View */
/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../store.js").Page} Page */
/** @typedef {import("../alignment.js").Alignment} Alignment */
/** @typedef {import("../alignment.js").Rows} Rows */
/**
 * @typedef {object} Shown
 * @property {Alignment} found
 * @property {Rows} by
 * @property {import("../tokens.js").Label[]} source
 * @property {import("../tokens.js").Label[]} target
 */

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
  blocks: ["cross"],
  frame: { rail: "both", inspector: false, caption: false, legend: "attention" },
  options: { of: choice("head", "layer", "all"), rows: some("writes", "reads"), least: whole(0, 100, 10) },
  needs: (page) => layers(page).flatMap((layer) => [name(layer, "weights"), name(layer, "mask")]),
  mount,
};

/** @param {number} layer @param {string} tensor */
const name = (layer, tensor) => place({ block: "cross", layer }, tensor);

/** @param {Page} page */
function layers({ link, model }) {
  if (link.options.of !== "all" || !model) return [link.layer];
  return [...Array(extent(model, "cross").layers).keys()];
}

/** @param {Page} page @returns {import("../wire.js").Matrix | null}  null until all of it is here */
function weights(page) {
  const { trace, link, model } = page;
  if (!trace || !model) return null;
  const one = link.options.of === "head";
  const heads = one ? [link.head] : [...Array(extent(model, "cross").heads).keys()];
  const planes = layers(page).flatMap((layer) =>
    heads.map((head) => attention(trace, { block: "cross", layer, head })),
  );
  const found = planes.filter((plane) => plane !== null);
  return found.length === planes.length ? combine(found, "mean") : null;
}

/** What the picked head is best at, of all heads, if it is. @param {Page} page */
function excellence({ link, model }) {
  if (link.options.of !== "head") return undefined;
  return model?.aligners?.find(
    ({ layer, head, rows }) =>
      layer === link.layer && head === link.head && [null, rows].includes(link.options.rows),
  );
}

/** The rows that are chosen, else those by which a head is best. @param {Page} page @returns {Rows} */
const rowsOf = (page) => page.link.options.rows ?? excellence(page)?.rows ?? "writes";

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t, say } = context;
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
    return { target: wordOf(target, at.query), source: wordOf(source, at.key), by: at.by };
  }

  /** @param {{target: number | null, source: number | null}} at */
  function hover({ target, source }) {
    if (!shown || (target === null && source === null)) return store.hover(null);
    const { found } = shown;
    store.hover({
      query: target === null ? null : { side: "target", index: found.target.groups[target][0] },
      key: source === null ? null : { side: "source", index: found.source.groups[source][0] },
    });
  }

  /** @param {{target: number | null, source: number | null}} at @param {"click" | "key"} how */
  function pick({ target, source }, how) {
    if (!shown) return;
    const { found } = shown;
    const present = lit(store.get(), null).query;
    const query = target === null ? present : found.target.groups[target][0];
    const key = source === null ? null : found.source.groups[source][0];
    store.go({ query, key }, how === "click" ? "push" : "replace");
    if (target !== null) context.announce(line(target).map(text).join(""));
  }

  /** @param {number} row  What is found in it, as a sentence. */
  function line(row) {
    if (!shown) return [];
    const { found, source, target, by } = shown;
    const values = { place: where(store.get(), t), written: quoted(target[row]) };
    const best = found.hard[row];
    const [none, most] =
      by === "writes"
        ? [
            t("{place}: while {written} is written, no source word is looked at."),
            t("{place}: while {written} is written, {source} is looked at most ({weight})."),
          ]
        : [
            t("{place}: once {written} is read, no source word is looked at."),
            t("{place}: once {written} is read, {source} is looked at most ({weight})."),
          ];
    if (best < 0) return say(none, values);
    return say(most, {
      ...values,
      source: quoted(source[best]),
      weight: two(found.soft.values[row * found.soft.cols + best]),
    });
  }

  /** @param {{row: number, col: number}} cell */
  function tip({ row, col }) {
    if (!shown) return [];
    const value = shown.found.soft.values[row * shown.found.soft.cols + col];
    return [
      h("span", { className: "as-query" }, token(shown.target[row])),
      " ",
      h("span", { className: "as-key" }, token(shown.source[col])),
      " ",
      h("b", {}, Number.isNaN(value) ? t("masked") : four(value)),
    ];
  }

  function draw() {
    options.refresh();
    const page = store.get();
    best.replaceChildren(...nearest(page));
    const matrix = weights(page);
    if (!page.trace || !matrix) return;
    shown = read(page.trace, matrix, rowsOf(page));
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
    note.textContent = prose(remarks(context, found, least, faint));
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

  /** Which head aligns best, and the way to it. @param {Page} page */
  function nearest(page) {
    const [best] = page.model?.aligners ?? [];
    if (!best) return [];
    const here = excellence(page);
    const said = here
      ? say(
          t("★ Of all single heads this one is, by these rows, nearest to alignments made by people (alignment error rate {rate} %)."),
          { rate: Math.round(here.error_rate * 100) },
        )
      : [];
    if (here === best) return said;
    const { layer, head } = best;
    const go = h("button", { type: "button" }, t("layer {layer}, head {head}", { layer: layer + 1, head: head + 1 }));
    go.addEventListener("click", () => {
      store.choose({ of: "head", rows: null });
      store.go({ layer, head }, "push");
    });
    const way = here
      ? t("Nearer still, by the other rows: {place}.")
      : t("★ The head nearest to alignments made by people: {place}.");
    return [...said, " ", ...say(way, { place: go })];
  }

  function light() {
    if (!shown || !shown.source.length || !shown.target.length) return;
    const at = words();
    lines.light(at);
    table.mark({ row: at.target < 0 ? null : at.target, col: at.source < 0 ? null : at.source });
    if (at.target >= 0) finding.replaceChildren(...line(at.target));
  }

  return {
    draw,
    light,
    destroy: () => (table.destroy(), root.replaceChildren()),
    picture: () => ({ svg: file(lines.drawing(), context.theme()) }),
  };
}

/** @param {import("../wire.js").Trace} trace @param {import("../wire.js").Matrix} matrix @param {Rows} by @returns {Shown} */
function read(trace, matrix, by) {
  const found = alignments(trace, matrix, by);
  const [from, to] = languages(trace.direction);
  return { found, by, source: labels(found.source.tokens, from), target: labels(found.target.tokens, to) };
}

/** @param {import("../tokens.js").Label} label @returns {import("../tokens.js").Step} */
const alone = (label) => ({ reads: null, writes: label });

/** @param {Node | string} part */
const text = (part) => (typeof part === "string" ? part : (part.textContent ?? ""));

/** @param {Page} page @param {Context["t"]} t */
function where({ link }, t) {
  const at = { layer: link.layer + 1, head: link.head + 1 };
  if (link.options.of === "all") return t("Mean of all layers and heads");
  if (link.options.of === "layer") return t("Layer {layer}, mean of its heads", at);
  return t("Layer {layer}, head {head}", at);
}

/**
 * What is not drawn, and what it does not prove.
 * @param {Context} context
 * @param {Alignment} found
 * @param {number} least
 * @param {number} faint
 */
function remarks({ t }, { special }, least, faint) {
  const mass = special.reduce((sum, value) => sum + value, 0) / special.length;
  return [
    t("The pieces of a word are joined: summed where it is looked at, averaged where it is written or read."),
    t("Special tokens are left out; they get {mass} of the attention.", { mass: two(mass) }),
    faint
      ? t("{n} pairs below {least} have no line.", { n: faint, least: two(least) })
      : t("Every pair has its line."),
    t("That a word is looked at does not prove that it is what was translated."),
  ];
}

