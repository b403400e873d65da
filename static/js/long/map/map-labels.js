/** The labels of a long text's map: the names of rows and columns, or their positions. */

/** @import { Scene } from "./map-picture.js" */

/** Pixels between two positions that are written. */
const TICKS = 64;
/** Of a slanted label, in radians. */
const SLANT = -Math.PI / 3;

/** Names of rows and columns where they have room; else positions, counted from 1. @param {CanvasRenderingContext2D} context @param {Scene} scene */
export function labels(context, scene) {
  const { frame, camera: { top, left, wide, high }, window: { rows, cols }, theme, names, pinned, hovered, labelled } = scene;
  const lit = (/** @type {"row" | "col"} */ which, /** @type {number} */ unit) => pinned[which] === unit || hovered[which] === unit;
  const first = (/** @type {number} */ from, /** @type {number} */ step) => (step === 1 ? from : Math.ceil((from + 1) / step) * step - 1);
  const named = { row: high >= labelled, col: wide >= labelled };
  const [down, across] = [named.row ? 1 : tick(high), named.col ? 1 : tick(wide)];
  context.textBaseline = "middle";
  context.save();
  context.beginPath();
  context.rect(0, frame.top - 4, frame.left, frame.height + 8);
  context.clip();
  context.textAlign = "right";
  for (let row = first(rows[0], down); row < rows[1]; row += down) {
    context.fillStyle = lit("row", row) ? theme.q : named.row ? theme.ink : theme.muted;
    context.fillText(named.row ? fitting(context, names.rows(row), frame.left - 10) : String(row + 1), frame.left - 6, frame.top + (row + 0.5 - top) * high);
  }
  context.restore();
  context.save();
  context.beginPath();
  context.rect(frame.left - 4, 0, frame.width + frame.bars, frame.top);
  context.clip();
  for (let col = first(cols[0], across); col < cols[1]; col += across) {
    context.fillStyle = lit("col", col) ? theme.k : named.col ? theme.ink : theme.muted;
    const x = frame.left + (col + 0.5 - left) * wide;
    if (named.col) slanted(context, fitting(context, names.cols(col), (frame.top - 12) / Math.sin(-SLANT)), x, frame.top - 6);
    else {
      context.textAlign = "center";
      context.fillText(String(col + 1), x, frame.top - theme.size);
    }
  }
  context.restore();
}

/** As much of a text as has room. @param {CanvasRenderingContext2D} context @param {string} text @param {number} room */
function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && context.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

/** @param {CanvasRenderingContext2D} context @param {string} text @param {number} x @param {number} y */
function slanted(context, text, x, y) {
  context.save();
  context.translate(x, y);
  if ([...text].length > 1) context.rotate(SLANT);
  context.textAlign = [...text].length > 1 ? "left" : "center";
  context.fillText(text, 0, [...text].length > 1 ? 0 : -4);
  context.restore();
}

/** Units between two positions that are written: 1, 2 or 5 times a power of ten. @param {number} scale */
export function tick(scale) {
  const least = TICKS / scale;
  const ten = 10 ** Math.floor(Math.log10(least));
  return Math.max(1, [1, 2, 5, 10].map((n) => n * ten).find((n) => n >= least) ?? 10 * ten);
}
