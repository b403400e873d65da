/** A token at one end of the lines: its label, a frame when it is highlighted, and its number. */

import { two } from "../../lib/numbers.js";
import { row } from "../../core/wire/wire.js";
import { lettering } from "../../core/draw/token.js";
import { fine, s } from "../../core/draw/svg.js";
import { cut } from "./layout.js";

/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { End } from "./diagram.js" */

/**
 * @param {End} side
 * @param {number} index
 * @param {Step} step
 * @param {import("./layout.js").Layout} layout
 * @param {import("../../core/page/page-context.js").Theme} theme
 */
export function createEnd(side, index, step, { from, to, width, pitch, short, numbers, y }, theme) {
  const query = side === "query";
  const edge = query ? from - 6 : to + 6;
  const digits = numbers ? Math.ceil(2.8 * theme.size) : 0;
  const colour = query ? theme.q : theme.k;
  const [left, right] = query ? [0, from - 2] : [to + 2, width];
  const place = { y: fine(y(side, index)), "text-anchor": query ? "end" : "start", "dominant-baseline": "central" };
  const frame = s("rect", {
    x: left,
    y: fine(y(side, index) - pitch / 2),
    width: fine(right - left),
    height: fine(pitch),
    rx: 4,
    fill: colour,
    "fill-opacity": 0,
  });
  const name = s("text", { ...place, x: edge - (query ? digits : -digits) }, ...lettering(short ? cut(step) : step, theme));
  const weight = s("text", { ...place, x: edge, fill: theme.muted, class: "weight" });
  const element = s("g", { "data-end": `${side} ${index}`, class: "end" }, frame, name);
  let lit = false;

  /** @param {boolean} on */
  function light(on) {
    lit = on;
    element.classList.toggle("lit", on);
    frame.setAttribute("fill-opacity", on ? "0.14" : "0");
    frame.setAttribute("stroke", on ? colour : "none");
    name.setAttribute("font-weight", on ? "600" : "400");
  }

  return {
    element,
    /** Update only what changes. @param {boolean} on @param {string | null} number */
    show(on, number) {
      if (on !== lit) light(on);
      if (weight.textContent === (number ?? "")) return;
      weight.textContent = number;
      if (number === null) weight.remove();
      else element.append(weight);
    },
  };
}

/**
 * The numbers: the highlighted token's weights beside its counterparts; with no highlight, each
 * query's largest weight.
 * @param {import("./diagram.js").Content} content
 * @param {import("./diagram.js").At} at
 * @param {End} side
 * @param {number} i
 * @returns {string | null}
 */
export function numberAt({ mean }, { query, key }, side, i) {
  if (!mean) return null;
  const { cols, values } = mean;
  if (query !== null) return side === "key" ? shown(values[query * cols + i]) : null;
  if (key !== null) return side === "query" ? shown(values[i * cols + key]) : null;
  const open = [...row(mean, i)].filter((value) => !Number.isNaN(value));
  return side === "query" && open.length ? shown(Math.max(...open)) : null;
}

/** @param {number} value  Masked pairs have no number. */
const shown = (value) => (Number.isNaN(value) ? "–" : two(value));
