/**
 * The edges of a flow: grey ones by their weight, drawn once, and coloured ones by the amount they
 * carry.
 */

import { curve, fine, s } from "../../core/draw/svg.js";

/** @import { Graph } from "./flow.js" */
/** @import { Places } from "./diagram-layout.js" */
/** @import { Theme } from "../../core/draw/theme.js" */

/** Width of the widest edge, in pixels. */
const THICK = 16;
/**
 * Limits for drawing edges: by weight for grey ones, by their part of the total for coloured ones.
 */
export const FAINT = { least: 0.05, most: 500 };
export const STRONG = { least: 0.004, most: 500 };

/** @param {Graph} graph @param {Places} places @param {Theme} theme */
export function createEdges(graph, { x, y, row }, theme) {
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
      const shown = strongest(carried, STRONG.least * whole, STRONG.most).filter(moves);
      strong.replaceChildren(...shown.reverse().map((e) => coloured(e, carried[e], whole)));
    },
  };
}

/**
 * The indices of the largest values, largest first.
 * @param {ArrayLike<number>} values
 * @param {number} least
 * @param {number} most
 */
function strongest(values, least, most) {
  /** @type {number[]} */
  let found = [];
  for (let i = 0; i < values.length; i++) if (values[i] >= least) found.push(i);
  if (found.length > most) {
    // Sorting numbers is much faster than sorting indices by number.
    const cut = Float64Array.from(found, (i) => values[i]).sort()[found.length - most];
    found = found.filter((i) => values[i] >= cut);
  }
  return found.sort((a, b) => values[b] - values[a]).slice(0, most);
}
