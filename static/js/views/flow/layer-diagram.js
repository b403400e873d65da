/**
 * The picture of a flow: rows are tokens; columns are layers, from the input at the left to the
 * selected layer at the right; edges are as wide as the amount they carry; bars show the shares.
 * Fixed parts are drawn once; only what depends on the chosen token is updated.
 */

import { curve, drawing, fine, s } from "../../core/draw/svg.js";
import { nameText } from "../../core/draw/token.js";
import { texts } from "../../core/wire/model-description.js";
import { two } from "../../lib/numbers.js";

/** @import { Graph, Side } from "./flow.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Theme } from "../../core/page/page-context.js" */
/** @import { Translate } from "../../lib/i18n.js" */

// The edges of a flow: grey ones by their weight, drawn once, and coloured ones by the amount they
// carry.

/** Width of the widest edge, in pixels. */
const THICK = 16;
/**
 * Limits for drawing edges: by weight for grey ones, by their part of the total for coloured ones.
 */
export const FAINT = { least: 0.05, most: 500 };
export const STRONG = { least: 0.004, most: 500 };

/** @param {Graph} graph @param {Places} places @param {Theme} theme */
function createEdges(graph, { x, y, row }, theme) {
  const { nodes, from, to, weight } = graph;
  const spots = nodes.map(({ side, column, index }) => /** @type {[number, number]} */ ([x(side, column), y(side, index)]));
  const moves = (/** @type {number} */ e) => spots[from[e]][0] !== spots[to[e]][0];
  const draw = (/** @type {number} */ e) => curve(spots[to[e]], spots[from[e]], "x");
  const faint = strongest(weight, FAINT.least, FAINT.most).filter(moves);
  const grey = s("path", { d: faint.map(draw).join(""), stroke: theme.hatch, "stroke-opacity": 0.5, "stroke-width": 0.75 });
  const strong = s("g", { stroke: theme.attention });
  const wide = Math.min(THICK, row - 2);

  /** @param {number} e @param {number} carried @param {number} whole */
  const coloured = (e, carried, whole) =>
    s("path", {
      d: draw(e),
      "stroke-width": fine(Math.max(0.75, (wide * carried) / whole)),
      "stroke-opacity": fine(0.35 + 0.55 * Math.sqrt(Math.min(1, carried / whole))),
      "data-edge": `${from[e]} ${to[e]}`,
      "data-carried": carried.toFixed(6),
    });

  return {
    element: s("g", { fill: "none" }, grey, strong),
    /** @param {ArrayLike<number>} carried  by each edge @param {number} whole  what an edge carries that is as wide as can be */
    show(carried, whole) {
      const edges = strongest(carried, STRONG.least * whole, STRONG.most).filter(moves);
      strong.replaceChildren(...edges.reverse().map((e) => coloured(e, carried[e], whole)));
    },
  };
}

/**
 * The indices of the largest values, largest first.
 * @param {ArrayLike<number>} values
 * @param {number} least
 * @param {number} count
 */
function strongest(values, least, count) {
  /** @type {number[]} */
  let indices = [];
  for (let i = 0; i < values.length; i++) if (values[i] >= least) indices.push(i);
  if (indices.length > count) {
    // Sorting numbers is much faster than sorting indices by number.
    const cut = Float64Array.from(indices, (i) => values[i]).sort()[indices.length - count];
    indices = indices.filter((i) => values[i] >= cut);
  }
  return indices.sort((a, b) => values[b] - values[a]).slice(0, count);
}

// The layout of a flow: rows are tokens, columns layers, from the input to the selected layer.

/** @typedef {{width: number, height: number, wide: boolean, measure: (text: string) => number}} Room */
/** @typedef {ReturnType<typeof layout>} Places */

/** Height of the column names above the rows. */
const HEAD = 46;
const BAR_WIDTH = { wide: 92, narrow: 58 };
/** Columns are at least this wide, and narrower before the diagram scrolls. */
const COLUMN = { wide: 64, narrow: 46 };
const NARROWEST = 26;

/** @param {{graph: Graph, tops: Step[], leaves: Record<Side, Step[]>}} content @param {Room} room */
function layout({ graph, tops, leaves }, { width, height, wide, measure }) {
  const size = wide ? "wide" : "narrow";
  const side = graph.nodes[graph.tops[0]].side;
  const below = graph.nodes[graph.leaves[0]].side;
  const through = graph.leaves.some((node) => graph.nodes[node].side !== side);
  const sources = through ? leaves[below].length : 0;
  const rows = graph.leaves.length;
  const row = Math.min(30, Math.max(18, (height - HEAD) / rows));
  const last = (/** @type {Side} */ text) =>
    Math.max(...graph.nodes.map((node) => (node.side === text ? node.column : 0)));
  // A stack starts where the one it attends to ends.
  const shift = through ? last(below) : 0;
  const columns = shift + last(side);
  const label = (/** @type {Step[]} */ steps) => Math.max(...texts(steps).map(measure)) + 16;
  const inputs = 2 * BAR_WIDTH[size] + Math.max(label(through ? leaves[below] : []), label(leaves[side]));
  const outputs = label(tops);
  const free = width - inputs - outputs - 8;
  const least = columns * Math.min(COLUMN[size], Math.max(NARROWEST, free / columns));
  const span = Math.max(least, Math.min(columns * 190, free));
  const behind = (/** @type {Side} */ text) => through && text !== below;
  return {
    width: Math.ceil(inputs + span + outputs + 8),
    height: Math.ceil(HEAD + rows * row),
    row,
    bar: BAR_WIDTH[size],
    inputs,
    through,
    side,
    below,
    shift,
    columns,
    x: (/** @type {Side} */ text, /** @type {number} */ column) =>
      inputs + (span * (column + (behind(text) ? shift : 0))) / columns,
    y: (/** @type {Side} */ text, /** @type {number} */ index) =>
      HEAD + (index + (behind(text) ? sources : 0) + 0.5) * row,
  };
}

// The tokens at both ends of a flow: the inputs with their shares, and those of the selected layer.

/** @typedef {{element: SVGGElement, light: (on: boolean) => void}} Row  a token's */

const NUMBER = 40;
/** Height of a bar, in pixels. */
const BAR_HEIGHT = 10;

/** @param {{graph: Graph, leaves: Record<Side, Step[]>}} content @param {Places} places @param {Theme} theme */
function createInputs({ graph, leaves }, { x, y, row, bar, inputs: end }, theme) {
  const spots = graph.leaves.map((node) => graph.nodes[node]);
  const middles = spots.map(({ side, index }) => y(side, index));
  const columns = [0, bar].map((barX, i) => createBars(barX, middles, bar, i ? theme.v : theme.attention, theme));
  const rows = spots.map(({ side, index }, n) => {
    const position = { x: end - 10, y: middles[n], anchor: "end" };
    return createRow({ "data-leaf": n }, columns.map(({ texts }) => texts[n]), position, leaves[side][index], theme.k, theme);
  });
  const band = createBand("leaf", { x: 0, width: end }, middles, row, theme.k);
  const far = spots.map(({ side }, n) => ({ to: x(side, 0), y: middles[n] })).filter(({ to }) => to > end + 1);
  const dashes = far.map(({ to, y }) => `M${fine(end - 4)} ${fine(y)}H${fine(to)}`).join("");
  const light = onlyOne(rows);
  return {
    elements: [
      ...band.elements,
      ...rows.map(({ element }) => element),
      ...columns.map(({ element }) => element),
      s("path", { d: dashes, stroke: theme.hatch, "stroke-dasharray": "1 4", "pointer-events": "none" }),
    ],
    /** @param {ArrayLike<number>} rollout @param {ArrayLike<number | undefined>} flow @param {number | null} lit */
    show(rollout, flow, lit) {
      columns[0].show(rollout);
      columns[1].show(flow);
      light(lit);
      band.light(lit);
    },
  };
}

/** @param {{graph: Graph, tops: Step[]}} content @param {Places} places @param {Theme} theme */
function createOutputs({ graph, tops }, { x, y, row, width }, theme) {
  const { side, column } = graph.nodes[graph.tops[0]];
  const labelX = x(side, column);
  const middles = graph.tops.map((_, i) => y(side, i));
  const rows = middles.map((y, i) => createRow({ "data-top": i }, [], { x: labelX + 12, y, anchor: "start" }, tops[i], theme.q, theme));
  const band = createBand("top", { x: labelX - 6, width: width - labelX + 6 }, middles, row, theme.q);
  const light = onlyOne(rows);
  return {
    elements: [...band.elements, ...rows.map(({ element }) => element)],
    /** @param {number} top */
    light(top) {
      light(top);
      band.light(top);
    },
  };
}

/**
 * A column of bars, drawn as one path, with a number for each.
 * @param {number} barX
 * @param {number[]} middles  of the rows
 * @param {number} wide
 * @param {string} colour
 * @param {Theme} theme
 */
function createBars(barX, middles, wide, colour, theme) {
  const room = wide - NUMBER - 8;
  const element = s("path", { fill: colour, "pointer-events": "none" });
  const numbers = middles.map(() => new Text());
  const blank = s("text", { x: barX + room + 4, "dominant-baseline": "central", fill: theme.muted });
  const write = (/** @type {number} */ y, /** @type {Text} */ number) => {
    const text = /** @type {SVGTextElement} */ (blank.cloneNode());
    text.setAttribute("y", String(fine(y)));
    text.append(number);
    return text;
  };
  return {
    element,
    texts: middles.map((y, i) => write(y, numbers[i])),
    /** @param {ArrayLike<number | undefined>} values  undefined: not computed yet */
    show(values) {
      // Each column has its own scale, up to its largest value, because rollout shares are small compared
      // with flows.
      const maximum = Math.max(...Array.from(values, (value) => value ?? 0)) || 1;
      const length = (/** @type {number} */ i) => fine((room * (values[i] ?? 0)) / maximum);
      element.setAttribute("d", middles.map((y, i) => `M${barX} ${fine(y - BAR_HEIGHT / 2)}h${length(i)}v${BAR_HEIGHT}h-${length(i)}z`).join(""));
      numbers.forEach((number, i) => {
        const text = values[i] === undefined ? "…" : two(values[i]);
        if (number.data !== text) number.data = text;
      });
    },
  };
}

/**
 * The hit area of all rows, and the band of the highlighted row.
 * @param {"leaf" | "top"} rows
 * @param {{x: number, width: number}} place
 * @param {number[]} middles  of the consecutive rows
 * @param {number} row  height of a row
 * @param {string} colour
 */
function createBand(rows, { x, width }, middles, row, colour) {
  const across = { x: fine(x), width: fine(width) };
  const up = (/** @type {number} */ i) => fine(middles[i] - row / 2);
  const under = { "data-rows": rows, ...across, y: up(0), height: fine(row * middles.length) };
  const ground = s("rect", { ...under, fill: "none", "pointer-events": "all" });
  const band = s("rect", { ...across, height: fine(row), fill: colour, "fill-opacity": 0, "pointer-events": "none" });
  return {
    elements: [band, ground],
    /** @param {number | null} lit */
    light(lit) {
      band.setAttribute("fill-opacity", lit === null ? "0" : "0.14");
      if (lit !== null) band.setAttribute("y", String(up(lit)));
    },
  };
}

/**
 * A token's row: its label and numbers.
 * @param {Record<string, number>} data
 * @param {SVGTextElement[]} numbers
 * @param {{x: number, y: number, anchor: string}} position
 * @param {Step} step
 * @param {string} colour  when highlighted
 * @param {Theme} theme
 * @returns {Row}
 */
function createRow(data, numbers, position, step, colour, theme) {
  const name = nameText(step, theme, { x: fine(position.x), y: fine(position.y), "text-anchor": position.anchor, "dominant-baseline": "central" });
  return {
    element: s("g", data, ...numbers, name),
    light(on) {
      name.setAttribute("font-weight", on ? "600" : "400");
      name.setAttribute("fill", on ? colour : theme.ink);
    },
  };
}

/** Highlight one row, updating only rows that change. @param {Row[]} rows */
function onlyOne(rows) {
  /** @type {number | null} */
  let lit = null;
  return (/** @type {number | null} */ next) => {
    if (next === lit) return;
    if (lit !== null) rows[lit].light(false);
    if (next !== null) rows[next].light(true);
    lit = next;
  };
}

/**
 * @typedef {object} Content
 * @property {Graph} graph
 * @property {Step[]} tops
 * @property {Record<Side, Step[]>} leaves
 * @property {Record<Side, string>} stacks  names of the stacks that read each text
 */

/** @param {Content} content @param {Room} room @param {Theme} theme @param {Translate} t */
export function createDiagram(content, room, theme, t) {
  const places = layout(content, room);
  const edges = createEdges(content.graph, places, theme);
  const dots = createDots(content.graph, places, theme);
  const inputs = createInputs(content, places, theme);
  const outputs = createOutputs(content, places, theme);
  const parts = [heads(content, places, theme, t), edges.element, ...dots.elements, ...inputs.elements, ...outputs.elements];
  const svg = drawing(places.width, places.height, theme, ...parts);
  svg.setAttribute("aria-hidden", "true");
  return {
    svg,
    row: places.row,
    /** @param {import("./flow-data.js").Shares} shares */
    show({ top, leaf, carried, whole, rollout, flow }) {
      edges.show(carried, whole);
      dots.choose(content.graph.tops[top]);
      inputs.show(rollout, flow, leaf);
      outputs.light(top);
    },
  };
}

/**
 * The names of columns.
 * @param {Content} content
 * @param {Places} places
 * @param {Theme} theme
 * @param {Translate} t
 */
function heads({ stacks }, { x, bar, inputs, through, side, below, columns, shift }, theme, t) {
  const group = s("g", { fill: theme.muted, "text-anchor": "middle" });
  const write = (/** @type {number} */ labelX, /** @type {string} */ text, y = HEAD - 12, anchor = "middle") =>
    group.append(s("text", { x: fine(labelX), y, "text-anchor": anchor }, text));
  write(0, t("rollout"), HEAD - 12, "start");
  write(bar, t("flow"), HEAD - 12, "start");
  for (let column = 0; column <= columns; column++) {
    const columnSide = through && column <= shift ? below : side;
    const number = through && column > shift ? column - shift : column;
    write(x(columnSide, number), column === 0 ? t("input") : String(number));
  }
  if (through) {
    write((x(below, 0) + x(below, shift)) / 2, stacks[below], HEAD - 30);
    write((x(side, 0) + x(side, columns - shift)) / 2 + 12, stacks[side], HEAD - 30);
  } else write((inputs + x(side, columns)) / 2, t("layer"), HEAD - 30);
  return group;
}

/**
 * All tokens of all layers as one path, and the chosen one.
 * @param {Graph} graph
 * @param {Places} places
 * @param {Theme} theme
 */
function createDots({ nodes }, { x, y }, theme) {
  const center = (/** @type {number} */ node) => {
    const { side, column, index } = nodes[node];
    return { cx: fine(x(side, column)), cy: fine(y(side, index)) };
  };
  // A stroke of length zero with round caps is a dot.
  const strokes = nodes.map((_, node) => `M${center(node).cx} ${center(node).cy}h0`).join("");
  const all = s("path", { d: strokes, fill: "none", stroke: theme.muted, "stroke-width": 4, "stroke-linecap": "round" });
  const chosen = s("circle", { r: 6, fill: theme.q });
  return {
    elements: [all, chosen],
    /** @param {number} node */
    choose(node) {
      for (const [name, value] of Object.entries(center(node))) chosen.setAttribute(name, String(value));
    },
  };
}
