/** The picture of an alignment: the sentence, its translation, and lines between their words. */

import { textRuler } from "../../core/draw/matrix-labels.js";
import { curve, drawing, fine, s } from "../../core/draw/svg.js";
import { onArrows, within } from "../../core/figure/pointing.js";
import { plainLabel } from "../../core/wire/tokens.js";
import { h } from "../../lib/dom.js";
import { rounded, two } from "../../lib/numbers.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Label } from "../../core/wire/tokens.js" */
/** @import { Link } from "../../core/compute/alignment.js" */
/** @import { Theme } from "../../core/page/page-context.js" */

// The layout of the words of a sentence and its translation, in pixels: above each other or side by
// side.

/** @typedef {"source" | "target"} Side */
/** @typedef {{x: number, y: number, width: number}} Spot  the middle of a word */
/** @typedef {{spots: Record<Side, Spot[]>, width: number, height: number, along: "x" | "y"}} Layout  along: the axis that lines cross */
/** @typedef {Record<Side, Label[]>} Words */

/** Padding around a word. */
const PAD = 8;
const ROW = 28;
/** The largest size of a picture in pixels, unless it is loose. */
const MOST = { width: 1100, height: 380, gap: 56 };
const LOOSE = { width: Infinity, height: Infinity, gap: Infinity };

/**
 * Put the sentence above its translation if both fit, else beside it.
 * @param {Words & {width: number, height: number, loose?: boolean}} content  with the available
 *   space; loose: use all of it
 * @param {(text: string) => number} measure
 * @returns {Layout}
 */
function layoutOf(content, measure) {
  const all = widths(content, measure);
  const limits = content.loose ? LOOSE : MOST;
  const room = Math.min(content.width - 2, limits.width);
  return fitsInRows(all, room) ? rowsLayout(all, room, content.height, limits) : columnsLayout(all, Math.min(room, 560));
}

/**
 * Whether both lines of words fit above each other.
 * @param {Words} words
 * @param {number} width
 * @param {(text: string) => number} measure
 */
const fits = (words, width, measure) => fitsInRows(widths(words, measure), width);

/** The text of a word. @param {Label} label */
const wordTexts = (label) => plainLabel({ ...label, space: "" });

/** @param {Words} words @param {(text: string) => number} measure @returns {Record<Side, number[]>} */
function widths({ source, target }, measure) {
  const wide = (/** @type {Label[]} */ words) => words.map((label) => measure(wordTexts(label)));
  return { source: wide(source), target: wide(target) };
}

/** @param {Record<Side, number[]>} widths @param {number} room */
const fitsInRows = (widths, room) => Object.values(widths).every((all) => sum(all) + all.length * 2 * PAD <= room);

/** @param {Record<Side, number[]>} widths @param {number} room @param {number} high @param {typeof MOST} limits @returns {Layout} */
function rowsLayout(widths, room, high, limits) {
  const height = Math.min(Math.max(high, 220), limits.height);
  const gap = Math.min(limits.gap, ...Object.values(widths).map((all) => (room - sum(all)) / all.length));
  const total = Math.max(...Object.values(widths).map((all) => sum(all) + all.length * gap));
  /** @param {number[]} all @param {number} y */
  const row = (all, y) => {
    // The shorter line is stretched to the length of the longer one.
    const step = (total - sum(all)) / all.length;
    let x = 0;
    return all.map((width) => {
      const spot = { x: x + (width + step) / 2, y, width };
      x += width + step;
      return spot;
    });
  };
  const spots = { source: row(widths.source, 42), target: row(widths.target, height - 42) };
  return { spots, width: Math.ceil(total), height, along: "y" };
}

/** @param {Record<Side, number[]>} widths @param {number} room @returns {Layout} */
function columnsLayout(widths, room) {
  const [sourceWidth, targetWidth] = [Math.max(...widths.source), Math.max(...widths.target)];
  const share = 44;
  const total = Math.max(room, sourceWidth + targetWidth + 2 * share + 120);
  const rows = Math.max(widths.source.length, widths.target.length);
  /** @param {number[]} all @param {(width: number) => number} x */
  const column = (all, x) =>
    all.map((width, i) => ({ x: x(width), y: ((i + 0.5) * rows * ROW) / all.length, width }));
  const spots = {
    source: column(widths.source, (width) => share + sourceWidth - width / 2),
    target: column(widths.target, (width) => total - share - targetWidth + width / 2),
  };
  return { spots, width: Math.ceil(total), height: rows * ROW, along: "x" };
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);

// A word of the picture: its label, a frame when it is highlighted, and its weight from the
// highlighted word.

/** Font size relative to labels elsewhere. */
const LARGE = 1.25;

/**
 * @param {Side} side
 * @param {number} i
 * @param {import("../../core/wire/tokens.js").Label} label
 * @param {Layout} layout
 * @param {import("../../core/page/page-context.js").Theme} theme
 */
function createWord(side, i, label, { spots, along }, theme) {
  const { x, y, width } = spots[side][i];
  const colour = side === "source" ? theme.k : theme.q;
  const frame = s("rect", {
    x: fine(x - width / 2 - PAD / 2),
    y: fine(y - ROW / 2),
    width: fine(width + PAD),
    height: ROW,
    rx: 4,
    fill: "transparent",
    "fill-opacity": 0,
  });
  const middle = { "dominant-baseline": "central" };
  const name = s(
    "text",
    { x: fine(x), y: fine(y), "text-anchor": "middle", ...middle, lang: label.lang, "font-size": theme.size * LARGE },
    wordTexts(label),
  );
  const weight = s("text", { ...beside(side, spots[side][i], along), ...middle, fill: theme.muted });
  const element = s("g", { "data-word": `${side} ${i}` }, frame, name);
  let lit = false;

  /** @param {boolean} on */
  function light(on) {
    lit = on;
    frame.setAttribute("fill", on ? colour : "transparent");
    frame.setAttribute("fill-opacity", on ? "0.16" : "0");
    frame.setAttribute("stroke", on ? colour : "none");
    name.setAttribute("font-weight", on ? "600" : "400");
  }

  return {
    element,
    /** Update only what changes. @param {boolean} on @param {number | undefined} share @param {number} [error]  by which it was rounded */
    show(on, share, error) {
      if (on !== lit) light(on);
      const text = share === undefined ? "" : rounded(share, error, two);
      if (weight.textContent === text) return;
      weight.textContent = text;
      if (text) element.append(weight);
      else weight.remove();
    },
  };
}

/**
 * The position of a weight: on the side of its word without lines.
 * @param {Side} side
 * @param {Spot} spot
 * @param {"x" | "y"} along
 */
function beside(side, { x, y, width }, along) {
  const out = side === "source" ? -1 : 1;
  if (along === "y") return { x: fine(x), y: fine(y + out * 22), "text-anchor": "middle" };
  return { x: fine(x + out * (width / 2 + PAD)), y: fine(y), "text-anchor": side === "source" ? "end" : "start" };
}

/** @typedef {Words & {links: Link[], limit?: number, error?: number}} Picture  limit: what a weight of 1 stands for, absent: 1; error: by which weights were rounded */
/** @typedef {Picture & {width: number, height: number, loose?: boolean}} Content  in the room there is; loose: all of it */
/** @typedef {{target: number, source: number, by: "hover" | "pin" | "default"}} WordHighlight  −1: none */
/**
 * @typedef {object} Gestures
 * @property {(words: {target: number | null, source: number | null}) => void} hover
 * @property {(words: {target: number | null, source: number | null}, gesture: "click" | "key") => void} pick
 */

/** Width of the widest line, in pixels. */
const THICK = 10;
/** Opacity of lines: those of words that are not highlighted, hard ones, soft ones. */
const OPACITY = { off: 0.06, hard: 0.9, soft: 0.32 };

/** @param {Context} context @param {Gestures} gestures */
export function createLines(context, gestures) {
  const { t, theme } = context;
  const element = h("div", {
    className: "alignment-lines",
    tabIndex: 0,
    role: "application",
    "aria-label": t("Alignment of words. Arrow keys move through the written words, Escape unpins."),
  });
  /** @type {ReturnType<typeof drawn> | null} */
  let picture = null;
  /** @type {WordHighlight} */
  let highlight = { target: -1, source: -1, by: "default" };
  let count = 0;
  bindWords(element, gestures);
  onArrows(element, (down, right) => {
    if (!count) return false;
    gestures.pick({ target: within(highlight.target + down + right, count), source: null }, "key");
    return true;
  });

  function measure() {
    const width = textRuler(theme());
    return (/** @type {string} */ text) => width(text) * LARGE;
  }

  return {
    element,

    /** @param {Picture} picture @param {number} width  Whether the lines can go from above to below. */
    fits: (picture, width) => fits(picture, width, measure()),

    /** @param {Content} content  To be lit again. */
    draw(content) {
      count = content.target.length;
      picture = drawn(content, layoutOf(content, measure()), theme());
      element.replaceChildren(picture.svg);
    },

    /** @param {WordHighlight} lit */
    light(lit) {
      highlight = lit;
      picture?.light(lit);
    },

    drawing: () => /** @type {SVGSVGElement} */ (picture?.svg),
  };
}

/** Bind pointing and clicking. @param {HTMLElement} element @param {Gestures} gestures */
function bindWords(element, { hover, pick }) {
  const nothing = { target: null, source: null };
  /** @param {Event} event */
  function under(event) {
    const word = /** @type {Element} */ (event.target).closest("[data-word]");
    if (!word) return null;
    const [side, index] = (word.getAttribute("data-word") ?? "").split(" ");
    return { ...nothing, [side]: Number(index) };
  }
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") hover(under(event) ?? nothing);
  });
  element.addEventListener("pointerleave", () => hover(nothing));
  element.addEventListener("click", (event) => {
    const word = under(event);
    if (word) pick(word, "click");
  });
}

/**
 * Draw fixed parts once; highlights change with the pointer.
 * @param {Content} content
 * @param {Layout} layout
 * @param {Theme} theme
 */
function drawn({ links, limit = 1, error, source, target }, layout, theme) {
  const lines = links.map((link) => line(link, layout));
  const scaledShare = (/** @type {number | undefined} */ share) => share && share * limit;
  const words = {
    source: source.map((label, i) => createWord("source", i, label, layout, theme)),
    target: target.map((label, i) => createWord("target", i, label, layout, theme)),
  };
  const svg = drawing(
    layout.width,
    layout.height,
    theme,
    s("g", { fill: "none", stroke: theme.attention, "stroke-linecap": "round" }, ...lines),
    ...[...words.source, ...words.target].map(({ element }) => element),
  );
  svg.setAttribute("aria-hidden", "true");
  return {
    svg,
    /** @param {WordHighlight} highlight */
    light(highlight) {
      links.forEach((link, i) => lines[i].setAttribute("stroke-opacity", String(opacity(link, highlight))));
      for (const side of /** @type {Side[]} */ (["source", "target"])) {
        const shares = sharesOf(links, side, highlight);
        words[side].forEach((word, i) => word.show(highlight[side] === i && (highlight.by !== "default" || side === "target"), scaledShare(shares.get(i)), error));
      }
    },
  };
}

/** @param {Link} link @param {Layout} layout */
function line({ from, to, weight }, { spots, along }) {
  return s("path", {
    d: curve(end(spots.source[from], along, 1), end(spots.target[to], along, -1), along),
    "stroke-width": fine(Math.max(1, THICK * weight)),
    "data-link": `${from} ${to}`,
  });
}

/** @param {Link} link @param {WordHighlight} highlight */
function opacity({ from, to, hard }, highlight) {
  const chosen = highlight.by !== "default" && (highlight.target >= 0 || highlight.source >= 0);
  if (chosen && !touches(highlight, from, to)) return OPACITY.off;
  return hard ? OPACITY.hard : OPACITY.soft;
}

/**
 * The weights between a side's words and the highlighted word of the other side.
 * @param {Link[]} links
 * @param {Side} side
 * @param {WordHighlight} highlight
 */
function sharesOf(links, side, highlight) {
  /** @type {Map<number, number>} */
  const shares = new Map();
  if (highlight.by === "default") return shares;
  for (const { from, to, weight } of links) {
    const [word, partner, lit] = side === "source" ? [from, to, highlight.target] : [to, from, highlight.source];
    if (partner === lit) shares.set(word, weight);
  }
  return shares;
}

/** @param {WordHighlight} highlight @param {number} from @param {number} to */
function touches(highlight, from, to) {
  return highlight.target >= 0 && highlight.source >= 0
    ? highlight.target === to && highlight.source === from
    : highlight.target === to || highlight.source === from;
}

/**
 * The end of a line at a word.
 * @param {Spot} spot
 * @param {"x" | "y"} along
 * @param {number} side
 * @returns {[number, number]}
 */
function end({ x, y, width }, along, side) {
  return along === "x" ? [x + side * (width / 2 + PAD - 2), y] : [x, y + side * (ROW / 2 + 1)];
}
