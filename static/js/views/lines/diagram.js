/** The drawing: tokens on both sides, lines between them, and highlights. */

import { findingOf } from "../../core/compute/attention-row.js";
import { textRuler } from "../../core/draw/matrix-labels.js";
import { css } from "../../core/draw/colour-scales.js";
import { curve, drawing, fine, s } from "../../core/draw/svg.js";
import { lettering } from "../../core/draw/token.js";
import { onArrows, within } from "../../core/figure/pointing.js";
import { plainStep } from "../../core/wire/tokens.js";
import { row } from "../../core/wire/safetensors.js";
import { h } from "../../lib/dom.js";
import { rounded, two } from "../../lib/numbers.js";
import { dash, isOnHighlight } from "./attention-lines.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Theme } from "../../core/page/page-context.js" */

/** @typedef {"query" | "key"} End */
/**
 * @typedef {object} Content
 * @property {Step[]} rows
 * @property {Step[]} cols
 * @property {{rows: string[], cols: string[]}} names
 * @property {import("./attention-lines.js").Strands} strands
 * @property {import("../../core/wire/safetensors.js").Matrix | null} mean  over the heads that are on
 * @property {import("../../core/draw/colour-scales.js").Rgb[]} colours  by head
 * @property {boolean} numbers
 * @property {Record<End, string>} titles
 * @property {number[]} on
 * @property {number} width
 * @property {number} height
 */
/** @typedef {{query: number | null, key: number | null, by: "hover" | "pin" | "default"}} HighlightedPair */

/** @param {Context} context @param {Gestures} gestures */
export function createDiagram(context, gestures) {
  const { t, theme } = context;
  const element = h("div", {
    className: "weave",
    tabIndex: 0,
    role: "application",
    "aria-label": t("Lines. Up and down move through tokens, left and right change sides, Escape unpins."),
  });
  /** @type {Content | null} */
  let content = null;
  /** @type {ReturnType<typeof diagramSvg> | null} */
  let picture = null;
  /** @type {HighlightedPair} */
  let highlight = { query: null, key: null, by: "default" };
  /** @type {number | null} */
  let head = null;
  bindDiagram(element, () => content && { ...content, highlight }, gestures);

  return {
    element,

    /** @param {Content} next  To be lit again. */
    draw(next) {
      content = next;
      picture = diagramSvg(next, layoutOf(next, textRuler(theme()), theme().size), theme());
      element.dataset.drawn = String(next.strands.strands.length);
      element.replaceChildren(picture.svg);
    },

    /** @param {HighlightedPair} next */
    light(next) {
      highlight = next;
      picture?.light(next, head);
    },

    /** Highlight one head's lines. @param {number | null} next */
    only(next) {
      head = next;
      picture?.light(highlight, head);
    },

    /** @param {End} side @param {number} index */
    says: (side, index) => (content ? tokenDescription(context, content, side, index) : ""),

    drawing: () => /** @type {SVGSVGElement} */ (picture?.svg),
  };
}

/**
 * Draw fixed parts once; highlights change with the pointer.
 * @param {Content} content
 * @param {Layout} layout
 * @param {Theme} theme
 */
function diagramSvg(content, layout, theme) {
  const strands = createStrands(content, layout);
  const sides = {
    query: content.rows.map((step, i) => createEnd("query", i, step, layout, theme)),
    key: content.cols.map((step, i) => createEnd("key", i, step, layout, theme)),
  };
  const ends = [...sides.query, ...sides.key].map(({ element }) => element);
  const svg = drawing(layout.width, layout.height, theme, titles(content, layout, theme, textRuler(theme)), ...strands.elements, ...ends);
  svg.setAttribute("aria-hidden", "true");
  return {
    svg,
    /** @param {HighlightedPair} highlight @param {number | null} head */
    light(highlight, head) {
      strands.light(highlight, head);
      for (const side of /** @type {End[]} */ (["query", "key"]))
        sides[side].forEach((end, i) => end.show(highlight[side] === i, content.numbers ? numberAt(content, highlight, side, i) : null));
    },
  };
}

/**
 * The titles of the sides, above their tokens; within the drawing if the tokens are shorter.
 * @param {Content} content
 * @param {Layout} layout
 * @param {Theme} theme
 * @param {(text: string) => number} measure
 */
function titles({ titles: { query, key } }, { from, to, width }, { size, muted }, measure) {
  const attributes = { y: size, fill: muted };
  return s(
    "g",
    { class: "titles" },
    s("text", { ...attributes, x: Math.max(from, Math.ceil(measure(query))), "text-anchor": "end" }, query),
    s("text", { ...attributes, x: Math.min(to, Math.floor(width - measure(key))) }, key),
  );
}

/**
 * Describe what a token looks at, or what looks at it.
 * @param {Context} context
 * @param {Content} content
 * @param {End} side
 * @param {number} index
 */
function tokenDescription({ t }, { mean, names }, side, index) {
  if (!mean) return "";
  if (side === "key") return names.cols[index];
  const rowFinding = findingOf(row(mean, index));
  if (!("keys" in rowFinding)) return names.rows[index];
  const looked = names.cols[rowFinding.keys[0]];
  return t("{query}: most to {key}, {weight}", { query: names.rows[index], key: looked, weight: rounded(rowFinding.weight, mean.error) });
}

// Pointing, clicking and arrow keys for the tokens at the ends of the lines.

/** @typedef {{rows: unknown[], cols: unknown[], highlight: HighlightedPair}} HighlightedContent  what is shown, and what of it is lit */
/**
 * @typedef {object} Gestures
 * @property {(at: {side: End, index: number} | null) => void} onHover
 * @property {(at: {side: End, index: number}, how: "click" | "key") => void} onPick
 */

/**
 * @param {HTMLElement} element  the container of the drawing
 * @param {() => HighlightedContent | null} current
 * @param {Gestures} gestures
 */
function bindDiagram(element, current, { onHover, onPick }) {
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") onHover(under(event));
  });
  element.addEventListener("pointerleave", () => onHover(null));
  element.addEventListener("click", (event) => {
    const end = under(event);
    if (end) onPick(end, "click");
  });
  onArrows(element, (down, right) => {
    const lit = current();
    if (!lit) return false;
    onPick(neighbourEnd(lit, down, right), "key");
    return true;
  });
}

/** @param {Event} event @returns {{side: End, index: number} | null} */
function under(event) {
  const end = /** @type {Element} */ (event.target).closest("[data-end]");
  if (!end) return null;
  const [side, index] = (end.getAttribute("data-end") ?? "").split(" ");
  return { side: /** @type {End} */ (side), index: Number(index) };
}

/**
 * Up and down move along a side, left goes to the queries, right to the keys.
 * @param {HighlightedContent} lit
 * @param {number} down
 * @param {number} right
 * @returns {{side: End, index: number}}
 */
function neighbourEnd({ highlight, rows, cols }, down, right) {
  const side = highlight.key !== null ? "key" : "query";
  const index = highlight[side];
  const inside = (/** @type {End} */ end, /** @type {number} */ i) => within(i, (end === "query" ? rows : cols).length);
  if (down) return { side, index: index === null ? 0 : inside(side, index + down) };
  if (right > 0) return { side: "key", index: inside("key", index ?? 0) };
  return { side: "query", index: inside("query", highlight.query ?? index ?? 0) };
}

// A token at one end of the lines: its label, a frame when it is highlighted, and its number.

/**
 * @param {End} side
 * @param {number} index
 * @param {Step} step
 * @param {Layout} layout
 * @param {import("../../core/page/page-context.js").Theme} theme
 */
function createEnd(side, index, step, { from, to, width, pitch, short, numbers, y }, theme) {
  const query = side === "query";
  const edge = query ? from - 6 : to + 6;
  const digits = numbers ? Math.ceil(2.8 * theme.size) : 0;
  const colour = query ? theme.q : theme.k;
  const [leftEdge, rightEdge] = query ? [0, from - 2] : [to + 2, width];
  const place = { y: fine(y(side, index)), "text-anchor": query ? "end" : "start", "dominant-baseline": "central" };
  const frame = s("rect", {
    x: leftEdge,
    y: fine(y(side, index) - pitch / 2),
    width: fine(rightEdge - leftEdge),
    height: fine(pitch),
    rx: 4,
    fill: colour,
    "fill-opacity": 0,
  });
  const name = s("text", { ...place, x: edge - (query ? digits : -digits) }, ...lettering(short ? shortLabel(step) : step, theme));
  const weight = s("text", { ...place, x: edge, fill: theme.muted, class: "weight" });
  const element = s("g", { "data-end": `${side} ${index}`, class: "end" }, frame, name);
  let lit = false;

  /** @param {boolean} on */
  function light(on) {
    lit = on;
    element.classList.toggle("lit", on);
    frame.setAttribute("fill-opacity", on ? "0.14" : "0");
    frame.setAttribute("stroke", on ? colour : "none");
    name.setAttribute("font-weight", on ? "600" : "400");
  }

  return {
    element,
    /** Update only what changes. @param {boolean} on @param {string | null} number */
    show(on, number) {
      if (on !== lit) light(on);
      if (weight.textContent === (number ?? "")) return;
      weight.textContent = number;
      if (number === null) weight.remove();
      else element.append(weight);
    },
  };
}

/**
 * The numbers: the highlighted token's weights beside its counterparts; with no highlight, each
 * query's largest weight.
 * @param {Content} content
 * @param {HighlightedPair} at
 * @param {End} side
 * @param {number} i
 * @returns {string | null}
 */
function numberAt({ mean }, { query, key }, side, i) {
  if (!mean) return null;
  const { cols, values, error } = mean;
  const numberText = (/** @type {number} */ value) => (Number.isNaN(value) ? "–" : rounded(value, error, two)); // masked pairs have no number
  if (query !== null) return side === "key" ? numberText(values[query * cols + i]) : null;
  if (key !== null) return side === "query" ? numberText(values[i * cols + key]) : null;
  const open = [...row(mean, i)].filter((value) => !Number.isNaN(value));
  return side === "query" && open.length ? numberText(Math.max(...open)) : null;
}

// The lines of all heads that are on and, when a token is highlighted, its lines once more on top.

/** Opacity of lines that are not highlighted. */
const FAINT = 0.07;

/** @param {Content} content @param {Layout} layout */
function createStrands(content, layout) {
  const { strands } = content.strands;
  const paths = strandPaths(content, layout);
  const all = s("g", { fill: "none", class: "fibres" }, ...paths);
  const alone = s("g", { fill: "none", class: "fibres" });
  let wasHighlighted = false;
  return {
    elements: [all, alone],
    /** @param {HighlightedPair} highlight @param {number | null} head  whose lines alone are shown; null: those of all */
    light(highlight, head) {
      const isHighlighted = highlight.query !== null || highlight.key !== null || head !== null;
      if (!isHighlighted && !wasHighlighted) return;
      wasHighlighted = isHighlighted;
      all.classList.toggle("faint", isHighlighted);
      if (isHighlighted) all.setAttribute("opacity", String(FAINT));
      else all.removeAttribute("opacity");
      const touches = isOnHighlight({ ...highlight, head });
      alone.replaceChildren(...(isHighlighted ? paths.filter((_, i) => touches(strands[i])) : []).map((path) => path.cloneNode()));
    },
  };
}

/** @param {Content} content @param {Layout} layout @returns {SVGPathElement[]}  one a strand */
function strandPaths({ colours, on, strands: { strands } }, { y, from, to, pitch, unit }) {
  // Side by side, so that one head's line does not cover another's.
  const apart = Math.min(2.4 * unit, (0.6 * pitch) / on.length);
  const thick = Math.max(1.2, Math.min(3.4 * unit, 1.6 * apart));
  const strokes = new Map(
    on.map((head, rank) => [
      head,
      { aside: (rank - (on.length - 1) / 2) * apart, stroke: css(colours[head]), "stroke-dasharray": dash(head, on.length) },
    ]),
  );
  return strands.map(({ head, query, key, weight }) => {
    const { aside = 0, ...attributes } = strokes.get(head) ?? {};
    return s("path", {
      d: curve([from, y("query", query) + aside], [to, y("key", key) + aside], "x"),
      "stroke-width": fine(0.8 * unit + thick * weight),
      "stroke-opacity": fine(10 * (0.15 + 0.8 * weight)) / 10,
      ...attributes,
      "data-strand": `${head} ${query} ${key}`,
    });
  });
}

// The layout of tokens and lines, in pixels.

/**
 * @typedef {object} Layout
 * @property {number} width
 * @property {number} height
 * @property {number} from  x of the lines' start
 * @property {number} to  x of the lines' end
 * @property {number} unit  scale relative to the usual font size of 13 px
 * @property {number} pitch  distance between tokens
 * @property {boolean} short  whether row labels have only the written token
 * @property {boolean} numbers  whether space is reserved for numbers
 * @property {(side: "query" | "key", index: number) => number} y  the middle of a token
 */

/** In multiples of the font size: the largest distance between tokens, and the largest width. */
const [LOOSE, WIDEST] = [2.6, 70];
/** The largest share of the width for the labels of one side. */
const MOST = 0.34;
const GAP = 10;
/** The width of a number with two decimals, in multiples of the font size. */
const NUMBER = 2.8;

/**
 * @param {{rows: Step[], cols: Step[], numbers: boolean, width: number, height: number}} content
 * @param {(text: string) => number} measure
 * @param {number} size  the font size
 * @returns {Layout}
 */
function layoutOf({ rows, cols, numbers, width, height }, measure, size) {
  const room = Math.min(width, WIDEST * size);
  const longest = (/** @type {Step[]} */ steps) => Math.ceil(Math.max(0, ...steps.map((step) => measure(plainStep(step)))));
  const short = longest(rows) > MOST * room;
  const [rowWidth, colWidth] = [longest(short ? rows.map(shortLabel) : rows), longest(cols)];
  const digits = numbers ? Math.ceil(NUMBER * size) : 0;
  const head = 2 * size;
  const count = Math.max(rows.length, cols.length);
  const tight = Math.ceil(1.4 * size);
  const pitch = Math.min(LOOSE * size, Math.max(tight, Math.floor((height - head) / count)));
  const total = count * pitch;
  return {
    width: room,
    height: head + total + 4,
    from: rowWidth + digits + 2 * GAP,
    to: room - colWidth - digits - 2 * GAP,
    unit: size / 13,
    pitch,
    short,
    numbers,
    // The shorter side is spread over the length of the longer one.
    y: (side, i) => head + ((i + 0.5) * total) / (side === "query" ? rows : cols).length,
  };
}

/** @param {Step} step  Only what it writes. */
const shortLabel = (step) => ({ ...step, short: step.reads !== null });
