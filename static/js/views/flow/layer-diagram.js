/**
 * The picture of a flow: rows are tokens; columns are layers, from the input at the left to the
 * selected layer at the right; edges are as wide as the amount they carry; bars show the shares.
 * Fixed parts are drawn once; only what depends on the chosen token is updated.
 */

import { drawing, fine, s } from "../../core/draw/svg.js";
import { createEdges } from "./diagram-edges.js";
import { HEAD, layout } from "./diagram-layout.js";
import { createInputs, createOutputs } from "./diagram-tokens.js";

/** @import { Graph, Side } from "./flow.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Theme } from "../../core/draw/theme.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Places } from "./diagram-layout.js" */
/**
 * @typedef {object} Content
 * @property {Graph} graph
 * @property {Step[]} tops
 * @property {Record<Side, Step[]>} leaves
 * @property {Record<Side, string>} stacks  names of the stacks that read each text
 */

/**
 * @param {Content} content
 * @param {import("./diagram-layout.js").Room} room
 * @param {Theme} theme
 * @param {Translate} t
 */
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
    /** @param {import("./flow-shares.js").Shares} shares */
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
  const write = (/** @type {number} */ at, /** @type {string} */ text, y = HEAD - 12, anchor = "middle") =>
    group.append(s("text", { x: fine(at), y, "text-anchor": anchor }, text));
  write(0, t("rollout"), HEAD - 12, "start");
  write(bar, t("flow"), HEAD - 12, "start");
  for (let column = 0; column <= columns; column++) {
    const own = through && column <= shift ? below : side;
    const number = through && column > shift ? column - shift : column;
    write(x(own, number), column === 0 ? t("input") : String(number));
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
  const at = (/** @type {number} */ node) => {
    const { side, column, index } = nodes[node];
    return { cx: fine(x(side, column)), cy: fine(y(side, index)) };
  };
  // A stroke of length zero with round caps is a dot.
  const strokes = nodes.map((_, node) => `M${at(node).cx} ${at(node).cy}h0`).join("");
  const all = s("path", { d: strokes, fill: "none", stroke: theme.muted, "stroke-width": 4, "stroke-linecap": "round" });
  const chosen = s("circle", { r: 6, fill: theme.q });
  return {
    elements: [all, chosen],
    /** @param {number} node */
    choose(node) {
      for (const [name, value] of Object.entries(at(node))) chosen.setAttribute(name, String(value));
    },
  };
}
