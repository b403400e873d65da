/** The drawing: tokens down both sides, lines between them, and what is told apart of it. */

import { onArrows, within } from "../../parts/arrow-keys.js";
import { finding } from "../../compute/row-summary.js";
import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { ruler } from "../../draw/labels.js";
import { css } from "../../draw/scale.js";
import { dash, touched } from "../../compute/attention-lines.js";
import { curve, drawing, fine, s } from "../../draw/svg.js";
import { row } from "../../data/wire.js";
import { lay } from "./layout.js";
import { written } from "./token-label.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../data/tokens.js").Step} Step */
/** @typedef {import("../../compute/attention-lines.js").Strand} Strand */
/** @typedef {"query" | "key"} End */
/**
 * @typedef {object} Content
 * @property {Step[]} rows
 * @property {Step[]} cols
 * @property {{rows: string[], cols: string[]}} names
 * @property {import("../../compute/attention-lines.js").Strands} strands
 * @property {import("../../data/wire.js").Matrix | null} mean  over the heads that are on
 * @property {import("../../draw/scale.js").Rgb[]} colours  by head
 * @property {boolean} numbers
 * @property {Record<End, string>} titles
 * @property {number[]} on
 * @property {number} width
 * @property {number} height
 */
/** @typedef {{query: number | null, key: number | null, by: "hover" | "pin" | "default"}} At */
/**
 * @typedef {object} Gestures
 * @property {(at: {side: End, index: number} | null) => void} onHover
 * @property {(at: {side: End, index: number}, how: "click" | "key") => void} onPick
 */

/** Of what is not told apart. */
const FAINT = 0.07;

/**
 * @param {Context} context
 * @param {Gestures} gestures
 */
export function createWeave(context, { onHover, onPick }) {
  const { t } = context;
  const element = h("div", {
    className: "weave",
    tabIndex: 0,
    role: "application",
    "aria-label": t("Lines. Up and down move through tokens, left and right change sides, Escape lets go."),
  });
  /** @type {Content | null} */
  let content = null;
  /** @type {import("./layout.js").Layout | null} */
  let layout = null;
  /** @type {At} */
  let at = { query: null, key: null, by: "default" };

  /** @param {Event} event @returns {{side: End, index: number} | null} */
  function under(event) {
    const end = /** @type {Element} */ (event.target).closest("[data-end]");
    if (!end) return null;
    const [side, index] = (end.getAttribute("data-end") ?? "").split(" ");
    return { side: /** @type {End} */ (side), index: Number(index) };
  }
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") onHover(under(event));
  });
  element.addEventListener("pointerleave", () => onHover(null));
  element.addEventListener("click", (event) => {
    const end = under(event);
    if (end) onPick(end, "click");
  });
  onArrows(element, (down, right) => {
    if (!content) return false;
    onPick(moved(at, down, right, content), "key");
    return true;
  });

  function paint() {
    if (!content || !layout) return;
    const theme = context.theme();
    const told = at.query !== null || at.key !== null;
    const alone = content.strands.strands.filter(touched(at));
    const drawn = drawing(
      layout.width,
      layout.height,
      theme,
      titles(content, layout, theme),
      fibres(content, layout, content.strands.strands, told ? FAINT : 1),
      ...(told ? [fibres(content, layout, alone, 1)] : []),
      ...ends("query", content, layout),
      ...ends("key", content, layout),
    );
    drawn.setAttribute("aria-hidden", "true");
    element.replaceChildren(drawn);
  }

  /** @param {End} side @param {Content} content @param {import("./layout.js").Layout} layout */
  function ends(side, content, layout) {
    const theme = context.theme();
    const steps = side === "query" ? content.rows : content.cols;
    return steps.map((step, i) =>
      written(side, i, step, layout, theme, {
        lit: at[side] === i,
        number: content.numbers ? number(content, at, side, i) : null,
      }),
    );
  }

  return {
    element,

    /** @param {Content} next */
    draw(next) {
      content = next;
      layout = lay(next, ruler(context.theme()), context.theme().size);
      element.dataset.drawn = String(next.strands.strands.length);
      paint();
    },

    /** @param {At} next */
    light(next) {
      at = next;
      paint();
    },

    /** What is seen from a token. @param {End} side @param {number} index */
    says(side, index) {
      if (!content?.mean) return "";
      const { mean, names } = content;
      if (side === "key") return names.cols[index];
      const found = finding(row(mean, index));
      if (!("keys" in found)) return names.rows[index];
      const looked = names.cols[found.keys[0]];
      return t("{query}: most to {key}, {weight}", { query: names.rows[index], key: looked, weight: four(found.weight) });
    },

    drawing: () => /** @type {SVGSVGElement} */ (element.querySelector("svg")),
  };
}

/**
 * @param {Content} content
 * @param {import("./layout.js").Layout} layout
 * @param {Strand[]} strands
 * @param {number} opacity  of the whole
 */
function fibres({ colours, on }, { y, from, to, pitch, unit }, strands, opacity) {
  // Side by side, as in a cable, so that one head's line does not cover another's.
  const apart = Math.min(2.4 * unit, (0.6 * pitch) / on.length);
  const thick = Math.max(1.2, Math.min(3.4 * unit, 1.6 * apart));
  const aside = on.map((_, rank) => (rank - (on.length - 1) / 2) * apart);
  return s(
    "g",
    { fill: "none", opacity: opacity === 1 ? null : opacity, class: opacity === 1 ? "fibres" : "fibres faint" },
    ...strands.map(({ head, query, key, weight }) =>
      s("path", {
        d: curve(
          [from, y("query", query) + aside[on.indexOf(head)]],
          [to, y("key", key) + aside[on.indexOf(head)]],
          "x",
        ),
        stroke: css(colours[head]),
        "stroke-width": fine(0.8 * unit + thick * weight),
        "stroke-opacity": fine(10 * (0.15 + 0.8 * weight)) / 10,
        "stroke-dasharray": dash(head),
        "data-strand": `${head} ${query} ${key}`,
      }),
    ),
  );
}

/** @param {Content} content @param {import("./layout.js").Layout} layout @param {import("../../draw/theme.js").Theme} theme */
function titles({ titles }, { from, to }, { size, muted }) {
  const at = { y: size, fill: muted };
  return s(
    "g",
    {},
    s("text", { ...at, x: from, "text-anchor": "end" }, titles.query),
    s("text", { ...at, x: to }, titles.key),
  );
}

/**
 * Beside a lit token's counterparts its weights; with none lit, each query's largest one.
 * @param {Content} content
 * @param {At} at
 * @param {End} side
 * @param {number} i
 * @returns {string | null}
 */
function number({ mean }, { query, key }, side, i) {
  if (!mean) return null;
  const { cols, values } = mean;
  if (query !== null) return side === "key" ? shown(values[query * cols + i]) : null;
  if (key !== null) return side === "query" ? shown(values[i * cols + key]) : null;
  const open = [...row(mean, i)].filter((value) => !Number.isNaN(value));
  return side === "query" && open.length ? shown(Math.max(...open)) : null;
}

/** @param {number} value  Masked pairs have no number. */
const shown = (value) => (Number.isNaN(value) ? "–" : two(value));

/**
 * Up and down along a side, left to the queries, right to the keys.
 * @param {At} at
 * @param {number} down
 * @param {number} right
 * @param {Content} content
 * @returns {{side: End, index: number}}
 */
function moved(at, down, right, { rows, cols }) {
  const side = at.key !== null ? "key" : "query";
  const index = at[side];
  const inside = (/** @type {End} */ end, /** @type {number} */ i) => within(i, (end === "query" ? rows : cols).length);
  if (down) return { side, index: index === null ? 0 : inside(side, index + down) };
  if (right > 0) return { side: "key", index: inside("key", index ?? 0) };
  return { side: "query", index: inside("query", at.query ?? index ?? 0) };
}
