/** What is found inside a run, a decoder row at a time: the logit lens, contributions, relevance. */

import { masked, place } from "../data/blocks.js";
import { memo } from "../lib/memo.js";
import { plane } from "../data/wire.js";

/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {import("../data/wire.js").Tensor} Tensor */
/** @typedef {import("../state/link.js").State} State */
/** @typedef {{id: number, text: string, special: boolean, probability: number, written: boolean}} Candidate */
/** @typedef {{top: Candidate[], probability: number, rank: number}} Layer  what its stream says; rank and probability are those of the token that is written */
/**
 * @typedef {object} Sum  of what makes a logit
 * @property {number[][]} self  [layer][head]
 * @property {number[][]} cross  [layer][head]
 * @property {Record<Part, number[]>} parts  each by layer; what is added at the input alone has one
 * @property {number} sum  of all of it
 * @property {number} logit  from the last stream
 * @property {{head: number, part: number}} most  the largest of a head, and of a part of a layer, whatever the sign
 */
/** @typedef {"embedding" | "position" | "ffn" | "bias" | "norm"} Part */

const LENS = ["probabilities", "candidates", "written", "rank"].map((name) => `inside.lens.${name}`);
const HEADS = /** @type {const} */ (["self", "cross"]);
export const INPUT = /** @type {const} */ (["embedding", "position"]);
export const LAYERS = /** @type {const} */ (["ffn", "bias", "norm"]);
const LOGIT = [...HEADS, ...INPUT, ...LAYERS, "total"].map((name) => `inside.logit.${name}`);

/** @param {Pick<State, "block" | "layer">} at */
const relevanceOf = (at) => `inside.relevance.${place(at)}`;

/** @param {Pick<State, "block" | "layer">} at @returns {string[]}  tensors */
export const needed = (at) => [...LENS, ...LOGIT, relevanceOf(at), place(at, "weights"), place(at, "mask")];

/**
 * @param {Trace} trace
 * @param {number} row  of the decoder
 * @returns {Layer[] | null}  null where the trace lacks it, or the row writes nothing
 */
export function lens(trace, row) {
  const [probabilities, candidates, written, ranks] = LENS.map((name) => trace.tensors[name]);
  const token = trace.output.tokens[row];
  if (!probabilities || !token) return null;
  const [layers, rows, count] = probabilities.shape;
  return Array.from({ length: layers }, (_, layer) => {
    const at = layer * rows + row;
    const top = Array.from({ length: count }, (_, n) => {
      const id = candidates.data[at * count + n];
      const { text, special } = trace.pieces?.[id] ?? { text: `#${id}`, special: false };
      return { id, text, special, probability: probabilities.data[at * count + n], written: id === token.id };
    });
    return { top, probability: written.data[at], rank: ranks.data[at] };
  });
}

/**
 * From which layer on the token that is written is the most probable one.
 * @param {Layer[]} layers
 * @returns {number | null}  null: never
 */
export function settled(layers) {
  const last = layers.findLastIndex(({ rank }) => rank !== 1);
  return last === layers.length - 1 ? null : last + 1;
}

/**
 * @param {Trace} trace
 * @param {number} row  of the decoder
 * @returns {Sum | null}  null where the trace lacks it, or the row writes nothing
 */
export function contributions(trace, row) {
  if (!LOGIT.every((name) => trace.tensors[name]) || !trace.output.tokens[row]) return null;
  const of = (/** @type {string} */ name) => trace.tensors[`inside.logit.${name}`];
  const [self, cross] = HEADS.map((name) => byHead(of(name), row));
  const parts = /** @type {Sum["parts"]} */ (
    Object.fromEntries([...INPUT, ...LAYERS].map((name) => [name, byLayer(of(name), row)]))
  );
  const all = [...self.flat(), ...cross.flat(), ...Object.values(parts).flat()];
  return {
    self,
    cross,
    parts,
    sum: total(all),
    logit: of("total").data[row],
    most: {
      head: largest([...self, ...cross].flat()),
      part: largest([...self.map(total), ...cross.map(total), ...Object.values(parts).flat()]),
    },
  };
}

/** @param {number[]} values */
const largest = (values) => Math.max(...values.map(Math.abs));

/** @param {number[]} values */
export const total = (values) => values.reduce((sum, value) => sum + value, 0);

/**
 * The head that adds most to the logit.
 * @param {Sum} sum
 * @returns {{block: "decoder" | "cross", layer: number, head: number, value: number}}
 */
export function strongest({ self, cross }) {
  const all = [self, cross].flatMap((kind) =>
    kind.flatMap((heads, layer) =>
      heads.map((value, head) => ({
        block: /** @type {"decoder" | "cross"} */ (kind === self ? "decoder" : "cross"),
        layer,
        head,
        value,
      })),
    ),
  );
  return all.reduce((best, one) => (one.value > best.value ? one : best));
}

/** @param {Tensor} tensor  [layer, head, query] @param {number} row */
function byHead({ shape: [layers, heads, rows], data }, row) {
  return Array.from({ length: layers }, (_, layer) =>
    Array.from({ length: heads }, (_, head) => data[(layer * heads + head) * rows + row]),
  );
}

/** @param {Tensor} tensor  [layer, query], or [query] alone @param {number} row */
function byLayer({ shape, data }, row) {
  const rows = shape[shape.length - 1];
  return Array.from({ length: data.length / rows }, (_, layer) => data[layer * rows + row]);
}

/**
 * One head's gradient × attention; NaN where the mask forbids.
 * @param {Trace} trace
 * @param {Pick<State, "block" | "layer" | "head">} at
 * @returns {import("../data/wire.js").Matrix | null}  null where the trace lacks it
 */
export function relevance(trace, at) {
  const found = trace.tensors[relevanceOf(at)];
  const mask = trace.tensors[place(at, "mask")];
  if (!found || !mask || at.head >= found.shape[0]) return null;
  return memo(found, String(at.head), () => masked(plane(found, { head: at.head }), plane(mask).values));
}

/**
 * @param {import("../data/wire.js").Matrix} matrix
 * @returns {{row: number, col: number, value: number}}  the cell that is farthest from zero
 */
export function farthest({ values, cols }) {
  let at = 0;
  values.forEach((value, i) => {
    if (Math.abs(value) > Math.abs(values[at] || 0)) at = i;
  });
  return { row: Math.floor(at / cols), col: at % cols, value: values[at] || 0 };
}

