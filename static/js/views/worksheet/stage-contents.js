/** The description of a worksheet stage, which is rendered as elements and as plain text. */

/** @import { Formula } from "../../core/compute/formula.js" */
/** @import { Step } from "../../core/wire/tokens.js" */
/** @import { Vector } from "../../lib/vectors.js" */
/** @import { Check } from "./sublayer.js" */
/** @import { Cell, Worksheet } from "./cell-stages.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @typedef {"input" | "project" | "headnorm" | "rotate" | "score" | "softmax" | "mix" | "output" | "ownnorm" | "add" | "norm" | "norm2" | "hidden" | "ffn" | "ownnorm2" | "close" | "cross"} StageId */
/** @typedef {{message: string, values?: Record<string, string | number | Step | {math: Formula}>}} Prose  places are still open in `message` */
/** @typedef {{name: Formula, values: Vector, tone: "q" | "k" | "v" | "plain" | "signed"}} Band */
/** @typedef {number | string | Step | {bar: number} | {math: Formula} | {exact: number} | null} Entry  exact: a difference */
/**
 * @typedef {object} Table
 * @property {string} title
 * @property {(string | {math: Formula})[]} head
 * @property {number[]} rows  in display order
 * @property {number} few  how many are shown at first
 * @property {(row: number) => Entry[]} entries
 * @property {number} [marked]  the row of the cell itself
 * @property {Entry[]} [foot]
 */
/**
 * @typedef {object} Turn  a pair of channels as a point that is rotated about the origin
 * @property {Formula} name
 * @property {string} pair  its channels
 * @property {"q" | "k"} tone
 * @property {[number, number]} from
 * @property {[number, number]} to
 * @property {number} angle  in radians
 */
/**
 * @typedef {object} Stage
 * @property {StageId} id
 * @property {string} title
 * @property {string} result  the result, for the list of stages; "" if it is not a single number
 * @property {Prose[]} prose
 * @property {Formula[]} formulas
 * @property {Band[]} bands  vectors as bars, one below the other, of equal length within a stage
 * @property {string} [unit]  what a bar is: a channel, a feature
 * @property {Turn[]} [turns]  rotations of pairs of channels, as pictures
 * @property {Table[]} tables
 * @property {Check | null} check  null: nothing is computed here
 */
/**
 * @typedef {object} Scene  the data of the stages
 * @property {Translate} t
 * @property {Worksheet} sheet
 * @property {import("./needed-tensors.js").Names} named  the model's mechanisms
 * @property {Cell} cell
 * @property {boolean} joins  whether it is cross-attention
 * @property {Step} query
 * @property {Step[]} keys  all columns
 * @property {Step} key
 */

/** The id in links of the stage that leads to the next attention. */
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
 * A table of computed values beside the model's.
 * @param {Translate} t
 * @param {object} what
 * @param {string} what.title
 * @param {string} what.unit  what a row is: a channel, a feature
 * @param {Table["head"]} what.head  headings of the columns between the unit and the sum
 * @param {(row: number) => Entry[]} what.entries  values of these columns
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
