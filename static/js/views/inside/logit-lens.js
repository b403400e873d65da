/**
 * The logit lens as a table: one row per layer with what its stream would predict; the written
 * token is marked.
 */

import { four, two } from "../../lib/numbers.js";
import { el } from "../../lib/render.js";
import { shareBar } from "../../draw/proportion-bar.js";
import { token } from "../../draw/token.js";
import { labels } from "../../data/tokens.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/logit-lens.js").Layer} Layer */
/** @typedef {import("../../compute/logit-lens.js").Candidate} Candidate */

/**
 * @param {Context["t"]} t
 * @param {Layer[]} layers
 * @param {{written: import("../../data/tokens.js").Label, lang: string, count: number}} scene  how
 *   many candidates fit
 */
export function lensTable(t, layers, { written, lang, count }) {
  const shown = Math.min(count, layers[0].top.length);
  const names = el(
    "tr",
    {},
    el("th", { scope: "col" }, t("Layer")),
    el("th", { scope: "colgroup", colSpan: shown }, t("Most probable after it")),
    el("th", { scope: "col", className: "own" }, token(written), " ", el("span", { className: "hidden" }, t("written"))),
  );
  const rows = layers.map(({ top, probability, rank }, n) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, String(n + 1)),
      top.slice(0, shown).map((one) => cell(t, one, lang)),
      el("td", { className: "own" }, el("span", { className: "p" }, four(probability)), " ", el("span", { className: "rank" }, t("rank {rank}", { rank }))),
    ),
  );
  return el("table", { className: "lens" }, el("thead", {}, names), el("tbody", {}, rows));
}

/** @param {Context["t"]} t @param {Candidate} candidate @param {string} lang */
function cell(t, { id, text, special, probability, written }, lang) {
  const [label] = labels([{ id, text, special, start: 0, end: 0 }], lang);
  return el(
    "td",
    { className: written ? "is-written" : "", "data-id": id },
    el("span", { className: "would" }, token(label), el("span", { className: "p" }, two(probability))),
    shareBar(probability),
    written && el("span", { className: "hidden" }, t("written")),
  );
}
