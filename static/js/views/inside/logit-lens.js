/** The logit lens as a table: a layer a row, what its stream would write, the written token marked. */

import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { token } from "../../draw/token.js";
import { labels } from "../../data/tokens.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/logit-lens.js").Layer} Layer */
/** @typedef {import("../../compute/logit-lens.js").Candidate} Candidate */

/** @param {Context} context */
export function lensTable({ t }) {
  const element = h("table", { className: "lens" });

  return {
    element,

    /**
     * @param {Layer[]} layers
     * @param {{written: import("../../data/tokens.js").Label, lang: string, count: number}} scene  how many
     *   candidates there is room for
     */
    draw(layers, { written, lang, count }) {
      const shown = Math.min(count, layers[0].top.length);
      element.replaceChildren(
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, t("Layer")),
            h("th", { scope: "colgroup", colSpan: shown }, t("Most probable after it")),
            h("th", { scope: "col", className: "own" }, token(written), " ", h("span", { className: "hidden" }, t("written"))),
          ),
        ),
        h("tbody", {}, ...layers.map((layer, n) => row(layer, n, shown))),
      );

      /** @param {Layer} layer @param {number} n @param {number} shown */
      function row({ top, probability, rank }, n, shown) {
        return h(
          "tr",
          {},
          h("th", { scope: "row" }, String(n + 1)),
          ...top.slice(0, shown).map((one) => cell(one, lang)),
          h(
            "td",
            { className: "own" },
            h("span", { className: "p" }, four(probability)),
            " ",
            h("span", { className: "rank" }, t("rank {rank}", { rank })),
          ),
        );
      }
    },
  };

  /** @param {Candidate} candidate @param {string} lang */
  function cell({ id, text, special, probability, written }, lang) {
    const bar = h("span", { className: "bar" });
    bar.style.width = `${probability * 100}%`;
    const [label] = labels([{ id, text, special, start: 0, end: 0 }], lang);
    const made = h(
      "td",
      { className: written ? "is-written" : "" },
      h("span", { className: "would" }, token(label), h("span", { className: "p" }, two(probability))),
      h("span", { className: "track" }, bar),
      written && h("span", { className: "hidden" }, t("written")),
    );
    made.dataset.id = String(id);
    return made;
  }
}
