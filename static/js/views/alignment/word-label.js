/**
 * A word of the picture: its label, a frame when it is highlighted, and its weight from the
 * highlighted word.
 */

import { two } from "../../lib/numbers.js";
import { fine, s } from "../../core/draw/svg.js";
import { PAD, ROW, spelled } from "./word-layout.js";

/** @import { Side } from "./word-layout.js" */

/** Font size relative to labels elsewhere. */
export const LARGE = 1.25;

/**
 * @param {Side} side
 * @param {number} i
 * @param {import("../../core/wire/tokens.js").Label} label
 * @param {import("./word-layout.js").Layout} layout
 * @param {import("../../core/draw/theme.js").Theme} theme
 */
export function createWord(side, i, label, { spots, along }, theme) {
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
    spelled(label),
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
    /** Update only what changes. @param {boolean} on @param {number | undefined} share */
    show(on, share) {
      if (on !== lit) light(on);
      const said = share === undefined ? "" : two(share);
      if (weight.textContent === said) return;
      weight.textContent = said;
      if (said) element.append(weight);
      else weight.remove();
    },
  };
}

/**
 * The position of a weight: on the side of its word without lines.
 * @param {Side} side
 * @param {import("./word-layout.js").Spot} spot
 * @param {"x" | "y"} along
 */
function beside(side, { x, y, width }, along) {
  const out = side === "source" ? -1 : 1;
  if (along === "y") return { x: fine(x), y: fine(y + out * 22), "text-anchor": "middle" };
  return { x: fine(x + out * (width / 2 + PAD)), y: fine(y), "text-anchor": side === "source" ? "end" : "start" };
}
