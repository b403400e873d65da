/** A token at one end of the lines: its label, its frame when it is lit, and its number. */

import { lettering } from "../../draw/token-svg.js";
import { fine, s } from "../../draw/svg.js";
import { cut } from "./layout.js";

/** @typedef {import("../../data/tokens.js").Step} Step */

/**
 * @param {"query" | "key"} side
 * @param {number} index
 * @param {Step} step
 * @param {import("./layout.js").Layout} layout
 * @param {import("../../draw/theme.js").Theme} theme
 * @param {{lit: boolean, number: string | null}} state
 */
export function written(side, index, step, { from, to, width, pitch, short, numbers, y }, theme, { lit, number }) {
  const query = side === "query";
  const middle = fine(y(side, index));
  const edge = query ? from - 6 : to + 6;
  const digits = numbers ? Math.ceil(2.8 * theme.size) : 0;
  const colour = query ? theme.q : theme.k;
  const anchor = query ? "end" : "start";
  const place = { y: middle, "text-anchor": anchor, "dominant-baseline": "central" };
  const [left, right] = query ? [0, from - 2] : [to + 2, width];
  return s(
    "g",
    { "data-end": `${side} ${index}`, class: lit ? "end lit" : "end" },
    s("rect", {
      x: left,
      y: fine(y(side, index) - pitch / 2),
      width: fine(right - left),
      height: fine(pitch),
      rx: 4,
      fill: colour,
      "fill-opacity": lit ? 0.14 : 0,
      stroke: lit ? colour : "none",
    }),
    s(
      "text",
      { ...place, x: edge - (query ? digits : -digits), "font-weight": lit ? 600 : null },
      ...lettering(short ? cut(step) : step, theme),
    ),
    ...(number === null ? [] : [s("text", { ...place, x: edge, fill: theme.muted, class: "weight" }, number)]),
  );
}
