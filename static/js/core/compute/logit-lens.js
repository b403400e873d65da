/**
 * Inside a run, for one written row: the logit lens, contributions to the logit, gradient ×
 * attention.
 */

import { blocksOfStack, place, predictingBlock, withMask } from "../wire/model-description.js";
import { contrastTensors, gradientOf, gradientRow, mostProbable, partOf, predictedToken } from "./predictions.js";
import { memo } from "../../lib/memo.js";
import { plane } from "../wire/safetensors.js";

/** @import { Trace, Tensor } from "../wire/safetensors.js" */
/** @import { Model } from "../wire/model-description.js" */
/** @import { State } from "../store/link.js" */
/** @typedef {{id: number, text: string, special: boolean, probability: number, written: boolean}} Candidate */
/** @typedef {{top: Candidate[], probability: number, rank: number}} Layer  what its stream says; rank and probability are those of the token that is written */
/**
 * @typedef {object} Sum  the breakdown of a logit
 * @property {{block: string, kind: string, values: number[][]}[]} heads  of each attention, [layer][head]
 * @property {Record<Exclude<Part, "position">, number[]> & {position?: number[]}} parts  one number
 *   per layer; for what is added only at the input, one number
 * @property {number} sum  of all terms
 * @property {number} logit  computed from the last residual stream; of a contrast, the difference of two
 * @property {{head: number, part: number}} most  the largest absolute value of a head, and of a
 *   part of a layer
 */
/** @typedef {"embedding" | "position" | "ffn" | "bias" | "norm"} Part */

/** Kinds of positions that are added to the embedding. */
const POSITIONED = ["sinusoidal", "learned"];
const LENS = ["probabilities", "candidates", "written", "rank"].map((name) => `inside.lens.${name}`);
const INPUT = /** @type {const} */ (["embedding", "position"]);
export const LAYERS = /** @type {const} */ (["ffn", "bias", "norm"]);

/** @param {Model} model  The attentions whose heads add to a logit themselves. */
const adding = (model) => blocksOfStack(model, predictingBlock(model).stack);
/**
 * What is added at the input: the embedding, and a position if the model adds one there.
 * @param {Model} model
 */
const atInput = (model) => (POSITIONED.includes(model?.positions ?? POSITIONED[0]) ? INPUT : INPUT.slice(0, 1));
/** The parts of a logit. @param {Model} model */
const partsOf = (model) => [...adding(model).map(({ kind }) => kind), ...atInput(model), ...LAYERS, "total"];

/** Whether its logits are a sum of contributions. @param {Model} model */
export const hasContributions = (model) => model?.capabilities?.includes("contributions") ?? true;

/** Whether it has gradient × attention. @param {Model} model */
export const hasRelevance = (model) => model?.capabilities?.includes("relevance") ?? true;

/** @typedef {Pick<State, "block" | "layer"> & Partial<Pick<State, "options" | "query">>} LensLocation */

/**
 * Gradient × attention: of the contrast of the pinned row, or of the whole output.
 * @param {Model} model
 * @param {Trace | null} trace
 * @param {LensLocation} location
 */
function relevanceOf(model, trace, location) {
  const row = gradientRow(model, location, trace);
  return row === null ? `inside.relevance.${place(model, location)}` : gradientOf(location, row, place(model, location));
}

/** @param {Model} model @param {LensLocation} location @param {Trace | null} [trace]  what is shown so far @returns {string[]}  tensors */
export function lensTensors(model, location, trace = null) {
  const parts = hasContributions(model) ? partsOf(model) : [];
  return [
    ...LENS,
    ...parts.map((part) => partOf(null, part)),
    ...contrastTensors(location, parts),
    ...(hasRelevance(model) ? [relevanceOf(model, trace, location)] : []),
    place(model, location, "weights"),
    place(model, location, "mask"),
  ];
}

/**
 * The token that a row predicts.
 * @param {Model} model
 * @param {Trace} trace
 * @param {number} row
 */
export function predictedTokenOf(model, trace, row) {
  return predictedToken(model, trace, row, mostProbable(trace, row));
}

/**
 * @param {Model} model
 * @param {Trace} trace
 * @param {number} row  that predicts
 * @returns {Layer[] | null}  null where the trace lacks it, or the row predicts nothing
 */
export function lens(model, trace, row) {
  const [probabilities, candidates, written, ranks] = LENS.map((name) => trace.tensors[name]);
  const token = predictedTokenOf(model, trace, row);
  if (!probabilities || !token) return null;
  const [layers, rows, count] = probabilities.shape;
  return Array.from({ length: layers }, (_, layer) => {
    const cell = layer * rows + row;
    const top = Array.from({ length: count }, (_, n) => {
      const id = candidates.data[cell * count + n];
      const { text, special } = trace.pieces?.[id] ?? { text: `#${id}`, special: false };
      return { id, text, special, probability: probabilities.data[cell * count + n], written: id === token.id };
    });
    return { top, probability: written.data[cell], rank: ranks.data[cell] };
  });
}

/**
 * The first layer from which on the written token is the most probable one.
 * @param {Layer[]} layers
 * @returns {number | null}  null: never
 */
export function settledLayer(layers) {
  const last = layers.findLastIndex(({ rank }) => rank !== 1);
  return last === layers.length - 1 ? null : last + 1;
}

/**
 * @param {Model} model
 * @param {Trace} trace
 * @param {number} row  that writes
 * @param {string | null} [against]  a contrast, as in the link; null: the logit of the row's own token
 * @returns {Sum | null}  null where the trace lacks it, or the row writes nothing
 */
export function contributions(model, trace, row, against = null) {
  const of = (/** @type {string} */ name) => trace.tensors[partOf(against, name)];
  if (!partsOf(model).every(of) || !predictedTokenOf(model, trace, row)) return null;
  const heads = adding(model).map(({ id, kind }) => ({ block: id, kind, values: byHead(of(kind), row) }));
  const parts = /** @type {Sum["parts"]} */ (
    Object.fromEntries([...atInput(model), ...LAYERS].map((name) => [name, byLayer(of(name), row)]))
  );
  const layers = heads.flatMap(({ values }) => values);
  const all = [...layers.flat(), ...Object.values(parts).flat()];
  return {
    heads,
    parts,
    sum: total(all),
    logit: of("total").data[row],
    most: {
      head: largest(layers.flat()),
      part: largest([...layers.map(total), ...Object.values(parts).flat()]),
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
 * @returns {{block: string, layer: number, head: number, value: number}}
 */
export function strongestHead({ heads }) {
  const all = heads.flatMap(({ block, values }) =>
    values.flatMap((row, layer) => row.map((value, head) => ({ block, layer, head, value }))),
  );
  return all.reduce((best, candidate) => (candidate.value > best.value ? candidate : best));
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
 * @param {Model} model
 * @param {Trace} trace
 * @param {LensLocation & Pick<State, "head">} location
 * @returns {import("../wire/safetensors.js").Matrix | null}  null where the trace lacks it
 */
export function relevance(model, trace, location) {
  const relevances = trace.tensors[relevanceOf(model, trace, location)];
  const mask = trace.tensors[place(model, location, "mask")];
  if (!relevances || !mask || location.head >= relevances.shape[0]) return null;
  return memo(relevances, String(location.head), () => withMask(plane(relevances, { head: location.head }), plane(mask).values));
}

/**
 * @param {import("../wire/safetensors.js").Matrix} matrix
 * @returns {{row: number, col: number, value: number}}  the cell that is farthest from zero
 */
export function farthestCell({ values, cols }) {
  let farthestIndex = 0;
  values.forEach((value, i) => {
    if (Math.abs(value) > Math.abs(values[farthestIndex] || 0)) farthestIndex = i;
  });
  return { row: Math.floor(farthestIndex / cols), col: farthestIndex % cols, value: values[farthestIndex] || 0 };
}

