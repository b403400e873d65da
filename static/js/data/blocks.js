/** The three kinds of attention, and what each one's rows and columns are. */

import { memo } from "../lib/memo.js";
import { glance, plane } from "./wire.js";
import { plainStep, sides } from "./tokens.js";

/** @typedef {import("./wire.js").Trace} Trace */
/** @typedef {import("./wire.js").Matrix} Matrix */
/** @typedef {import("../state/link.js").State} State */
/** @typedef {import("./tokens.js").Step} Step */
/** @typedef {import("../state/store.js").Lit} Lit */
/** @typedef {"source" | "target"} Side */
/** @typedef {{stack: "encoder" | "decoder", kind: "self" | "cross", query: Side, key: Side}} Block */

/** @type {Record<State["block"], Block>} */
export const BLOCK = {
  encoder: { stack: "encoder", kind: "self", query: "source", key: "source" },
  decoder: { stack: "decoder", kind: "self", query: "target", key: "target" },
  cross: { stack: "decoder", kind: "cross", query: "target", key: "source" },
};

/**
 * @param {{block: State["block"], layer: number | "*"}} state
 * @param {string} [tensor]  e.g. "weights"
 * @returns {string}  e.g. "encoder.0.self.weights"
 */
export function place({ block, layer }, tensor) {
  const { stack, kind } = BLOCK[block];
  return [stack, layer, kind, tensor].filter((part) => part !== undefined).join(".");
}

/**
 * @param {Trace} trace
 * @param {State["block"]} block
 * @returns {{rows: Step[], cols: Step[]}}  columns are tokens that are read: they write nothing
 */
export function axes(trace, block) {
  return memo(trace, `axes ${block}`, () => named(trace, block));
}

/** @param {Trace} trace @param {State["block"]} block @returns {{rows: Step[], cols: Step[]}} */
function named(trace, block) {
  const { source, target, written } = sides(trace);
  const { query, key } = BLOCK[block];
  const rows =
    query === "source"
      ? source.map(alone)
      : target.map((reads, i) => (i < written.length ? { reads, writes: written[i] } : alone(reads)));
  return { rows, cols: (key === "source" ? source : target).map(alone) };
}

/**
 * The tokens that a block's queries stand at, with their positions.
 * @param {Trace} trace
 * @param {State["block"]} block
 * @returns {Step[]}
 */
export function stands(trace, block) {
  return sides(trace)[BLOCK[block].query].map((label, at) => ({ reads: null, writes: label, at }));
}

/** @param {import("./tokens.js").Label} label @returns {Step} */
const alone = (label) => ({ reads: null, writes: label });

/**
 * Text of an axis for places without elements.
 * @param {Step[]} steps
 */
export function texts(steps) {
  return steps.map(plainStep);
}

/** Heads of a layer whose matrices are kept: no model has more that are pooled. */
const KEPT = 64;

/**
 * One head's weights; NaN where the mask forbids, because a masked cell has no number.
 * @param {Trace} trace
 * @param {Pick<State, "block" | "layer" | "head">} state
 * @returns {Matrix | null}  null where the trace lacks it
 */
export function attention(trace, state) {
  const weights = trace.tensors[place(state, "weights")];
  if (!weights || state.head >= weights.shape[0]) return null;
  const mask = trace.tensors[place(state, "mask")];
  return memo(weights, `${state.head} ${mask ? "masked" : ""}`, () => {
    const matrix = plane(weights, { head: state.head });
    return mask ? masked(matrix, plane(mask).values) : matrix;
  }, KEPT);
}

/**
 * The same for a small picture, for which 8 bits are enough: nothing is copied.
 * @param {import("../state/store.js").Page} page
 * @param {Pick<State, "block" | "layer" | "head">} state
 * @param {import("./wire.js").Tensor} [small]  the weights in 8 bits
 * @returns {(Matrix & {unit: number, may: import("./wire.js").Numbers | null}) | null}
 */
export function glimpse({ trace, link }, state, small) {
  const weights = trace?.tensors[place(state, "weights")] ?? small;
  if (!trace || !weights || state.head >= weights.shape[0]) return null;
  const mask = trace.tensors[place({ block: state.block, layer: link.layer }, "mask")];
  return { ...glance(weights, state.head), may: mask?.data ?? null };
}

/**
 * @param {Matrix} matrix
 * @param {import("./wire.js").Numbers} may  1 where a query may attend
 * @returns {Matrix}  the same where it may attend to all
 */
export function masked(matrix, may) {
  if (!may.includes(0)) return matrix;
  const values = new Float32Array(matrix.values);
  for (let i = 0; i < values.length; i++) if (!may[i]) values[i] = NaN;
  return { ...matrix, values };
}

/**
 * How many layers a block has, and how many heads a layer.
 * @param {Pick<import("./api.js").ModelInfo, "layers" | "heads">} model
 * @param {State["block"]} block
 * @returns {{layers: number, heads: number}}
 */
export function extent({ layers, heads }, block) {
  const { stack } = BLOCK[block];
  return { layers: layers[stack] ?? 0, heads: heads[stack] ?? 0 };
}

/**
 * Whether training asked the head to align, which it was free to find for itself otherwise.
 * @param {Pick<import("./api.js").ModelInfo, "taught">} model
 * @param {Pick<State, "block" | "layer" | "head">} link
 */
export function taught(model, { block, layer, head }) {
  return block === "cross" && model.taught?.some((one) => one.layer === layer && one.head === head);
}

export const BLOCKS = Object.freeze(["encoder", "decoder", "cross"]);
