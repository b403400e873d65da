/** The encodings shown, for the sentence's positions or for a chosen size, and their matrix. */

import { matrix, named, tensor } from "../../core/compute/computed-tensors.js";
import { cosines, dotProducts, kindOf } from "../../core/compute/positions.js";
import { file } from "../../core/draw/svg.js";
import { createMatrix } from "../../core/figure/matrix.js";
import { highlightOf } from "../../core/store/highlight.js";
import { answer, encoding, parameters } from "../../core/store/view-requests.js";
import { blockAt, extent, positionedSteps } from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { el, h, render } from "../../lib/dom.js";

/** @import { Place } from "../../core/draw/matrix-geometry.js" */
/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Step } from "../../core/wire/tokens.js" */

/** @typedef {import("../../core/wire/api.js").Positions & {waves: boolean}} Positions  waves: sines and cosines, not learned */

/**
 * @param {Page} page
 * @returns {{length: number, d_model: number} | null}  null until there is a sentence
 */
export function size({ trace, model, link }) {
  if (!trace || !model) return null;
  const { base } = kindOf(model);
  const { query } = blockAt({ model, link });
  if (!query) return null; // a link without a kind of attention is about to be completed
  const read = trace.tokens[query].length;
  const { heads } = model.attentions[0];
  if (base === "rotary") return { length: read, d_model: model.d_model / heads };
  if (base !== "sinusoidal") return { length: Math.min(link.options.length ?? read, model.max_tokens), d_model: model.d_model };
  return {
    length: link.options.length ?? read,
    d_model: link.options.width ?? model.d_model,
  };
}

/** @param {Page} page @returns {import("../../core/store/view-requests.js").Question[]} */
export function questions(page) {
  const dimensions = size(page);
  const { base } = kindOf(page.model);
  if (!dimensions || base === "none") return [];
  if (base === "learned") return [parameters(page, [learnedTable(page)])];
  if (base === "relative") return [parameters(page, [`${stackOf(page)}.positions.pi`])];
  return [encoding(dimensions)];
}

/** The stack to which the positions belong. @param {Page} page */
const stackOf = (page) => blockAt(page).stack;

/** @param {Page} page */
const learnedTable = (page) => `${stackOf(page)}.positions.table`;

/** @param {Page} page @returns {Positions | Problem | undefined} */
export function table(page) {
  const [question] = questions(page);
  const dimensions = size(page);
  if (!question || !dimensions) return undefined;
  if (kindOf(page.model).base !== "learned") {
    const reply = /** @type {import("../../core/wire/api.js").Positions | Problem | undefined} */ (answer(page, question));
    return reply && !(reply instanceof Problem) ? { ...reply, waves: true } : reply;
  }
  /** @type {import("../../core/store/view-requests.js").Tensors | Problem | undefined} */
  const reply = answer(page, question);
  if (!reply || reply instanceof Problem) return reply;
  const { shape, data } = reply[learnedTable(page)];
  const [length, d_model] = [Math.min(dimensions.length, shape[0]), shape[1]];
  const positions = Float32Array.from(data.subarray(0, length * d_model));
  const similarity = cosines({ rows: length, cols: d_model, values: positions });
  return { variant: "learned", length, d_model, positions, similarity, waves: false };
}

/** @param {Page} page @param {Positions} found @returns {import("../../core/compute/computed-tensors.js").ComputedTensors} */
export function numbers(page, { length, d_model, positions, similarity }) {
  const alike = { rows: length, cols: length, values: similarity };
  const dot = dotProducts({ rows: length, cols: d_model, values: positions }, alike);
  return {
    tokens: { position: named(places(page, length)) },
    tensors: {
      positions: tensor({ query: "position", feature: null }, [length, d_model], positions),
      similarity: matrix(alike, "position", "position"),
      dot: matrix(dot, "position", "position"),
    },
  };
}

/**
 * The labels of positions: the sentence's tokens, then numbers.
 * @param {Page} page
 * @param {number} length
 * @returns {Step[]}
 */
export function places({ model, trace, link }, length) {
  const tokens = trace ? positionedSteps(model, trace, link.block) : [];
  if (tokens.length === length) return tokens;
  return Array.from({ length }, (_, position) => tokens[position] ?? bare(position));
}

/** A number as a label. @param {number} number @returns {Step} */
export function bare(number) {
  const writes = { space: "", word: String(number).replace("-", "−"), nth: null, lang: "en", special: false, pad: false };
  return { reads: null, writes };
}

/**
 * The highlighted positions, if they are shown.
 * @param {Page} page
 * @param {import("../../core/store/store.js").Highlight | null} hovered
 * @returns {{row: number | null, col: number | null}}
 */
export function marked(page, hovered) {
  const { query, key } = highlightOf(page, hovered);
  const { query: rows, key: cols } = blockAt(page);
  return { row: query, col: rows === cols ? key : null };
}

// The order in which positional encodings are drawn: all sines (even features), then all cosines.

/**
 * @param {number} col  of the drawing
 * @param {number} width  d_model
 * @returns {number}  the feature drawn there
 */
export function featureAt(col, width) {
  const sines = Math.ceil(width / 2);
  return col < sines ? 2 * col : 2 * (col - sines) + 1;
}

/**
 * @param {import("../../core/wire/safetensors.js").Matrix} matrix  [position, feature]
 * @returns {import("../../core/wire/safetensors.js").Matrix}  the same, with columns in drawing order
 */
export function apart({ rows, cols, values }) {
  const drawn = Float32Array.from(values, (_, i) => {
    const row = Math.floor(i / cols);
    return values[row * cols + featureAt(i % cols, cols)];
  });
  return { rows, cols, values: drawn };
}

// A matrix over positions, linked with the tokens at them.

/**
 * @typedef {object} Wording
 * @property {string} name
 * @property {string} description
 * @property {boolean} square  whether columns are positions too
 * @property {(cell: {row: number, col: number}) => import("../../lib/dom.js").Child[]} tip
 * @property {boolean} [zoomed]  whether it opens zoomable
 */

/** @param {Context} context @param {Wording} wording */
export function createPanel(context, { name, description, square, tip, zoomed }) {
  const { store } = context;
  const matrix = createMatrix(context, {
    label: name,
    onHover: (place) =>
      store.hover(place && { query: ref(place.row), key: square ? ref(place.col) : null }),
    onPick({ row, col }, gesture) {
      const query = row ?? highlightOf(store.get(), null).query;
      if (query !== null && query < tokens())
        store.go({ query, key: pinsKey() ? inside(col) : null }, gesture === "click" ? "pinned" : "moved");
      if (query !== null && col !== null) reached.move({ row: query, col }, head.textContent ?? name, tip);
    },
    picked: () => present() ?? { row: highlightOf(store.get(), null).query ?? 0, col: highlightOf(store.get(), null).key ?? 0 },
    tip,
    zoomed,
  });
  const head = h("h3", {}, name);
  const reached = createKeyCell(context, light);
  const line = h("p", {}, description);
  const side = () => blockAt(store.get()).query;
  /** The number of positions with a token; others cannot be highlighted on the page. */
  const tokens = () => store.get().trace?.tokens[side()].length ?? 0;
  const inside = (/** @type {number | null} */ position) => (position !== null && position < tokens() ? position : null);
  const ref = (/** @type {number | null} */ position) =>
    inside(position) === null ? null : { side: side(), index: /** @type {number} */ (position) };
  const pinsKey = () => square && side() === blockAt(store.get()).key;

  /**
   * The reached cell, unless another one has been pinned since. The link itself pins neither a
   * position without a token nor a feature.
   */
  function present() {
    const reachedCell = reached.cell();
    return reachedCell && (reachedCell.row >= tokens() || reachedCell.row === highlightOf(store.get(), null).query) ? reachedCell : null;
  }

  function light() {
    const { row, col } = marked(store.get(), store.hovered());
    const { length = 0 } = size(store.get()) ?? {};
    const within = (/** @type {number | null} */ position) => (position !== null && position < length ? position : null);
    matrix.mark((!store.hovered() && present()) || { row: within(row), col: square ? within(col) : null });
  }

  return {
    element: h("section", { className: "panel" }, head, line, h("div", { className: "scroller" }, matrix.element)),
    draw: matrix.draw,
    picture() {
      const drawn = matrix.drawing();
      return drawn && { svg: file(drawn, context.theme()) };
    },
    destroy: () => (reached.stop(), matrix.destroy()),
    light,
    /** @param {string} text */
    describe: (text) => (line.textContent = text),
    /** @param {string} text */
    call: (text) => (head.textContent = text),
  };
}

// The cell that arrow keys or a click reached, whether or not the link can pin it. It is announced
// to screen readers; Escape unpins it.

/** @typedef {{row: number, col: number}} Cell */

/**
 * @param {Context} context
 * @param {() => void} light  called when the cell changes
 */
export function createKeyCell({ keys, announce, t }, light) {
  /** @type {Cell | null} */
  let cell = null;
  const stop = keys.listen(({ key }) => {
    if (key !== "Escape" || !cell) return;
    cell = null;
    light();
    announce(t("Unpinned."));
  });
  return {
    cell: () => cell,
    /**
     * @param {Place} place  a missing row or column stays as it is
     * @param {string} name  of the matrix
     * @param {(cell: Cell) => import("../../lib/dom.js").Child[]} tip
     */
    move({ row, col }, name, tip) {
      cell = { row: row ?? cell?.row ?? 0, col: col ?? cell?.col ?? 0 };
      light();
      announce(`${name}: ${words(tip(cell))}`);
    },
    stop,
  };
}

/** The text of a tooltip. @param {import("../../lib/dom.js").Child[]} children */
function words(children) {
  const line = h("p", {});
  render(line, ...children);
  return line.textContent ?? "";
}

// Menus for the layer and the head, in views without thumbnails beside the figure.

/**
 * @param {Context} context
 * @param {"layer" | "head"} option
 * @param {(page: Page) => {block: string, layer: number, head: number}} selectedHead  the block, and the
 *   layer and head selected in it
 */
export function picker({ store, t }, option, selectedHead) {
  const select = h("select", {});
  select.addEventListener("change", () => store.go({ [option]: Number(select.value) }));
  return {
    element: h("label", { className: "option" }, h("span", {}, option === "layer" ? t("Layer") : t("Head")), select),
    draw() {
      const page = store.get();
      const count = page.model ? extent(page.model, selectedHead(page).block)[`${option}s`] : 0;
      render(select, Array.from({ length: count }, (_, i) => el("option", { value: String(i) }, String(i + 1))));
      select.value = String(selectedHead(page)[option]);
    },
  };
}
