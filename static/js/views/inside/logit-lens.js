/**
 * The logit lens as a table: one row per layer with what its stream would predict; the written
 * token is marked.
 */

import { change, four, two } from "../../lib/numbers.js";
import { el } from "../../lib/render.js";
import { shareBar } from "../../core/draw/proportion-bar.js";
import { token } from "../../core/draw/token.js";
import { labels } from "../../core/wire/tokens.js";
import { foldedRows } from "./folding.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Layer, Candidate } from "../../core/compute/logit-lens.js" */

/**
 * @param {Context["t"]} t
 * @param {Layer[]} layers
 * @param {{written: import("../../core/wire/tokens.js").Label, lang: string, count: number, fold: Parameters<typeof foldedRows>[2], odds: (import("./wording.js").Rival & {paint: import("./head-contributions.js").Paint}) | null}} scene
 *   count: how many candidates fit; odds: the contrast, if there is one
 */
export function lensTable(t, layers, { written, lang, count, fold, odds }) {
  const shown = Math.min(count, layers[0].top.length);
  const names = el(
    "tr",
    {},
    el("th", { scope: "col" }, t("Layer")),
    el("th", { scope: "colgroup", colSpan: shown }, t("Most probable after it")),
    el("th", { scope: "col", className: "own" }, token(written), " ", el("span", { className: "hidden" }, t("written"))),
    odds && el("th", { scope: "col", className: "odds" }, token(written), " : ", token(odds.label), " ", el("span", { className: "hidden" }, t("log-odds, nats"))),
  );
  const rows = foldedRows(t, layers.length, fold, shown + (odds ? 3 : 2), (n) => {
    const { top, probability, rank } = layers[n];
    return [el(
      "tr",
      {},
      el("th", { scope: "row" }, String(n + 1)),
      top.slice(0, shown).map((one) => candidateCell(t, one, lang)),
      el("td", { className: "own" }, el("span", { className: "p" }, four(probability)), " ", el("span", { className: "rank" }, t("rank {rank}", { rank }))),
      odds && el("td", { className: "odds" }, el("span", { style: odds.paint(odds.lens[n]) }, change(odds.lens[n]))),
    )];
  });
  return el("table", { className: "lens" }, el("thead", {}, names), el("tbody", {}, rows));
}

/** @param {Context["t"]} t @param {Candidate} candidate @param {string} lang */
function candidateCell(t, { id, text, special, probability, written }, lang) {
  const [label] = labels([{ id, text, special, start: 0, end: 0 }], lang);
  return el(
    "td",
    { className: written ? "is-written" : "", "data-id": id },
    el("span", { className: "would" }, token(label), el("span", { className: "p" }, two(probability))),
    shareBar(probability),
    written && el("span", { className: "hidden" }, t("written")),
  );
}
