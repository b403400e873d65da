/** The tokens at both ends of a flow: the inputs with their shares, and those of the picked layer. */

import { two } from "../../lib/numbers.js";
import { nameText } from "../../draw/token-svg.js";
import { fine, s } from "../../draw/svg.js";

/** @typedef {import("../../compute/flow.js").Graph} Graph */
/** @typedef {import("../../compute/flow.js").Side} Side */
/** @typedef {import("../../data/tokens.js").Step} Step */
/** @typedef {import("./diagram-layout.js").Places} Places */
/** @typedef {import("../../draw/theme.js").Theme} Theme */
/** @typedef {{element: SVGGElement, light: (on: boolean) => void}} Row  a token's */

const NUMBER = 34;
/** Height of a bar, in pixels. */
const BAR = 10;

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
    const band = { x: 0, y: middles[n] - row / 2, width: end, height: row };
    const at = { x: end - 10, y: middles[n], anchor: "end" };
    return createRow({ "data-leaf": n }, band, columns.map(({ texts }) => texts[n]), at, leaves[side][index], theme.k, theme);
  });
  const far = spots.map(({ side }, n) => ({ to: x(side, 0), y: middles[n] })).filter(({ to }) => to > end + 1);
  const dashes = far.map(({ to, y }) => `M${fine(end - 4)} ${fine(y)}H${fine(to)}`).join("");
  const light = onlyOne(rows);
  return {
    elements: [
      ...rows.map(({ element }) => element),
      ...columns.map(({ element }) => element),
      s("path", { d: dashes, stroke: theme.hatch, "stroke-dasharray": "1 4", "pointer-events": "none" }),
    ],
    /** @param {ArrayLike<number>} rollout @param {ArrayLike<number | undefined>} flow @param {number | null} lit */
    show(rollout, flow, lit) {
      columns[0].show(rollout);
      columns[1].show(flow);
      light(lit);
    },
  };
}

/** @param {{graph: Graph, tops: Step[]}} content @param {Places} places @param {Theme} theme */
export function createOutputs({ graph, tops }, { x, y, row, width }, theme) {
  const rows = graph.tops.map((node, i) => {
    const { side, column } = graph.nodes[node];
    const [at, middle] = [x(side, column), y(side, i)];
    const band = { x: at - 6, y: middle - row / 2, width: width - at + 6, height: row };
    return createRow({ "data-top": i }, band, [], { x: at + 12, y: middle, anchor: "start" }, tops[i], theme.q, theme);
  });
  return { elements: rows.map(({ element }) => element), light: onlyOne(rows) };
}

/**
 * A column of bars, all one path, and a number for each.
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
  const place = { x: left + room + 4, "dominant-baseline": "central", fill: theme.muted };
  return {
    element,
    texts: middles.map((y, i) => s("text", { ...place, y: fine(y) }, numbers[i])),
    /** @param {ArrayLike<number | undefined>} values  undefined: not worked out yet */
    show(values) {
      const length = (/** @type {number} */ i) => fine(room * Math.min(1, values[i] ?? 0));
      element.setAttribute("d", middles.map((y, i) => `M${left} ${fine(y - BAR / 2)}h${length(i)}v${BAR}h-${length(i)}z`).join(""));
      numbers.forEach((number, i) => {
        const said = values[i] === undefined ? "…" : two(/** @type {number} */ (values[i]));
        if (number.data !== said) number.data = said;
      });
    },
  };
}

/**
 * A token's band, which is pointed at, what stands in it, and its name.
 * @param {Record<string, number>} data
 * @param {{x: number, y: number, width: number, height: number}} band
 * @param {SVGTextElement[]} numbers
 * @param {{x: number, y: number, anchor: string}} at
 * @param {Step} step
 * @param {string} colour  when it is lit
 * @param {Theme} theme
 * @returns {Row}
 */
function createRow(data, band, numbers, at, step, colour, theme) {
  const edges = Object.fromEntries(Object.entries(band).map(([edge, value]) => [edge, fine(value)]));
  const back = s("rect", { ...edges, fill: colour, "fill-opacity": 0 });
  const name = nameText(step, theme, { x: fine(at.x), y: fine(at.y), "text-anchor": at.anchor, "dominant-baseline": "central" });
  return {
    element: s("g", data, back, ...numbers, name),
    light(on) {
      back.setAttribute("fill-opacity", on ? "0.14" : "0");
      name.setAttribute("font-weight", on ? "600" : "400");
      name.setAttribute("fill", on ? colour : theme.ink);
    },
  };
}

/** Lights one of them, and touches only those that change. @param {Row[]} rows */
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
