/**
 * What a page of the worksheet is made of, before anything is drawn: the same description becomes
 * elements on the screen and lines of plain text.
 */

/** @typedef {import("../../compute/formula.js").Formula} Formula */
/** @typedef {import("../../data/tokens.js").Step} Step */
/** @typedef {import("../../lib/vectors.js").Vector} Vector */
/** @typedef {import("../../compute/reconcile.js").Check} Check */
/** @typedef {import("../../compute/worksheet.js").Cell} Cell */
/** @typedef {import("../../compute/worksheet.js").Worksheet} Worksheet */
/** @typedef {import("../../lib/i18n.js").Translate} Translate */
/** @typedef {"input" | "project" | "rotate" | "score" | "softmax" | "mix" | "output" | "add" | "norm" | "norm2" | "hidden" | "ffn" | "close" | "cross"} StageId */
/** @typedef {{says: string, values?: Record<string, string | number | Step | {math: Formula}>}} Prose  places are still open in `says` */
/** @typedef {{name: Formula, values: Vector, tone: "q" | "k" | "v" | "plain" | "signed"}} Band */
/** @typedef {number | string | Step | {bar: number} | {math: Formula} | {exact: number} | null} Entry  exact: a difference */
/**
 * @typedef {object} Table
 * @property {string} title
 * @property {(string | {math: Formula})[]} head
 * @property {number[]} rows  in the order in which they stand
 * @property {number} few  how many stand there at first
 * @property {(row: number) => Entry[]} entries
 * @property {number} [here]  the row of the cell itself
 * @property {Entry[]} [foot]
 */
/**
 * @typedef {object} Stage
 * @property {StageId} id
 * @property {string} title
 * @property {string} result  what comes out, for the list of stages; "" where it is no one number
 * @property {Prose[]} prose
 * @property {Formula[]} formulas
 * @property {Band[]} bands  vectors as bars, one under the other; those of a stage are as long
 * @property {string} [unit]  what a bar stands for: a channel, a feature
 * @property {Table[]} tables
 * @property {Check | null} check  null: nothing is calculated here
 */
/**
 * @typedef {object} Scene  what the stages are written from
 * @property {Translate} t
 * @property {Worksheet} sheet
 * @property {import("../../compute/worksheet-names.js").Names} named  the mechanisms it is of
 * @property {Cell} cell
 * @property {boolean} joins  whether it is between two texts
 * @property {Step} query
 * @property {Step[]} keys  all columns
 * @property {Step} key
 */

/** The stage that goes on to the next attention, under the name that links have for it. */
export const ONWARD = "cross";
export const FEW = 4;

/** @param {number} length */
export const upTo = (length) => Array.from({ length }, (_, i) => i);

/**
 * Indices by the size of their value, largest first.
 * @param {Vector} values
 */
export const bySize = (values) =>
  upTo(values.length).sort((a, b) => Math.abs(values[b]) - Math.abs(values[a]));

/**
 * A table of what is worked out here beside what the model has.
 * @param {Translate} t
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.unit  of a row: a channel, a feature
 * @param {Table["head"]} what.head  of the columns between the unit and the sum
 * @param {(row: number) => Entry[]} what.entries  of those columns
 * @param {{computed: Vector, model: Vector}} what.result
 * @param {number[]} [what.rows]
 * @param {number} [what.few]
 * @returns {Table}
 */
export function ledger(t, { title, unit, head, entries, result, rows, few = FEW }) {
  const { computed, model } = result;
  return {
    title,
    head: [unit, ...head, t("computed"), t("the model's"), t("difference")],
    rows: rows ?? upTo(model.length),
    few,
    entries: (row) => [
      String(row + 1),
      ...entries(row),
      computed[row],
      model[row],
      { exact: Math.abs(computed[row] - model[row]) },
    ],
  };
}
