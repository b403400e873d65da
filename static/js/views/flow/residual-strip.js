/**
 * The residual stream: the length of each token's vector after every sublayer, and its direction.
 */

import { legible, prepare } from "../../core/draw/matrix-canvas.js";
import { colour, css, diverging, sequential } from "../../core/draw/colour-scales.js";
import { drawing, enlarge, fine, s } from "../../core/draw/svg.js";
import { nameText } from "../../core/draw/token.js";
import { texts } from "../../core/wire/model-description.js";
import { afterFrame } from "../../lib/timing.js";
import { reach } from "./flow-data.js";

/** @import { Stream } from "./flow-data.js" */
/** @import { Theme } from "../../core/page/page-context.js" */
/** @import { Translate } from "../../lib/i18n.js" */

/** @typedef {{row: number, width: number, measure: (text: string) => number, unit: number}} Room  rows as high as the diagram's; all of it so many times larger */
/**
 * @typedef {object} Panel
 * @property {"length" | "cosine"} id
 * @property {string} name
 * @property {number[][]} values  [station][token]
 * @property {number} x
 * @property {number} cell  width
 * @property {(value: number) => import("../../core/draw/colour-scales.js").Rgb} shade
 * @property {number} reach  larger values are printed in their cells
 */
/** @typedef {HTMLCanvasElement & {picture?: Record<string, number[][]>}} Cells  carries the numbers that it shows */

const HEAD = 46;
/** Widths of a cell: it is narrower before the strip scrolls. */
const CELL = { least: 12, most: 22 };

/** Whether a cell of a width has room for a number. @param {number} cell */
export const prints = (cell) => cell === CELL.most;

/**
 * Draw the strip once per layer: cells on a canvas, labels above it; the highlighted token changes
 * with the pointer.
 * @param {{stream: Stream, tokens: import("../../core/wire/tokens.js").Step[]}} content
 * @param {Room} room
 * @param {Theme} theme
 * @param {Translate} t
 */
function createStrip({ stream, tokens }, room, theme, t) {
  const { row, unit } = room;
  const { labelWidth, cell, across, gap, width, height } = stripRoom({ stream, tokens }, room, t);
  const stripPanels = panels(stream, { labelWidth, cell, across, gap }, theme, t);
  const labels = tokens.map((token, i) =>
    nameText(token, theme, { x: labelWidth - 8, y: fine(HEAD + (i + 0.5) * row), "text-anchor": "end", "dominant-baseline": "central" }),
  );
  const frames = stripPanels.map(({ x }) =>
    s("rect", { x: x - 1, width: across + 1, height: fine(row + 1), fill: "none", stroke: theme.q, "stroke-width": 2 }),
  );
  const groups = stripPanels.map((panel, i) => s("g", { "data-strip": panel.name }, ...heads(panel, stream, theme, t), frames[i]));
  const svg = drawing(width, height, theme, ...labels, ...groups);
  svg.setAttribute("aria-hidden", "true");
  return {
    elements: [cells(stripPanels, row, sizeOf(enlarge(svg, unit)), unit, theme), svg],
    mark: marker(labels, frames, row, theme),
  };
}

/**
 * The size of the strip, in the drawing's pixels, and the positions of its panels.
 * @param {{stream: Stream, tokens: import("../../core/wire/tokens.js").Step[]}} content
 * @param {Room} room
 * @param {Translate} t
 */
export function stripRoom({ stream, tokens }, { row, width: free, measure }, t) {
  const labelWidth = Math.max(...texts(tokens).map(measure)) + 12;
  const heading = measure(t("cosine to embedding"));
  const count = stream.stations.length;
  const cell = Math.min(CELL.most, Math.max(CELL.least, Math.floor((free - labelWidth - 28) / 2 / count)));
  const across = count * cell;
  const gap = Math.max(24, measure(t("length")) - across + 16);
  const width = Math.ceil(labelWidth + across + gap + Math.max(across, heading) + 4);
  return { labelWidth, cell, across, gap, width, height: Math.ceil(HEAD + tokens.length * row + 2) };
}

/**
 * @param {Stream} stream
 * @param {{labelWidth: number, cell: number, across: number, gap: number}} room
 * @param {Theme} theme
 * @param {Translate} t
 * @returns {Panel[]}
 */
function panels({ norms, cosines }, { labelWidth, cell, across, gap }, theme, t) {
  const longest = reach(norms);
  const [lengths, directions] = [sequential(theme), diverging(theme)];
  return [
    { id: "length", name: t("length"), values: norms, x: labelWidth, cell, shade: (value) => colour(lengths, value / longest), reach: longest },
    { id: "cosine", name: t("cosine to embedding"), values: cosines, x: labelWidth + across + gap, cell, shade: (value) => colour(directions, (value + 1) / 2), reach: 1.001 },
  ];
}

/** @param {Panel} panel @param {Stream} stream @param {Theme} theme @param {Translate} t */
function heads({ name, x, cell }, { stations }, theme, t) {
  return [
    s("text", { x, y: HEAD - 30, fill: theme.muted }, name),
    ...stations.map((station, n) =>
      s("text", { x: fine(x + (n + 0.5) * cell), y: HEAD - 12, "text-anchor": "middle", fill: theme.muted }, sign(station, t)),
    ),
  ];
}

/** @param {SVGSVGElement} svg */
const sizeOf = (svg) => ({ width: Number(svg.getAttribute("width")), height: Number(svg.getAttribute("height")) });

/** @param {Panel[]} panels @param {number} row @param {{width: number, height: number}} size @param {number} unit @param {Theme} theme */
function cells(panels, row, { width, height }, unit, theme) {
  const canvas = /** @type {Cells} */ (document.createElement("canvas"));
  const brush = prepare(canvas, width, height);
  brush.scale(unit, unit);
  brush.font = `${theme.size}px ${theme.font}`;
  brush.textAlign = "center";
  brush.textBaseline = "middle";
  for (const { values, x, cell, shade, reach } of panels)
    values.forEach((all, n) =>
      all.forEach((value, i) => {
        if (Number.isNaN(value)) return;
        const paint = shade(value);
        brush.fillStyle = css(paint);
        brush.fillRect(x + n * cell, HEAD + i * row, cell - 1, row - 1);
        if (value <= reach || !prints(cell)) return;
        brush.fillStyle = legible(paint);
        brush.fillText(String(Math.round(value)), x + (n + 0.5) * cell, HEAD + (i + 0.5) * row, cell - 3);
      }),
    );
  canvas.picture = Object.fromEntries(panels.map(({ id, values }) => [id, values]));
  return canvas;
}

/** @param {SVGTextElement[]} labels @param {SVGRectElement[]} frames @param {number} row @param {Theme} theme */
function marker(labels, frames, row, theme) {
  /** @type {number | null} */
  let marked = null;
  const light = (/** @type {number} */ i, /** @type {boolean} */ on) => {
    labels[i].setAttribute("font-weight", on ? "600" : "400");
    labels[i].setAttribute("fill", on ? theme.q : theme.ink);
  };
  return (/** @type {number} */ top) => {
    if (top === marked) return;
    frames.forEach((frame) => frame.setAttribute("y", String(fine(HEAD + top * row - 1))));
    if (marked !== null) light(marked, false);
    light(top, true);
    marked = top;
  };
}

/**
 * The column label: a layer's number over its first sublayer ("in", "1", "", "2", "" …).
 * @param {Stream["stations"][number]} station
 * @param {Translate} t
 */
function sign({ layer, part }, t) {
  if (part === "input") return t("in");
  return part === "self" ? String(layer + 1) : "·";
}

// The strip of the residual stream, drawn one frame after the diagram above it. Meanwhile its space
// is reserved, so that nothing moves, and the old strip stays.

/** @typedef {Parameters<typeof createStrip>} Plan */

/** @param {HTMLElement} element  that it stands in @param {Window} window */
export function createLateStrip(element, window) {
  let top = 0;
  /** @type {ReturnType<typeof createStrip> | null} */
  let strip = null;
  const drawing = afterFrame((/** @type {Plan} */ ...plan) => {
    strip = createStrip(...plan);
    element.replaceChildren(...strip.elements);
    strip.mark(top);
  }, window);

  return {
    /** @param {Plan} plan */
    draw(...plan) {
      const [content, room, , t] = plan;
      const { width, height } = stripRoom(content, room, t);
      element.style.width = `${Math.ceil(width * room.unit)}px`;
      element.style.height = `${Math.ceil(height * room.unit)}px`;
      strip = null;
      drawing.later(...plan);
    },
    /** @param {number} token  that is chosen */
    mark(token) {
      top = token;
      strip?.mark(top);
    },
    stop: drawing.cancel,
  };
}
