/**
 * The picture of a flow: tokens are rows, layers columns from the input at the left to the layer
 * that is picked at the right, edges as wide as what goes along them; and a row's shares as bars.
 */

import { two } from "../../lib/numbers.js";
import { texts } from "../../data/attentions.js";
import { lettering } from "../../draw/token-svg.js";
import { curve, drawing, fine, s } from "../../draw/svg.js";

/** @typedef {import("../../compute/flow.js").Graph} Graph */
/** @typedef {import("../../compute/flow.js").Side} Side */
/** @typedef {import("../../data/tokens.js").Step} Step */
/** @typedef {import("../../draw/theme.js").Theme} Theme */
/** @typedef {import("../../lib/i18n.js").Translate} Translate */
/**
 * @typedef {object} Content
 * @property {Graph} graph
 * @property {ArrayLike<number>} carried  by each edge
 * @property {number} whole  what all that is drawn adds up to: an edge as wide as can be
 * @property {Step[]} tops
 * @property {Record<Side, Step[]>} leaves
 * @property {Record<Side, string>} stacks  what reads each text, in words
 * @property {number} top  index of the chosen token
 * @property {number | null} leaf  place of the lit input among the leaves
 * @property {ArrayLike<number>} rollout  of each leaf
 * @property {(number | undefined)[]} flow  of each leaf; undefined: not worked out yet
 */
/** @typedef {{width: number, height: number, wide: boolean, measure: (text: string) => number}} Room */

const HEAD = 46;
const BAR = { wide: 92, narrow: 58 };
const NUMBER = 34;
const COLUMN = { wide: 64, narrow: 46 };
/** Of the widest edge, in pixels. */
const THICK = 16;
/** Edges that are not drawn: grey ones by their weight, coloured ones by their part of the whole. */
export const FAINT = { least: 0.05, most: 500 };
export const STRONG = { least: 0.004, most: 500 };

/**
 * @param {Content} content
 * @param {Room} room
 * @param {Theme} theme
 * @param {Translate} t
 */
export function river(content, room, theme, t) {
  const places = layout(content, room);
  const parts = [
    heads(content, places, theme, t),
    edges(content, places, theme),
    dots(content, places, theme),
    ...inputs(content, places, theme),
    ...outputs(content, places, theme),
  ];
  const svg = drawing(places.width, places.height, theme, ...parts);
  svg.setAttribute("aria-hidden", "true");
  return { svg, row: places.row };
}

/** @param {Content} content @param {Room} room */
function layout({ graph, tops, leaves }, { width, height, wide, measure }) {
  const size = wide ? "wide" : "narrow";
  const through = graph.leaves.some((node) => graph.nodes[node].side !== graph.nodes[graph.tops[0]].side);
  const side = graph.nodes[graph.tops[0]].side;
  const below = graph.nodes[graph.leaves[0]].side;
  const sources = through ? leaves[below].length : 0;
  const rows = graph.leaves.length;
  const row = Math.min(30, Math.max(18, (height - HEAD) / rows));
  const last = (/** @type {Side} */ one) =>
    Math.max(...graph.nodes.map((node) => (node.side === one ? node.column : 0)));
  // A stack starts where the one that it looks at ends.
  const shift = through ? last(below) : 0;
  const columns = shift + last(side);
  const label = (/** @type {Step[]} */ steps) => Math.max(...texts(steps).map(measure)) + 16;
  const inputs = 2 * BAR[size] + Math.max(label(through ? leaves[below] : []), label(leaves[side]));
  const outputs = label(tops);
  const span = Math.max(columns * COLUMN[size], Math.min(columns * 190, width - inputs - outputs - 8));
  return {
    width: Math.ceil(inputs + span + outputs + 8),
    height: Math.ceil(HEAD + rows * row),
    row,
    bar: BAR[size],
    inputs,
    through,
    below,
    x: (/** @type {Side} */ one, /** @type {number} */ column) =>
      inputs + (span * (column + (through && one !== below ? shift : 0))) / columns,
    y: (/** @type {Side} */ one, /** @type {number} */ index) =>
      HEAD + (index + (through && one !== below ? sources : 0) + 0.5) * row,
    shift,
    columns,
  };
}

/** @typedef {ReturnType<typeof layout>} Places */

/** Names of columns. @param {Content} content @param {Places} places @param {Theme} theme @param {Translate} t */
function heads({ graph, stacks }, { x, bar, inputs, through, below, columns, shift }, theme, t) {
  const group = s("g", { fill: theme.muted, "text-anchor": "middle" });
  const write = (/** @type {number} */ at, /** @type {string} */ text, y = HEAD - 12, anchor = "middle") =>
    group.append(s("text", { x: fine(at), y, "text-anchor": anchor }, text));
  write(0, t("rollout"), HEAD - 12, "start");
  write(bar, t("flow"), HEAD - 12, "start");
  const side = graph.nodes[graph.tops[0]].side;
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

/** @param {Content} content @param {Places} places @param {Theme} theme */
function edges({ graph, carried, whole }, { x, y, row }, theme) {
  const { nodes, from, to, weight } = graph;
  const spots = nodes.map(({ side, column, index }) => /** @type {[number, number]} */ ([x(side, column), y(side, index)]));
  const moves = (/** @type {number} */ e) => spots[from[e]][0] !== spots[to[e]][0];
  const draw = (/** @type {number} */ e) => curve(spots[to[e]], spots[from[e]], "x");
  const faint = strongest(weight, FAINT.least, FAINT.most).filter(moves);
  const strong = strongest(carried, STRONG.least * whole, STRONG.most).filter(moves);
  const group = s("g", { fill: "none" });
  group.append(
    s("path", { d: faint.map(draw).join(""), stroke: theme.hatch, "stroke-opacity": 0.5, "stroke-width": 0.75 }),
  );
  const wide = Math.min(THICK, row - 2);
  for (const e of strong.reverse())
    group.append(
      s("path", {
        d: draw(e),
        stroke: theme.attention,
        "stroke-width": fine(Math.max(0.75, (wide * carried[e]) / whole)),
        "stroke-opacity": fine(0.35 + 0.55 * Math.sqrt(Math.min(1, carried[e] / whole))),
        "data-edge": `${from[e]} ${to[e]}`,
        "data-carried": carried[e].toFixed(6),
      }),
    );
  return group;
}

/** The largest values' places, largest first. @param {ArrayLike<number>} values @param {number} least @param {number} most */
function strongest(values, least, most) {
  /** @type {number[]} */
  let found = [];
  for (let i = 0; i < values.length; i++) if (values[i] >= least) found.push(i);
  if (found.length > most) {
    // Numbers alone sort many times faster than places by their numbers.
    const cut = Float64Array.from(found, (i) => values[i]).sort()[found.length - most];
    found = found.filter((i) => values[i] >= cut);
  }
  return found.sort((a, b) => values[b] - values[a]).slice(0, most);
}

/** @param {Content} content @param {Places} places @param {Theme} theme */
function dots({ graph, top }, { x, y }, theme) {
  const group = s("g", { fill: theme.muted });
  const chosen = graph.tops[top];
  graph.nodes.forEach(({ side, column, index }, node) =>
    group.append(
      s("circle", {
        cx: fine(x(side, column)),
        cy: fine(y(side, index)),
        r: node === chosen ? 6 : 2,
        fill: node === chosen ? theme.q : theme.muted,
      }),
    ),
  );
  return group;
}

/** The inputs with their shares. @param {Content} content @param {Places} places @param {Theme} theme */
function inputs({ graph, leaves, leaf, rollout, flow }, { x, y, row, bar, inputs: end }, theme) {
  return graph.leaves.map((node, n) => {
    const { side, index } = graph.nodes[node];
    const [at, middle, lit] = [x(side, 0), y(side, index), n === leaf];
    const group = s("g", { "data-leaf": n }, s("rect", { x: 0, y: fine(middle - row / 2), width: fine(end), height: row, fill: theme.k, "fill-opacity": lit ? 0.14 : 0 }));
    group.append(
      ...share(0, middle, bar, rollout[n], theme.attention, theme),
      ...share(bar, middle, bar, flow[n], theme.v, theme),
      s(
        "text",
        { x: fine(end - 10), y: fine(middle), "text-anchor": "end", "dominant-baseline": "central", "font-weight": lit ? 600 : 400, fill: lit ? theme.k : theme.ink },
        ...lettering(leaves[side][index], theme),
      ),
    );
    if (at > end + 1)
      group.append(s("path", { d: `M${fine(end - 4)} ${fine(middle)}H${fine(at)}`, stroke: theme.hatch, "stroke-dasharray": "1 4" }));
    return group;
  });
}

/** A bar and its number. @param {number} left @param {number} y @param {number} wide @param {number | undefined} value @param {string} colour @param {Theme} theme */
function share(left, y, wide, value, colour, theme) {
  const room = wide - NUMBER - 8;
  return [
    s("rect", { x: left, y: fine(y - 5), width: fine(room * Math.min(1, value ?? 0)), height: 10, fill: colour }),
    s("text", { x: left + room + 4, y: fine(y), "dominant-baseline": "central", fill: theme.muted }, value === undefined ? "…" : two(value)),
  ];
}

/** The tokens of the layer that is picked. @param {Content} content @param {Places} places @param {Theme} theme */
function outputs({ graph, tops, top }, { x, y, row, width }, theme) {
  return graph.tops.map((node, i) => {
    const { side, column } = graph.nodes[node];
    const [at, middle, lit] = [x(side, column), y(side, i), i === top];
    return s(
      "g",
      { "data-top": i },
      s("rect", { x: fine(at - 6), y: fine(middle - row / 2), width: fine(width - at + 6), height: row, fill: theme.q, "fill-opacity": lit ? 0.14 : 0 }),
      s(
        "text",
        { x: fine(at + 12), y: fine(middle), "dominant-baseline": "central", "font-weight": lit ? 600 : 400, fill: lit ? theme.q : theme.ink },
        ...lettering(tops[i], theme),
      ),
    );
  });
}
