/**
 * The tokens at both ends of a flow: the inputs with their shares, and those of the selected layer.
 */

import { two } from "../../lib/numbers.js";
import { nameText } from "../../core/draw/token-svg.js";
import { fine, s } from "../../core/draw/svg.js";

/** @import { Graph, Side } from "./flow.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Places } from "./diagram-layout.js" */
/** @import { Theme } from "../../core/draw/theme.js" */
/** @typedef {{element: SVGGElement, light: (on: boolean) => void}} Row  a token's */

const NUMBER = 40;
/** Height of a bar, in pixels. */
const BAR_HEIGHT = 10;

/**
 * @param {{graph: Graph, leaves: Record<Side, Step[]>}} content
 * @param {Places} places
 * @param {Theme} theme
 */
export function createInputs({ graph, leaves }, { x, y, row, bar, inputs: end }, theme) {
  const spots = graph.leaves.map((node) => graph.nodes[node]);
  const middles = spots.map(({ side, index }) => y(side, index));
  const columns = [0, bar].map((left, i) => createBars(left, middles, bar, i ? theme.v : theme.attention, theme));
  const rows = spots.map(({ side, index }, n) => {
    const at = { x: end - 10, y: middles[n], anchor: "end" };
    return createRow({ "data-leaf": n }, columns.map(({ texts }) => texts[n]), at, leaves[side][index], theme.k, theme);
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
export function createOutputs({ graph, tops }, { x, y, row, width }, theme) {
  const { side, column } = graph.nodes[graph.tops[0]];
  const at = x(side, column);
  const middles = graph.tops.map((_, i) => y(side, i));
  const rows = middles.map((y, i) => createRow({ "data-top": i }, [], { x: at + 12, y, anchor: "start" }, tops[i], theme.q, theme));
  const band = createBand("top", { x: at - 6, width: width - at + 6 }, middles, row, theme.q);
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
 * @param {number} left
 * @param {number[]} middles  of the rows
 * @param {number} wide
 * @param {string} colour
 * @param {Theme} theme
 */
function createBars(left, middles, wide, colour, theme) {
  const room = wide - NUMBER - 8;
  const element = s("path", { fill: colour, "pointer-events": "none" });
  const numbers = middles.map(() => new Text());
  const blank = s("text", { x: left + room + 4, "dominant-baseline": "central", fill: theme.muted });
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
      const most = Math.max(...Array.from(values, (value) => value ?? 0)) || 1;
      const length = (/** @type {number} */ i) => fine((room * (values[i] ?? 0)) / most);
      element.setAttribute("d", middles.map((y, i) => `M${left} ${fine(y - BAR_HEIGHT / 2)}h${length(i)}v${BAR_HEIGHT}h-${length(i)}z`).join(""));
      numbers.forEach((number, i) => {
        const said = values[i] === undefined ? "…" : two(/** @type {number} */ (values[i]));
        if (number.data !== said) number.data = said;
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
 * @param {{x: number, y: number, anchor: string}} at
 * @param {Step} step
 * @param {string} colour  when highlighted
 * @param {Theme} theme
 * @returns {Row}
 */
function createRow(data, numbers, at, step, colour, theme) {
  const name = nameText(step, theme, { x: fine(at.x), y: fine(at.y), "text-anchor": at.anchor, "dominant-baseline": "central" });
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
