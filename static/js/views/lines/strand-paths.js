/**
 * The lines of all heads that are on and, when a token is highlighted, its lines once more on top.
 */

import { css } from "../../core/draw/scale.js";
import { dash, touched } from "./attention-lines.js";
import { curve, fine, s } from "../../core/draw/svg.js";

/** @import { Content, At } from "./diagram.js" */
/** @import { Layout } from "./layout.js" */

/** Opacity of lines that are not highlighted. */
const FAINT = 0.07;

/** @param {Content} content @param {Layout} layout */
export function createStrands(content, layout) {
  const { strands } = content.strands;
  const paths = strandPaths(content, layout);
  const all = s("g", { fill: "none", class: "fibres" }, ...paths);
  const alone = s("g", { fill: "none", class: "fibres" });
  let told = false;
  return {
    elements: [all, alone],
    /** @param {At} at @param {number | null} head  whose lines alone are shown; null: those of all */
    light(at, head) {
      const tells = at.query !== null || at.key !== null || head !== null;
      if (!tells && !told) return;
      told = tells;
      all.classList.toggle("faint", tells);
      if (tells) all.setAttribute("opacity", String(FAINT));
      else all.removeAttribute("opacity");
      const touches = touched({ ...at, head });
      alone.replaceChildren(...(tells ? paths.filter((_, i) => touches(strands[i])) : []).map((path) => path.cloneNode()));
    },
  };
}

/** @param {Content} content @param {Layout} layout @returns {SVGPathElement[]}  one a strand */
function strandPaths({ colours, on, strands: { strands } }, { y, from, to, pitch, unit }) {
  // Side by side, so that one head's line does not cover another's.
  const apart = Math.min(2.4 * unit, (0.6 * pitch) / on.length);
  const thick = Math.max(1.2, Math.min(3.4 * unit, 1.6 * apart));
  const looks = new Map(
    on.map((head, rank) => [
      head,
      { aside: (rank - (on.length - 1) / 2) * apart, stroke: css(colours[head]), "stroke-dasharray": dash(head, on.length) },
    ]),
  );
  return strands.map(({ head, query, key, weight }) => {
    const { aside = 0, ...look } = looks.get(head) ?? {};
    return s("path", {
      d: curve([from, y("query", query) + aside], [to, y("key", key) + aside], "x"),
      "stroke-width": fine(0.8 * unit + thick * weight),
      "stroke-opacity": fine(10 * (0.15 + 0.8 * weight)) / 10,
      ...look,
      "data-strand": `${head} ${query} ${key}`,
    });
  });
}
