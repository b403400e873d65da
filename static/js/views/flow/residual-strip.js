/** The residual stream: how long each token's vector is behind every sublayer, and where it points. */

import { texts } from "../../data/attentions.js";
import { lettering } from "../../draw/token-svg.js";
import { colour, css, diverging, sequential } from "../../draw/scale.js";
import { drawing, fine, s } from "../../draw/svg.js";

/** @typedef {import("../../draw/theme.js").Theme} Theme */
/** @typedef {import("../../lib/i18n.js").Translate} Translate */
/** @typedef {import("./layer-means.js").Stream} Stream */

const HEAD = 46;
const CELL = 22;

/**
 * Drawn once for a layer; which token is chosen changes under the pointer.
 * @param {{stream: Stream, tokens: import("../../data/tokens.js").Step[]}} content
 * @param {{row: number, measure: (text: string) => number}} room  rows as high as the river's
 * @param {Theme} theme
 * @param {Translate} t
 */
export function strip({ stream, tokens }, { row, measure }, theme, t) {
  const names = texts(tokens);
  const left = Math.max(...names.map(measure)) + 12;
  const across = stream.stations.length * CELL;
  const gap = Math.max(24, measure(t("cosine to embedding")) - across + 16);
  const longest = Math.max(...stream.norms.flat()) || 1;
  const scales = [sequential(theme), diverging(theme)];
  const panels = [
    { name: t("length"), values: stream.norms, x: left, at: (/** @type {number} */ v) => colour(scales[0], v / longest) },
    { name: t("cosine to embedding"), values: stream.cosines, x: left + across + gap, at: (/** @type {number} */ v) => colour(scales[1], (v + 1) / 2) },
  ];
  const labels = tokens.map((token, i) =>
    s(
      "text",
      { x: left - 8, y: fine(HEAD + (i + 0.5) * row), "text-anchor": "end", "dominant-baseline": "central" },
      ...lettering(token, theme),
    ),
  );
  const groups = panels.map(({ name, values, x, at }) => {
    const group = s("g", { "data-strip": name }, s("text", { x, y: HEAD - 30, fill: theme.muted }, name));
    stream.stations.forEach((station, n) => {
      group.append(
        s("text", { x: fine(x + (n + 0.5) * CELL), y: HEAD - 12, "text-anchor": "middle", fill: theme.muted }, sign(station, t)),
      );
      values[n].forEach((value, i) =>
        group.append(
          s("rect", {
            x: fine(x + n * CELL),
            y: fine(HEAD + i * row),
            width: CELL - 1,
            height: fine(row - 1),
            fill: Number.isNaN(value) ? "none" : css(at(value)),
            "data-value": value.toFixed(6),
          }),
        ),
      );
    });
    const frame = s("rect", { x: x - 1, width: across + 1, height: fine(row + 1), fill: "none", stroke: theme.q, "stroke-width": 2 });
    group.append(frame);
    return { group, frame };
  });
  const width = left + 2 * across + gap + 4;
  const svg = drawing(Math.ceil(width), Math.ceil(HEAD + tokens.length * row + 2), theme, ...labels, ...groups.map(({ group }) => group));
  svg.setAttribute("aria-hidden", "true");
  return {
    svg,
    /** @param {number} top */
    mark(top) {
      groups.forEach(({ frame }) => frame.setAttribute("y", String(fine(HEAD + top * row - 1))));
      labels.forEach((label, i) => {
        label.setAttribute("font-weight", i === top ? "600" : "400");
        label.setAttribute("fill", i === top ? theme.q : theme.ink);
      });
    },
  };
}

/** A layer's number over its first sublayer: "in", "1", "", "2", "" … @param {Stream["stations"][number]} station @param {Translate} t */
function sign({ layer, part }, t) {
  if (part === "input") return t("in");
  return part === "self" ? String(layer + 1) : "·";
}
