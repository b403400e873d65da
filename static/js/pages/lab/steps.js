/** The steps as they were worked out: name, formula, numbers. */

import { mathml } from "../../compute/formula.js";
import { find } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { finding, shownSteps } from "../../state/lab-steps.js";
import { numberTable } from "../../parts/number-table.js";

/** Columns of a table that stands beside another. */
const ROOM = 5;

/**
 * @param {import("../../state/types.js").PageContext} page
 * @param {import("../../state/lab-matrices.js").Lab} lab
 * @param {import("../../state/lab-steps.js").Answer} answer
 */
export function showSteps({ t, say, theme }, lab, answer) {
  const { query, key, weight, head } = finding(lab, answer);
  const values = { query: el("b", { className: "as-query" }, query), key: el("b", { className: "as-key" }, key), weight: two(weight), n: head + 1 };
  render(find("#finding"), say(lab.heads > 1 ? t("In head {n}, {query} looks most at {key}: {weight}.") : t("{query} looks most at {key}: {weight}."), values));
  const steps = shownSteps(lab, answer, t).map(({ id, name, formula, tables, scale }) =>
    el(
      "li",
      { key: id, className: `step is-${id.replace(".", "-")}${tables[0].cols.length > ROOM ? " wide" : ""}`, "data-step": id },
      el("div", { className: "step-head" }, el("h2", {}, name), mathml(document, formula)),
      el("div", { className: "heads" }, tables.map((table) => numberTable(table, scale, theme(), t))),
    ),
  );
  render(find("#worked"), steps);
}
