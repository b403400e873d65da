/** The lab's exports: numbers for a spreadsheet or a program, LaTeX, a handout. */

import { bindExportPanel } from "../core/page/disclosure.js";
import { Problem } from "../core/wire/problem.js";
import { find } from "../lib/dom.js";
import { printed } from "./figure/matrices.js";
import { printer } from "./figure/steps.js";
import { labCsv, labJson, labLatex } from "./exports.js";
import { stateOf } from "./share.js";

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./figure/lab-figure.js").LabFigure} figure
 * @param {string} lang
 */
export function bindExports({ t }, api, figure, lang) {
  const kinds = [
    { kind: "csv", name: "CSV", says: t("the numbers, for a spreadsheet") },
    { kind: "tex", name: "LaTeX", says: t("matrices and formulas, for a paper") },
    { kind: "json", name: "JSON", says: t("the request and the reply of the API") },
    { kind: "html", name: "HTML", says: t("a handout: opens anywhere, without a network") },
  ];

  /** @param {string} kind */
  async function make(kind) {
    const computed = figure.computed();
    if (!computed) throw new Problem("nothing-drawn");
    const { lab, answer } = computed;
    if (kind === "csv") return new Blob([labCsv(lab, answer)], { type: "text/csv" });
    if (kind === "json") return new Blob([labJson(lab, answer)], { type: "application/json" });
    if (kind === "tex") return new Blob([labLatex(lab, answer, t, printer(lab), printed)], { type: "application/x-tex" });
    const dark = find("#theme").getAttribute("aria-pressed") === "true";
    return api.file(`/api/handout?theme=${dark ? "dark" : "light"}`, { body: { state: stateOf(lab, lang) } });
  }

  bindExportPanel({ t, kinds, make: async (kind) => ({ file: await make(kind), name: `headlight-by-hand.${kind}` }) });
}
