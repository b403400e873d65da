/**
 * An exported picture: the figure below its sentence, with the view, layer and head, the caption,
 * and the model. It is an SVG; the PNG is made from it.
 */

import { textRuler } from "./matrix-labels.js";
import { drawing, s } from "./svg.js";

/**
 * @typedef {object} Words
 * @property {string} title
 * @property {string} place  view, layer, head
 * @property {string} [changed]  changes to the model
 * @property {string} caption  "" if the view has none
 * @property {string} footer
 */
/** @typedef {Pick<import("../page/page-context.js").Theme, "paper" | "ink" | "muted" | "font" | "size">} PosterStyle */
/** @typedef {{text: string, size: number, weight: number, fill: string}} Line */

const MARGIN = 24;
const GAP = 14;
/** The smallest width at which a caption is readable. */
const NARROW = 560;
const LEADING = 1.4;

/**
 * @param {string} drawn  an SVG file
 * @param {Words} words
 * @param {PosterStyle} style
 * @param {(text: string, size: number, weight: number) => number} measure  in pixels
 * @returns {{svg: string, width: number, height: number}}
 */
export function poster(drawn, words, style, measure) {
  const size = sizeOf(drawn);
  const across = Math.max(size.width, NARROW);
  /** @param {string} text @param {number} scale @param {number} weight @param {string} fill */
  const set = (text, scale, weight, fill) => {
    const px = Math.round(style.size * scale);
    const lines = wrapped(text, across, (words) => measure(words, px, weight));
    return lines.map((line) => ({ text: line, size: px, weight, fill }));
  };
  const above = [
    ...set(words.title, 1.4, 600, style.ink),
    ...set(words.place, 1, 400, style.muted),
    ...set(words.changed ?? "", 1, 600, style.ink),
    ...set(words.caption, 1.1, 400, style.ink),
  ];
  const below = set(words.footer, 1, 400, style.muted);
  const top = MARGIN + heightOf(above) + GAP;
  const width = across + 2 * MARGIN;
  const height = Math.ceil(top + size.height + GAP + heightOf(below) + MARGIN);
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="${escaped(style.font)}">`,
    `<title>${escaped(`${words.title} · ${words.place}`)}</title>`,
    `<rect width="${width}" height="${height}" fill="${style.paper}"/>`,
    ...typeset(above, MARGIN),
    drawn.replace(/^[^]*?<svg\b/, `<svg x="${MARGIN}" y="${top}"`),
    ...typeset(below, top + size.height + GAP),
    "</svg>",
  ];
  return { svg: parts.join("\n"), width, height };
}

/**
 * @param {string} text
 * @param {number} width
 * @param {(text: string) => number} measure
 * @returns {string[]}  lines that fit; Chinese text and overlong words break anywhere
 */
export function wrapped(text, width, measure) {
  /** @type {string[]} */
  const lines = [];
  let line = "";
  for (const piece of text.match(/\p{Script=Han}|\s+|[^\s\p{Script=Han}]+/gu) ?? []) {
    if (measure((line + piece).trimEnd()) <= width) line += piece;
    else {
      if (line.trim()) lines.push(line.trimEnd());
      line = "";
      for (const letter of piece.trimStart()) {
        if (line && measure(line + letter) > width) {
          lines.push(line);
          line = "";
        }
        line += letter;
      }
    }
  }
  return line.trim() ? [...lines, line.trimEnd()] : lines;
}

/** @param {string} svg @returns {{width: number, height: number}}  in pixels, of its root element */
export function sizeOf(svg) {
  const root = svg.match(/<svg\b[^>]*>/)?.[0] ?? "";
  const [width, height] = ["width", "height"].map((name) =>
    Number(root.match(new RegExp(`\\s${name}="([\\d.]+)(?:px)?"`))?.[1]),
  );
  if (width > 0 && height > 0) return { width, height };
  const box = root.match(/viewBox="[-\d.]+ [-\d.]+ ([\d.]+) ([\d.]+)"/);
  if (!box) throw new TypeError("a drawing without a size");
  return { width: Number(box[1]), height: Number(box[2]) };
}

/** @param {Line[]} lines @param {number} y */
function typeset(lines, y) {
  return lines.map(({ text, size, weight, fill }) => {
    y += size * LEADING;
    const attributes = `x="${MARGIN}" y="${Math.round(y - size * 0.3)}" font-size="${size}" font-weight="${weight}" fill="${fill}"`;
    return `<text ${attributes}>${escaped(text)}</text>`;
  });
}

/** @param {Line[]} lines */
const heightOf = (lines) => lines.reduce((sum, { size }) => sum + size * LEADING, 0);

/** @param {string} text */
function escaped(text) {
  const names = /** @type {Record<string, string>} */ ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" });
  // Characters that XML does not allow are left out.
  return text.replace(/[&<>"]/g, (sign) => names[sign]).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
}

// Drawings side by side, each below its title, for exports.

/** Distance between two drawings, in pixels. */
const PANEL_GAP = 32;

/**
 * @param {{svg: SVGSVGElement | null, title: string}[]} parts  the drawings
 * @param {import("../page/page-context.js").Theme} theme
 * @param {number} [across]  how many per row; absent: all
 * @returns {SVGSVGElement}
 */
export function abreast(parts, theme, across = parts.length) {
  const measure = textRuler(theme);
  const line = Math.ceil(1.4 * theme.size);
  const drawn = parts.flatMap(({ svg, title }) => (svg ? [{ svg, ...panelSize(svg), lines: wrapped(title, panelSize(svg).width, measure) }] : []));
  /** @type {SVGElement[]} */
  const content = [];
  let [top, width] = [0, 0];
  for (let first = 0; first < drawn.length; first += across) {
    const row = drawn.slice(first, first + across);
    const below = top + Math.max(...row.map(({ lines }) => lines.length)) * line + 8;
    let left = 0;
    for (const { svg, lines, width: wide } of row) {
      content.push(...lines.map((words, i) => s("text", { x: left, y: top + (i + 0.75) * line, "font-weight": 600 }, words)), placed(svg, left, below));
      left += wide + PANEL_GAP;
    }
    width = Math.max(width, left - PANEL_GAP);
    top = below + Math.max(...row.map(({ height }) => height)) + PANEL_GAP;
  }
  return drawing(width, Math.max(0, top - PANEL_GAP), theme, ...content);
}

/** @param {SVGSVGElement} svg */
const panelSize = ({ viewBox: { baseVal } }) => ({ width: baseVal.width, height: baseVal.height });

/** @param {SVGSVGElement} svg @param {number} x @param {number} y */
function placed(svg, x, y) {
  svg.setAttribute("x", String(x));
  svg.setAttribute("y", String(y));
  return svg;
}
