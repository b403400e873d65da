/** The drawing: tokens on both sides, lines between them, and highlights. */

import { finding } from "../../core/compute/attention-row.js";
import { four } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { ruler } from "../../core/draw/labels.js";
import { drawing, s } from "../../core/draw/svg.js";
import { row } from "../../core/wire/wire.js";
import { bindDiagram } from "./diagram-pointing.js";
import { lay } from "./layout.js";
import { createStrands } from "./strand-paths.js";
import { createEnd, numberAt } from "./token-label.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Theme } from "../../core/page/page-context.js" */
/** @import { Layout } from "./layout.js" */
/** @typedef {"query" | "key"} End */
/**
 * @typedef {object} Content
 * @property {Step[]} rows
 * @property {Step[]} cols
 * @property {{rows: string[], cols: string[]}} names
 * @property {import("./attention-lines.js").Strands} strands
 * @property {import("../../core/wire/wire.js").Matrix | null} mean  over the heads that are on
 * @property {import("../../core/draw/scale.js").Rgb[]} colours  by head
 * @property {boolean} numbers
 * @property {Record<End, string>} titles
 * @property {number[]} on
 * @property {number} width
 * @property {number} height
 */
/** @typedef {{query: number | null, key: number | null, by: "hover" | "pin" | "default"}} At */

/** @param {Context} context @param {import("./diagram-pointing.js").Gestures} gestures */
export function createDiagram(context, gestures) {
  const { t, theme } = context;
  const element = h("div", {
    className: "weave",
    tabIndex: 0,
    role: "application",
    "aria-label": t("Lines. Up and down move through tokens, left and right change sides, Escape unpins."),
  });
  /** @type {Content | null} */
  let content = null;
  /** @type {ReturnType<typeof diagramSvg> | null} */
  let picture = null;
  /** @type {At} */
  let at = { query: null, key: null, by: "default" };
  /** @type {number | null} */
  let head = null;
  bindDiagram(element, () => content && { ...content, at }, gestures);

  return {
    element,

    /** @param {Content} next  To be lit again. */
    draw(next) {
      content = next;
      picture = diagramSvg(next, lay(next, ruler(theme()), theme().size), theme());
      element.dataset.drawn = String(next.strands.strands.length);
      element.replaceChildren(picture.svg);
    },

    /** @param {At} next */
    light(next) {
      at = next;
      picture?.light(next, head);
    },

    /** Highlight one head's lines. @param {number | null} next */
    only(next) {
      head = next;
      picture?.light(at, head);
    },

    /** @param {End} side @param {number} index */
    says: (side, index) => (content ? seenFrom(context, content, side, index) : ""),

    drawing: () => /** @type {SVGSVGElement} */ (picture?.svg),
  };
}

/**
 * Draw fixed parts once; highlights change with the pointer.
 * @param {Content} content
 * @param {Layout} layout
 * @param {Theme} theme
 */
function diagramSvg(content, layout, theme) {
  const strands = createStrands(content, layout);
  const sides = {
    query: content.rows.map((step, i) => createEnd("query", i, step, layout, theme)),
    key: content.cols.map((step, i) => createEnd("key", i, step, layout, theme)),
  };
  const ends = [...sides.query, ...sides.key].map(({ element }) => element);
  const svg = drawing(layout.width, layout.height, theme, titles(content, layout, theme, ruler(theme)), ...strands.elements, ...ends);
  svg.setAttribute("aria-hidden", "true");
  return {
    svg,
    /** @param {At} at @param {number | null} head */
    light(at, head) {
      strands.light(at, head);
      for (const side of /** @type {End[]} */ (["query", "key"]))
        sides[side].forEach((end, i) => end.show(at[side] === i, content.numbers ? numberAt(content, at, side, i) : null));
    },
  };
}

/**
 * The titles of the sides, above their tokens; within the drawing if the tokens are shorter.
 * @param {Content} content
 * @param {Layout} layout
 * @param {Theme} theme
 * @param {(text: string) => number} measure
 */
function titles({ titles: { query, key } }, { from, to, width }, { size, muted }, measure) {
  const at = { y: size, fill: muted };
  return s(
    "g",
    { class: "titles" },
    s("text", { ...at, x: Math.max(from, Math.ceil(measure(query))), "text-anchor": "end" }, query),
    s("text", { ...at, x: Math.min(to, Math.floor(width - measure(key))) }, key),
  );
}

/**
 * Describe what a token looks at, or what looks at it.
 * @param {Context} context
 * @param {Content} content
 * @param {End} side
 * @param {number} index
 */
function seenFrom({ t }, { mean, names }, side, index) {
  if (!mean) return "";
  if (side === "key") return names.cols[index];
  const found = finding(row(mean, index));
  if (!("keys" in found)) return names.rows[index];
  const looked = names.cols[found.keys[0]];
  return t("{query}: most to {key}, {weight}", { query: names.rows[index], key: looked, weight: four(found.weight) });
}
