/** The picture of an alignment: the sentence, its translation, and lines between their words. */

import { onArrows, within } from "../../core/figure/arrow-keys.js";
import { h } from "../../lib/dom.js";
import { ruler } from "../../core/draw/labels.js";
import { curve, drawing, fine, s } from "../../core/draw/svg.js";
import { LARGE, createWord } from "./word-label.js";
import { PAD, ROW, fits, lay } from "./word-layout.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Theme } from "../../core/draw/theme.js" */
/** @import { Link } from "../../core/compute/alignment.js" */
/** @import { Layout, Side, Spot } from "./word-layout.js" */
/** @typedef {import("./word-layout.js").Words & {links: Link[], most?: number}} Picture  most: what a weight of 1 stands for, absent: 1 */
/** @typedef {Picture & {width: number, height: number, loose?: boolean}} Content  in the room there is; loose: all of it */
/** @typedef {{target: number, source: number, by: "hover" | "pin" | "default"}} Lit  −1: none */
/**
 * @typedef {object} Gestures
 * @property {(at: {target: number | null, source: number | null}) => void} hover
 * @property {(at: {target: number | null, source: number | null}, how: "click" | "key") => void} pick
 */

/** Width of the widest line, in pixels. */
const THICK = 10;
/** Opacity of lines: those of words that are not highlighted, hard ones, soft ones. */
const OPACITY = { off: 0.06, hard: 0.9, soft: 0.32 };

/**
 * @param {Context} context
 * @param {Gestures} gestures
 */
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
  /** @type {Lit} */
  let at = { target: -1, source: -1, by: "default" };
  let count = 0;
  bindWords(element, gestures);
  onArrows(element, (down, right) => {
    if (!count) return false;
    gestures.pick({ target: within(at.target + down + right, count), source: null }, "key");
    return true;
  });

  function measure() {
    const width = ruler(theme());
    return (/** @type {string} */ text) => width(text) * LARGE;
  }

  return {
    element,

    /** @param {Picture} picture @param {number} width  Whether the lines can go from above to below. */
    fits: (picture, width) => fits(picture, width, measure()),

    /** @param {Content} content  To be lit again. */
    draw(content) {
      count = content.target.length;
      picture = drawn(content, lay(content, measure()), theme());
      element.replaceChildren(picture.svg);
    },

    /** @param {Lit} lit */
    light(lit) {
      at = lit;
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
function drawn({ links, most = 1, source, target }, layout, theme) {
  const lines = links.map((link) => line(link, layout));
  const said = (/** @type {number | undefined} */ share) => share && share * most;
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
    /** @param {Lit} at */
    light(at) {
      links.forEach((link, i) => lines[i].setAttribute("stroke-opacity", String(opacity(link, at))));
      for (const side of /** @type {Side[]} */ (["source", "target"])) {
        const shares = sharesOf(links, side, at);
        words[side].forEach((word, i) => word.show(at[side] === i && (at.by !== "default" || side === "target"), said(shares.get(i))));
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

/** @param {Link} link @param {Lit} at */
function opacity({ from, to, hard }, at) {
  const chosen = at.by !== "default" && (at.target >= 0 || at.source >= 0);
  if (chosen && !touches(at, from, to)) return OPACITY.off;
  return hard ? OPACITY.hard : OPACITY.soft;
}

/**
 * The weights between a side's words and the highlighted word of the other side.
 * @param {Link[]} links
 * @param {Side} side
 * @param {Lit} at
 */
function sharesOf(links, side, at) {
  /** @type {Map<number, number>} */
  const shares = new Map();
  if (at.by === "default") return shares;
  for (const { from, to, weight } of links) {
    const [own, other, lit] = side === "source" ? [from, to, at.target] : [to, from, at.source];
    if (other === lit) shares.set(own, weight);
  }
  return shares;
}

/** @param {Lit} at @param {number} from @param {number} to */
function touches(at, from, to) {
  return at.target >= 0 && at.source >= 0
    ? at.target === to && at.source === from
    : at.target === to || at.source === from;
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
