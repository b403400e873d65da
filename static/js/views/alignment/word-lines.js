/** The picture of an alignment: the sentence, its translation, and lines between their words. */

import { onArrows, within } from "../../parts/arrow-keys.js";
import { h } from "../../lib/dom.js";
import { ruler } from "../../draw/labels.js";
import { curve, drawing, fine, s } from "../../draw/svg.js";
import { two } from "../../lib/numbers.js";
import { plain } from "../../data/tokens.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/alignment.js").Link} Link */
/** @typedef {import("../../data/tokens.js").Label} Label */
/** @typedef {{source: Label[], target: Label[], links: Link[]}} Picture */
/** @typedef {Picture & {width: number, height: number}} Content  in the room there is */
/** @typedef {{target: number, source: number, by: "hover" | "pin" | "default"}} Words */
/** @typedef {"source" | "target"} Side */
/** @typedef {{x: number, y: number, width: number}} Spot  the middle of a word */
/** @typedef {{spots: Record<Side, Spot[]>, width: number, height: number, along: "x" | "y"}} Layout */
/**
 * @typedef {object} Gestures
 * @property {(at: {target: number | null, source: number | null}) => void} hover
 * @property {(at: {target: number | null, source: number | null}, how: "click" | "key") => void} pick
 */

const PAD = 8;
const ROW = 28;
/** Of the widest line, in pixels. */
const THICK = 10;
/** How much larger words are here than labels elsewhere. */
const LARGE = 1.25;

/**
 * @param {Context} context
 * @param {Gestures} gestures
 */
export function createLines(context, { hover, pick }) {
  const { t, theme } = context;
  const element = h("div", {
    className: "alignment-lines",
    tabIndex: 0,
    role: "application",
    "aria-label": t("Alignment of words. Arrow keys move through the written words, Escape lets go."),
  });
  /** @type {Content | null} */
  let content = null;
  /** @type {Layout | null} */
  let layout = null;
  let at = /** @type {Words} */ ({ target: -1, source: -1, by: "default" });

  onArrows(element, (down, right) => {
    if (!content) return false;
    pick({ target: within(at.target + down + right, content.target.length), source: null }, "key");
    return true;
  });

  /** @param {Event} event */
  function under(event) {
    const word = /** @type {Element} */ (event.target).closest("[data-word]");
    if (!word) return null;
    const [side, index] = (word.getAttribute("data-word") ?? "").split(" ");
    const [target, source] = side === "target" ? [Number(index), null] : [null, Number(index)];
    return { target, source };
  }
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") hover(under(event) ?? { target: null, source: null });
  });
  element.addEventListener("pointerleave", () => hover({ target: null, source: null }));
  element.addEventListener("click", (event) => {
    const word = under(event);
    if (word) pick(word, "click");
  });

  function measure() {
    const width = ruler(theme());
    return (/** @type {string} */ text) => width(text) * LARGE;
  }

  function paint() {
    if (!content || !layout) return;
    const { width, height } = layout;
    const drawn = drawing(width, height, theme(), lines(), ...words("source"), ...words("target"));
    drawn.setAttribute("aria-hidden", "true");
    element.replaceChildren(drawn);
  }

  function lines() {
    const { spots, along } = /** @type {Layout} */ (layout);
    const { attention } = theme();
    const chosen = at.by !== "default" && (at.target >= 0 || at.source >= 0);
    const group = s("g", { fill: "none", stroke: attention, "stroke-linecap": "round" });
    for (const { from, to, weight, hard } of content?.links ?? []) {
      const off = chosen && !touches(at, from, to);
      group.append(
        s("path", {
          d: curve(end(spots.source[from], along, 1), end(spots.target[to], along, -1), along),
          "stroke-width": fine(Math.max(1, THICK * weight)),
          "stroke-opacity": off ? 0.06 : hard ? 0.9 : 0.32,
          "data-link": `${from} ${to}`,
        }),
      );
    }
    return group;
  }

  /** @param {Side} side */
  function words(side) {
    const { spots } = /** @type {Layout} */ (layout);
    const { source, target } = /** @type {Content} */ (content);
    const other = side === "source" ? at.target : at.source;
    const shares = new Map(at.by === "default" ? [] : beside(side, other));
    return (side === "source" ? source : target).map((label, i) =>
      word(side, i, label, spots[side][i], shares.get(i)),
    );
  }

  /** The weights of the lines between a lit word and the words of the other side. @param {Side} side @param {number} lit */
  function beside(side, lit) {
    const found = (content?.links ?? []).filter(({ from, to }) => (side === "source" ? to : from) === lit);
    return found.map(({ from, to, weight }) => /** @type {[number, number]} */ ([side === "source" ? from : to, weight]));
  }

  /** @param {Side} side @param {number} i @param {Label} label @param {Spot} spot @param {number | undefined} share */
  function word(side, i, label, { x, y, width }, share) {
    const colours = theme();
    const lit = at[side] === i && (at.by !== "default" || side === "target");
    const colour = side === "source" ? colours.k : colours.q;
    const box = s("rect", {
      x: fine(x - width / 2 - PAD / 2),
      y: fine(y - ROW / 2),
      width: fine(width + PAD),
      height: ROW,
      rx: 4,
      fill: lit ? colour : "transparent",
      "fill-opacity": lit ? 0.16 : 0,
      stroke: lit ? colour : "none",
    });
    const group = s("g", { "data-word": `${side} ${i}` }, box, written(label, x, y, lit));
    if (share !== undefined) group.append(weight(side, x, y, width, share));
    return group;
  }

  /** @param {Label} label @param {number} x @param {number} y @param {boolean} lit */
  const written = (label, x, y, lit) =>
    s(
      "text",
      { x: fine(x), y: fine(y), "text-anchor": "middle", "dominant-baseline": "central", lang: label.lang, "font-weight": lit ? 600 : 400, "font-size": theme().size * LARGE },
      plain({ ...label, space: "" }),
    );

  /** @param {Side} side @param {number} x @param {number} y @param {number} width @param {number} share */
  function weight(side, x, y, width, share) {
    const out = side === "source" ? -1 : 1;
    const flat = layout?.along === "x";
    return s(
      "text",
      {
        x: fine(flat ? x + out * (width / 2 + PAD) : x),
        y: fine(flat ? y : y + out * 22),
        "text-anchor": flat ? (side === "source" ? "end" : "start") : "middle",
        "dominant-baseline": "central",
        fill: theme().muted,
      },
      two(share),
    );
  }

  return {
    element,

    /** @param {Picture} picture @param {number} width  Whether the lines can go from above to below. */
    fits: (picture, width) => across(widths(picture, measure()), width),

    /** @param {Content} next */
    draw(next) {
      content = next;
      layout = lay(next, measure());
      paint();
    },

    /** @param {Words} words */
    light(words) {
      at = words;
      paint();
    },

    drawing: () => /** @type {SVGSVGElement} */ (element.querySelector("svg")),
  };
}

/** @param {Words} at @param {number} from @param {number} to */
function touches(at, from, to) {
  return at.target >= 0 && at.source >= 0
    ? at.target === to && at.source === from
    : at.target === to || at.source === from;
}

/** Where a line meets a word. @param {Spot} spot @param {"x" | "y"} along @param {number} side @returns {[number, number]} */
function end({ x, y, width }, along, side) {
  return along === "x" ? [x + side * (width / 2 + PAD - 2), y] : [x, y + side * (ROW / 2 + 1)];
}

/**
 * The sentence above its translation where both fit, else beside it.
 * @param {Content} content
 * @param {(text: string) => number} measure
 * @returns {Layout}
 */
function lay(content, measure) {
  const all = widths(content, measure);
  const room = Math.min(content.width - 2, 1100);
  return across(all, room) ? above(all, room, content.height) : besides(all, Math.min(room, 560));
}

/**
 * @param {Picture} picture
 * @param {(text: string) => number} measure
 * @returns {Record<Side, number[]>}
 */
function widths({ source, target }, measure) {
  const wide = (/** @type {Label[]} */ words) =>
    words.map((label) => measure(plain({ ...label, space: "" })));
  return { source: wide(source), target: wide(target) };
}

/** @param {Record<Side, number[]>} widths @param {number} room */
const across = (widths, room) =>
  Object.values(widths).every((all) => sum(all) + all.length * 2 * PAD <= room);

/** @param {Record<Side, number[]>} widths @param {number} room @param {number} most @returns {Layout} */
function above(widths, room, most) {
  const height = Math.min(Math.max(most, 220), 380);
  const gap = Math.min(56, ...Object.values(widths).map((all) => (room - sum(all)) / all.length));
  const total = Math.max(...Object.values(widths).map((all) => sum(all) + all.length * gap));
  /** @param {number[]} all @param {number} y */
  const row = (all, y) => {
    // The shorter line stretches to the longer one's ends.
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
function besides(widths, room) {
  const [left, right] = [Math.max(...widths.source), Math.max(...widths.target)];
  const share = 44;
  const total = Math.max(room, left + right + 2 * share + 120);
  const rows = Math.max(widths.source.length, widths.target.length);
  /** @param {number[]} all @param {(width: number) => number} x */
  const column = (all, x) =>
    all.map((width, i) => ({ x: x(width), y: ((i + 0.5) * rows * ROW) / all.length, width }));
  const spots = {
    source: column(widths.source, (width) => share + left - width / 2),
    target: column(widths.target, (width) => total - share - right + width / 2),
  };
  return { spots, width: Math.ceil(total), height: rows * ROW, along: "x" };
}

/** @param {number[]} values */
const sum = (values) => values.reduce((total, value) => total + value, 0);
