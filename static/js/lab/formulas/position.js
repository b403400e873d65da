/** The sinusoidal encoding of a position: Vaswani et al. 2017, section 3.5. */

import { fraction, plain, raised } from "../../core/compute/formula.js";
import { encoding } from "../../core/compute/positions.js";
import { el, render } from "../../lib/render.js";
import { numberTable } from "../../core/figure/number-table.js";

/** @param {string} at @param {string} wave @returns {import("../../core/compute/formula.js").Formula} */
const pe = (at, wave) => ["PE", plain("("), "pos", ",", plain(at), plain(")"), "=", wave, fraction("pos", raised(plain("10000"), fraction(plain("2i"), "d")))];

/** @type {import("./formula.js").TriedFormula} */
export const POSITION = {
  title: (t) => t("Positional encoding"),
  written: [pe("2i", "sin"), pe("2i+1", "cos")],
  fields: () => [
    { name: "pos", label: "pos", value: 1, limits: [0, 1e6], stops: [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 50, 100, 1000] },
    { name: "width", label: "d", symbol: "d", value: 8, limits: [1, 64] },
  ],
  mount({ page, root }) {
    return {
      show({ pos, width }) {
        const row = encoding(pos, width);
        const cols = row.map((_, i) => String(i));
        render(
          root,
          numberTable({ title: "", values: [row], rows: [""], cols, scale: "signed" }, page.theme(), page.t),
          el("p", { className: "aside" }, page.t("A well-known note prints sin(1/10000) = 0.0001 as the third number of PE(1, 8), and another halves the exponent. The third number is sin(1/10) = 0.0998.")),
        );
      },
    };
  },
};
