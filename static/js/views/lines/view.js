/** Lines from queries to keys, one colour per head. */

import { sinkNeeds, sinkStep, sinkWeights, withSink } from "../../core/compute/computed-tensors.js";
import { css, hues } from "../../core/draw/colour-scales.js";
import { file, s } from "../../core/draw/svg.js";
import { controls } from "../../core/figure/controls.js";
import { highlightOf } from "../../core/store/highlight.js";
import { modelOfLink } from "../../core/store/link.js";
import { flagOption, listOption, integerOption } from "../../core/store/link-options.js";
import { BETWEEN, arrow, croppedMatrix, directions, placeIn, shownTexts } from "../../core/store/heatmap-data.js";
import { attention, axes, blockAt, extent, place } from "../../core/wire/model-description.js";
import { plainStep } from "../../core/wire/tokens.js";
import { h } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { average, chosen, dash, allIndices, strands, toggled } from "./attention-lines.js";
import { createDiagram } from "./diagram.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Rgb } from "../../core/draw/colour-scales.js" */
/** @import { Strands } from "./attention-lines.js" */

/** The largest number of lines. */
const MOST = 1200;

/** @type {View} */
export const lines = {
  id: "lines",
  name: (t) => t("Lines"),
  about: (t) =>
    t(
      "On the left are the tokens that look, on the right the tokens that are looked at. A line connects two of them; " +
      "thicker and stronger means more weight. Each head has its own colour and, with up to four heads, its " +
      "own stroke. Point at a token on either side, or at a head, to see only its lines. Lines below the " +
      "threshold are hidden.",
    ),
  frame: { rail: "layer", inspector: true, caption: true, legend: "none", tells: true, twice: 320 },
  options: { heads: listOption(), least: integerOption(0, 100, 10), numbers: flagOption(), between: BETWEEN },
  needs: ({ model, link }) => [place(model, link, "weights"), place(model, link, "mask"), ...sinkNeeds(model, link)],
  settle,
  mount,
};

/**
 * The caption and the inspector describe a head that is drawn.
 * @type {NonNullable<View["settle"]>}
 */
function settle(page) {
  const { link } = page;
  const model = modelOfLink(page);
  if (!model) return link;
  const on = chosen(link.options.heads, link.head, extent(model, link.block).heads);
  return on.length && !on.includes(link.head) ? { ...link, head: on[0] } : link;
}

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const options = controls(context, [
    { option: "least", label: t("Hide below"), range: [0, 50, 1], format: (value) => two(value / 100) },
    { option: "numbers", label: t("weights as numbers") },
    { option: "between", label: t("Texts"), values: () => directions(t, store.get()) },
  ]);
  const diagram = createDiagram(context, { onHover, onPick });
  const toggles = createToggles(context, diagram.only);
  const note = h("p", { className: "note" });
  root.append(options, h("div", { className: "weaving" }, toggles.element, diagram.element, note));

  /** @param {{side: "query" | "key", index: number} | null} end */
  function onHover(end) {
    if (!end) return store.hover(null);
    const ref = { side: blockAt(store.get())[end.side], index: tokenAt(store.get(), end) };
    store.hover({ query: end.side === "query" ? ref : null, key: end.side === "key" ? ref : null });
  }

  /** @param {{side: "query" | "key", index: number}} end @param {"click" | "key"} gesture */
  function onPick(end, gesture) {
    const page = store.get();
    const { side } = end;
    const index = tokenAt(page, end);
    const { query, key } = page.link;
    // A sink is no token that a link could name.
    if (side === "key" && index >= (page.trace?.tokens[blockAt(page).key].length ?? 0)) return context.announce(diagram.says(side, end.index));
    const isPinned = side === "query" ? query === index && key === null : key === index;
    if (gesture === "click" && isPinned) return store.go({ query: null, key: null });
    const row = side === "query" ? index : (highlightOf(page, null).query ?? 0);
    store.go({ query: row, key: side === "key" ? index : null }, gesture === "click" ? "pinned" : "moved");
    context.announce(diagram.says(side, end.index));
  }

  function draw() {
    const page = store.get();
    options.refresh();
    const content = diagramContent(context, page);
    if (!content) return;
    toggles.draw(content.count, content.on, content.colours);
    note.textContent = [hiddenNote(context, page, content.strands), numbersNote(context, content), sinkNote(context, content), textsNote(context, page)].join(" ");
    const above = diagram.element.getBoundingClientRect().top - root.getBoundingClientRect().top;
    const { width, height } = context.room();
    diagram.draw({ ...content, width, height: height - above - (page.link.options.projector ? note.offsetHeight + 16 : 24) });
    light();
  }

  function light() {
    const page = store.get();
    const { by, query, key } = highlightOf(page, store.hovered());
    const texts = shownTexts(page);
    diagram.light(by === "default" ? { query: null, key: null, by } : { query: placeIn(texts?.rows, query), key: placeIn(texts?.cols, key), by });
  }

  return {
    draw,
    light,
    destroy: () => root.replaceChildren(),
    picture: () => ({ svg: file(diagram.drawing(), context.theme()) }),
  };
}

/**
 * The token at an end of the lines; a sink comes after all tokens.
 * @param {Page} page
 * @param {{side: "query" | "key", index: number}} end
 */
function tokenAt(page, { side, index }) {
  const span = shownTexts(page)?.[side === "query" ? "rows" : "cols"];
  if (!span) return index;
  return index < span[1] - span[0] ? span[0] + index : (page.trace?.tokens[blockAt(page)[side]].length ?? index);
}

/**
 * Compute what to draw.
 * @param {Context} context
 * @param {Page} page
 */
function diagramContent({ theme, t }, page) {
  const { trace, model, link } = page;
  if (!trace || !model || !trace.tensors[place(model, link, "weights")]) return null;
  const count = extent(model, link.block).heads;
  const on = chosen(link.options.heads, link.head, count);
  const texts = shownTexts(page);
  const heads = on.flatMap((head) => {
    const matrix = attention(model, trace, { ...link, head });
    const sink = sinkWeights(model, trace, { ...link, head });
    return matrix ? [{ head, matrix: withSink(croppedMatrix(matrix, texts), texts && sink ? sink.slice(...texts.rows) : sink) }] : [];
  });
  const all = axes(model, trace, link.block);
  const [rows, tokens] = texts ? [all.rows.slice(...texts.rows), all.cols.slice(...texts.cols)] : [all.rows, all.cols];
  const sunk = heads.some(({ matrix }) => matrix.cols > tokens.length);
  const cols = sunk ? [...tokens, sinkStep(t)] : tokens;
  return {
    sunk,
    count,
    on,
    colours: hues(count, theme()),
    rows,
    cols,
    strands: strands(heads, { least: link.options.least / 100, most: MOST }),
    mean: average(heads),
    numbers: link.options.numbers,
    titles: { query: t("query (looks)"), key: t("key (looked at)") },
    names: { rows: rows.map(plainStep), cols: cols.map(plainStep) },
  };
}

/** @param {Context} context @param {{numbers: boolean, on: number[]}} shown */
function numbersNote({ t }, { numbers: numbersNote, on }) {
  return numbersNote && on.length > 1 ? t("Numbers are the mean of {n} heads.", { n: on.length }) : "";
}

/** @param {Context} context @param {{sunk: boolean}} shown */
const sinkNote = ({ t }, { sunk }) => (sunk ? t("The last key is a learned attention sink, which is not a token.") : "");

/** @param {Context} context @param {Page} page */
const textsNote = ({ t }, page) =>
  shownTexts(page) ? t("Only {texts} is shown, and only its weights are counted here; the sentence above is about both texts.", { texts: arrow(page.link.options.between) }) : "";

/** @param {Context} context @param {Page} page @param {Strands} strands */
function hiddenNote({ t }, { link }, { strands, hidden, mass, cut }) {
  if (!(link.options.heads === null || link.options.heads.length)) return t("Select at least one head.");
  const values = { n: hidden, mass: two(mass), shown: strands.length, least: two(link.options.least / 100) };
  if (cut) return t("The {shown} strongest lines are shown; {n} pairs without a line have {mass} of the weight.", values);
  if (hidden === 1) return t("1 pair below {least} has no line; it has {mass} of the weight.", values);
  if (hidden) return t("{n} pairs below {least} have no line; they have {mass} of the weight.", values);
  return t("Every pair has a line.");
}

// Which heads are drawn: one button per head with its number, colour and stroke.

/** @param {Context} context @param {(head: number | null) => void} onPoint  at a head's button */
function createToggles({ store, t }, onPoint) {
  const list = h("div", { className: "threads" });
  const all = button(t("all"), () => choose(allIndices(count), null));
  const none = button(t("none"), () => choose([], null));
  const only = button("", () => choose(null, null));
  const element = h(
    "fieldset",
    { className: "toggles" },
    h("legend", {}, t("Heads")),
    list,
    h("div", { className: "sets" }, all, none, only),
  );
  let count = 0;
  /** @type {number[]} */
  let on = [];

  /** @param {number[] | null} heads  null: the present one @param {number | null} head  that the page is at from now on */
  function choose(heads, head) {
    const { link } = store.get();
    store.go({ head: head ?? link.head, options: { ...link.options, heads } });
  }

  /** @param {number} head */
  function flip(head) {
    const next = toggled(on, head);
    choose(next, next.includes(head) ? head : (next[0] ?? head));
  }

  /** @param {number} head */
  function thread(head) {
    const toggle = h("button", { type: "button", className: "thread", title: t("Point: highlight this head. Click: on or " +
      "off. Double-click: only this one.") });
    toggle.addEventListener("click", () => flip(head));
    toggle.addEventListener("dblclick", () => choose(null, head));
    const point = (/** @type {boolean} */ isEntering) => onPoint(isEntering && on.includes(head) ? head : null);
    for (const name of ["pointerenter", "focus"]) toggle.addEventListener(name, () => point(true));
    for (const name of ["pointerleave", "blur"]) toggle.addEventListener(name, () => point(false));
    return toggle;
  }

  return {
    element,

    /** @param {number} heads @param {number[]} selected @param {Rgb[]} colours */
    draw(heads, selected, colours) {
      [count, on] = [heads, selected];
      if (list.children.length !== count)
        list.replaceChildren(...Array.from({ length: count }, (_, head) => thread(head)));
      const { head: present } = store.get().link;
      [...list.children].forEach((toggle, head) => {
        toggle.setAttribute("aria-pressed", String(on.includes(head)));
        toggle.setAttribute("aria-label", t("Head {n}", { n: head + 1 }));
        toggle.classList.toggle("present", head === present);
        // Update only what changes: the second click of a double click must find the element of the first.
        const colour = css(colours[head]);
        const stroke = dash(head, selected.length);
        const appearance = `${colour} ${stroke}`;
        if (/** @type {HTMLElement} */ (toggle).dataset.look === appearance) return;
        /** @type {HTMLElement} */ (toggle).dataset.look = appearance;
        toggle.replaceChildren(sample(colour, stroke), String(head + 1));
      });
      only.textContent = t("only {n}", { n: present + 1 });
      all.disabled = on.length === count;
      none.disabled = !on.length;
      only.disabled = on.length === 1 && on[0] === present;
    },
  };
}

/** @param {string} text @param {() => void} task */
function button(text, task) {
  const element = h("button", { type: "button", className: "button quiet" }, text);
  element.addEventListener("click", task);
  return element;
}

/** @param {string} colour @param {string | null} stroke  A piece of its line. */
const sample = (colour, stroke) =>
  s(
    "svg",
    { width: 18, height: 8, viewBox: "0 0 18 8", "aria-hidden": "true" },
    s("path", { d: "M1 4H17", fill: "none", stroke: colour, "stroke-width": 3, "stroke-dasharray": stroke }),
  );
