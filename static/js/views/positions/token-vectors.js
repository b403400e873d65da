/**
 * From text to vectors: the tokens of the text with their ids, the tokens whose rows of the embedding
 * table are nearest, and for one token its row, its position and their sum, drawn and in numbers.
 */

import { kindOf } from "../../core/compute/positions.js";
import { diverging } from "../../core/draw/colour-scales.js";
import { file } from "../../core/draw/svg.js";
import { quoted, token } from "../../core/draw/token.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { axes, blockAt, selfBlock, typedText } from "../../core/wire/model-description.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { plane, row } from "../../core/wire/safetensors.js";
import { largest } from "../../lib/vectors.js";
import { el, h, render } from "../../lib/dom.js";
import { four, two } from "../../lib/numbers.js";
import { createKeyCell } from "./encodings.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */

const NEAREST = "inside.nearest.candidates";
const COSINES = "inside.nearest.cosines";
/** The number of nearest tokens in a row of the table. */
const FEW = 3;
/** The number of features that are also written out: the first, in which positions differ most. */
const WRITTEN = 6;

/** The self-attention of the typed text. @param {Pick<Page, "model">} page */
const readBlock = ({ model }) => selfBlock(model, typedText(model));

/** The vectors of a token that the model records, in the order in which they are summed. @param {Page} page */
function vectorNames({ model }) {
  const parts = kindOf(model).site === "input" ? ["embedding", "position", "input"] : ["embedding"];
  return parts.map((part) => `${typedText(model)}.${part}`);
}

/** @param {Page} page */
export const needs = (page) => [NEAREST, COSINES, ...vectorNames(page)];

/** No other requests. @returns {import("../../core/store/view-requests.js").Question[]} */
export const questions = () => [];

/** The selected token: that of the link, or the first one that is a piece of the text. @param {Page} page */
function selectedToken(page) {
  const tokens = page.trace?.tokens[typedText(page.model)] ?? [];
  const { query } = page.link;
  const pinned = blockAt(page).query === typedText(page.model) ? query : null;
  return pinned !== null && pinned < tokens.length ? pinned : Math.max(0, tokens.findIndex(({ special }) => !special));
}

/**
 * The nearest tokens of one token, nearest first.
 * @param {Trace} trace
 * @param {number} index
 * @param {number} count
 */
function nearestTo(trace, index, count) {
  const [ids, cosines] = [NEAREST, COSINES].map((name) => [...row(plane(trace.tensors[name]), index)]);
  const [from] = languages(trace.direction);
  return ids.slice(0, count).map((id, rank) => {
    const piece = trace.pieces?.[id] ?? { text: String(id), special: false };
    return { label: labels([{ ...piece, id, start: 0, end: 0 }], from)[0], cosine: cosines[rank] };
  });
}

/**
 * Write out the first numbers of the strips; if the text has the token twice, also those of the other
 * place: the row is the same, what is added is not.
 * @param {HTMLTableElement} table
 * @param {Page} page
 * @param {Trace} trace
 * @param {{index: number, partNames: string[], t: Context["t"]}} of  the selected token
 */
function renderNumbers(table, page, trace, { index, partNames, t }) {
  const tokens = trace.tokens[typedText(page.model)];
  const steps = axes(page.model, trace, readBlock(page).id).cols;
  const repeated = tokens.findIndex(({ id }, i) => i !== index && id === tokens[index].id);
  const places = [index, repeated].filter((i) => i >= 0).sort((a, b) => a - b);
  const [embedding, ...added] = vectorNames(page);
  const [embeddingName, ...addedNames] = partNames;
  const line = (/** @type {string} */ tensor, /** @type {number} */ i, /** @type {string} */ name) => {
    const isShared = tensor === embedding;
    const { writes } = steps[i];
    return el("tr", { key: `${tensor} ${i}`, "data-selected": !isShared && i === index ? "" : undefined }, [
      el("th", { key: "part", scope: "row" }, name, " ", token(isShared ? { ...writes, nth: null } : writes)),
      ...[...row(plane(trace.tensors[tensor]), i).slice(0, WRITTEN)].map((value, feature) => el("td", { key: String(feature) }, two(value))),
    ]);
  };
  const head = [t("feature"), ...Array.from({ length: WRITTEN }, (_, i) => String(i))];
  render(
    table,
    el("thead", {}, el("tr", {}, head.map((title) => el("th", { key: title, scope: "col" }, title)))),
    el("tbody", {}, [line(embedding, index, embeddingName), ...places.flatMap((i) => added.map((tensor, part) => line(tensor, i, addedNames[part])))]),
  );
}

/**
 * @param {Context["t"]} t
 * @param {HTMLElement} table  of the tokens
 * @param {[string, HTMLElement, HTMLElement, HTMLElement]} vectors  of the selected token: the name, the caption, the strips and the numbers
 */
function panels(t, table, [name, caption, strips, numbers]) {
  const scrolled = (/** @type {HTMLElement} */ wide) => h("div", { className: "scroller" }, wide);
  const about = t("of the other rows of the embedding table, those that point most nearly in the same direction, with the cosine");
  return [
    h("section", { className: "panel" }, h("h3", {}, t("Tokens, ids and nearest rows")), h("p", {}, about), scrolled(table)),
    h("section", { className: "panel of-vectors" }, h("h3", {}, name), caption, scrolled(strips), scrolled(numbers)),
  ];
}

/** @param {Context} context */
export function createTokenVectors(context) {
  const { store, t, phrase } = context;
  const table = h("table", { className: "nearest" });
  const name = t("Row, position and sum");
  const strips = createMatrix(context, {
    label: name,
    onHover: () => {},
    onPick: (place) => reached.move(place, name, tip),
    picked: () => reached.cell() ?? { row: 0, col: 0 },
    tip,
  });
  const reached = createKeyCell(context, light);
  const caption = h("p", {});
  const numberTable = h("table", { className: "written-out" });
  let drawnToken = -1;
  const element = h("div", { className: "stacked token-vectors" }, ...panels(t, table, [name, caption, strips.element, numberTable]));
  table.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("button[data-index]") : null;
    if (button) store.go({ block: readBlock(store.get()).id, query: Number(button.getAttribute("data-index")), key: null }, "pinned");
  });

  const ready = () => {
    const { trace } = store.get();
    return trace?.tensors[NEAREST] ? trace : null;
  };
  const steps = (/** @type {Trace} */ trace) => axes(store.get().model, trace, readBlock(store.get()).id).cols;
  const partNames = () => [t("embedding"), t("position"), t("sum")];

  /** @param {{row: number, col: number}} cell */
  function tip({ row: part, col }) {
    const tensor = ready()?.tensors[vectorNames(store.get())[part]];
    return tensor ? [partNames()[part], " ", t("feature {n}", { n: col }), " ", el("b", {}, four(row(plane(tensor), selectedToken(store.get()))[col]))] : [];
  }

  /** @param {Trace} trace */
  function drawTable(trace) {
    const selected = selectedToken(store.get());
    const tokens = trace.tokens[typedText(store.get().model)];
    const head = el("tr", {}, [t("Token"), t("Id"), t("Nearest rows")].map((name) => el("th", { key: name, scope: "col" }, name)));
    const near = (/** @type {number} */ i) => nearestTo(trace, i, FEW).flatMap(({ label, cosine }, rank) => [rank ? " · " : "", token(label), " ", el("span", { className: "cosine" }, two(cosine))]);
    const rows = steps(trace).map(({ writes }, i) =>
      el("tr", { key: String(i), "data-selected": i === selected ? "" : undefined }, [
        el("th", { key: "token", scope: "row" }, el("button", { type: "button", className: "button quiet", "data-index": String(i), "aria-pressed": String(i === selected) }, token(writes))),
        el("td", { key: "id" }, String(tokens[i].id)),
        el("td", { key: "near" }, ...near(i)),
      ]),
    );
    render(table, el("thead", {}, head), el("tbody", {}, rows));
  }

  function draw() {
    const page = store.get();
    const trace = ready();
    if (!trace) return;
    drawTable(trace);
    const index = selectedToken(page);
    renderNumbers(numberTable, page, trace, { index, partNames: partNames(), t });
    drawnToken = index;
    const vectors = vectorNames(page).map((name) => [...row(plane(trace.tensors[name]), index)]);
    const reach = largest(vectors.flat()) || 1;
    const { width, wide } = context.room();
    caption.textContent = vectors.length > 1
      ? t("the row of the table, times √{d}; the position; and their sum, which the first layer reads; −{most} to {most}", { d: vectors[0].length, most: two(reach) })
      : t("the row of the table; no position is added here; −{most} to {most}", { most: two(reach) });
    strips.draw({
      matrix: { rows: vectors.length, cols: vectors[0].length, values: Float32Array.from(vectors.flat()) },
      shade: { stops: diverging(context.theme()), range: [-reach, reach] },
      rows: partNames().slice(0, vectors.length).map(named),
      cols: [],
      titles: { rows: "", cols: t("feature") },
      width: wide ? Math.min(width, 1100) : width,
      height: 34 * vectors.length + 40,
      stretch: Infinity,
      largest: 34,
    });
    light();
  }

  function light() {
    if (ready() && selectedToken(store.get()) !== drawnToken) draw();
    strips.mark({ row: null, col: reached.cell()?.col ?? null });
  }

  function finding() {
    const { model } = store.get();
    const trace = ready();
    if (!trace || !model) return [];
    const index = selectedToken(store.get());
    const [{ label, cosine }] = nearestTo(trace, index, 1);
    return phrase(t("{token} is row {id} of the embedding table. The row that is most like it is that of {near} ({cosine})."), {
      token: quoted(steps(trace)[index].writes),
      id: trace.tokens[typedText(model)][index].id,
      near: quoted(label),
      cosine: two(cosine),
    });
  }

  return {
    element,
    draw,
    light,
    finding,
    destroy: () => (reached.stop(), strips.destroy()),
    picture: () => {
      const drawn = strips.drawing();
      return drawn && { svg: file(drawn, context.theme()) };
    },
    numbers: () => null,
  };
}

/** A name as a label of a row. @param {string} name @returns {import("../../core/wire/tokens.js").Step} */
const named = (name) => ({ reads: null, writes: { space: "", word: name, nth: null, lang: "", special: false, pad: false } });
