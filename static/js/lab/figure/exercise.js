/** A hidden step: the reader fills in one of its rows, and each number is checked as it is typed. */

import { headedTable } from "../../core/figure/number-table.js";
import { within } from "../../core/figure/pointing.js";
import { number } from "../../lib/csv.js";
import { el } from "../../lib/dom.js";

/** @import { Step } from "../steps.js" */

/** @typedef {"right" | "wrong" | "text" | "empty"} Verdict */

/** Numbers are rounded to at least two decimals. */
const COARSEST = 0.005;
const ROUNDING = 1e-9;

/**
 * @param {string} text  as typed
 * @param {number} value  the correct value
 * @returns {Verdict}  right: equal when rounded to the typed decimals, at least two
 */
export function judgeNumber(text, value) {
  const { value: typed, wrong } = number(text);
  if (typed === null) return wrong === "empty" ? "empty" : "text";
  const decimals = /[.．]([0-9０-９]*)$/.exec(text.trim())?.[1].length ?? 0;
  const room = Math.min(0.5 * 10 ** -decimals, COARSEST);
  return Math.abs(typed - value) <= room + ROUNDING * Math.max(1, Math.abs(value)) ? "right" : "wrong";
}

/**
 * @param {import("../../core/figure/types.js").PageContext} page
 * @param {object} of
 * @param {() => void} of.again  redraws the steps
 * @param {(step: string, row: number) => void} of.row  chooses another row
 */
export function createExercise({ t, announce }, { again, row: choose }) {
  /** The typed text, by step, head, row and column. @type {Map<string, string>} */
  const typed = new Map();

  /** @param {Step} step @param {number} head @param {number} row @param {number} col */
  const key = ({ id }, head, row, col) => `${id} ${head} ${row} ${col}`;
  /** @param {Step} step @param {number} head @param {number} row @param {number} col */
  const verdict = (step, head, row, col) => judgeNumber(typed.get(key(step, head, row, col)) ?? "", Number(step.tables[head].values[row][col]));
  /** @param {Step} step @param {number} chosenRow */
  const rowOf = ({ tables }, chosenRow) => within(chosenRow, tables[0].rows.length);
  /** @param {Step} step @param {number} row */
  const done = (step, row) => step.tables.every(({ cols }, head) => cols.every((_, col) => verdict(step, head, row, col) === "right"));

  /** @returns {Record<Verdict, string>} */
  const words = () => ({ right: t("Correct."), wrong: t("Not yet. Two decimals are enough."), text: t("Not a number. Write 0.5, −2 or 1/3."), empty: "" });

  return {
    /** The task and its progress. @param {Step} step @param {number} chosenRow */
    task(step, chosenRow) {
      const row = rowOf(step, chosenRow);
      const { rows } = step.tables[0];
      const menu = el(
        "select",
        { value: String(row), "aria-label": t("Row"), onchange: (/** @type {Event} */ { target }) => choose(step.id, Number(/** @type {HTMLSelectElement} */ (target).value)) },
        rows.map((name, i) => el("option", { value: String(i) }, name || String(i + 1))),
      );
      const right = done(step, row);
      const wrong = step.tables.some(({ cols }, head) => cols.some((_, col) => ["wrong", "text"].includes(verdict(step, head, row, col))));
      return el(
        "p",
        { className: "task", "data-done": String(right) },
        el("label", { className: "option menu" }, el("span", {}, t("Fill in row")), menu),
        el("span", { role: "status" }, right ? t("Correct, within rounding.") : wrong ? words().wrong : ""),
        right && row + 1 < rows.length && el("button", { key: "next", type: "button", className: "button", onclick: () => choose(step.id, row + 1) }, t("Next row")),
      );
    },

    /**
     * One table per head: the row to fill in has inputs, all others are blank.
     * @param {Step} step
     * @param {number} chosenRow
     */
    tables(step, chosenRow) {
      const row = rowOf(step, chosenRow);
      return step.tables.map((table, head) =>
        headedTable(table, t, (i, j) => {
          if (i !== row && !done(step, i)) return el("td", { key: j, className: "unknown", "data-at": `${i},${j}`, title: t("hidden") });
          const judgement = verdict(step, head, i, j);
          const message = words()[judgement];
          const input = el("input", {
            type: "text",
            inputMode: "decimal",
            autocomplete: "off",
            value: typed.get(key(step, head, i, j)) ?? "",
            title: message,
            "aria-label": t("{matrix}, row {row}, column {col}", { matrix: step.name, row: table.rows[i] || i + 1, col: table.cols[j] || j + 1 }),
            "aria-invalid": String(judgement === "wrong" || judgement === "text"),
            oninput(/** @type {Event} */ { target }) {
              typed.set(key(step, head, i, j), /** @type {HTMLInputElement} */ (target).value);
              again();
              const now = verdict(step, head, i, j);
              if (now !== "empty") announce(words()[now]);
            },
          });
          return el("td", { key: j, className: "fill-in", "data-verdict": judgement, "data-at": `${i},${j}` }, input, judgement === "right" && el("span", { className: "tick", "aria-hidden": "true" }, "✓"));
        }),
      );
    },
  };
}
