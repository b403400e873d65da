/**
 * A model's description: how to complete one from before models had a table of attentions, and which
 * attentions it has, with what their rows and columns are, read from its table.
 */

import { memo } from "../../lib/memo.js";
import { summaryAddress } from "./tensor-cache.js";
import { plainStep, traceLabels } from "./tokens.js";
import { plane } from "./safetensors.js";

/** @import { State } from "../store/link.js" */
/** @import { AttentionInfo, ListedModelReply } from "./schemas.d.ts" */
/** @import { Step } from "./tokens.js" */
/** @import { Matrix, Trace } from "./safetensors.js" */

/** A model as `completed` returns it. @typedef {Omit<ListedModelReply, "vocabulary" | "card"> & Required<Pick<ListedModelReply, "positions" | "norm" | "bias">>} ModelInfo */
/** @typedef {{layer: number, head: number, rows: "writes" | "reads"}} Head */

/** Whether it translates both ways. @param {Pick<ModelInfo, "texts" | "directions">} model */
export const bothWays = ({ texts, directions }) => texts.length > 1 && (directions?.length ?? 2) > 1;

/** The capabilities of the first models. */
const CAPABILITIES = [
  "decode",
  "score",
  "candidates",
  "sweep",
  "parameters",
  "positions",
  "worksheet",
  "alignment",
  "lens",
  "contributions",
  "relevance",
  "mean",
  "learning",
];

/**
 * @param {any} description  as the server or a file describes it
 * @returns {ModelInfo}
 */
export function completed(description) {
  // Every model of two texts predicts tokens; the first ones did not say so.
  if (description.attentions && description.texts?.length > 1 && description.capabilities?.includes("decode") && !description.capabilities.includes("candidates"))
    return completed({ ...description, capabilities: [...description.capabilities, "candidates"] });
  if (description.attentions && description.positions) return description;
  const paper = { positions: "sinusoidal", norm: "post", bias: true };
  if (description.attentions) return { ...paper, ...description };
  return {
    ...paper,
    ...description,
    texts: ["source", "target"],
    attentions: [...stack(description, "encoder", [READS]), ...stack(description, "decoder", [WRITES, LOOKS_ACROSS])],
    capabilities: description.capabilities ?? CAPABILITIES,
  };
}

/** @typedef {Pick<AttentionInfo, "kind" | "query" | "key" | "mask">} Kind */
/** @type {Kind} */
const READS = { kind: "self", query: "source", key: "source", mask: "padding" };
/** @type {Kind} */
const WRITES = { kind: "self", query: "target", key: "target", mask: "causal" };
/** @type {Kind} */
const LOOKS_ACROSS = { kind: "cross", query: "target", key: "source", mask: "padding" };

/**
 * @param {{layers: Record<string, number>, heads: Record<string, number>}} sizes
 * @param {string} name
 * @param {Kind[]} kinds  of a layer's attentions, in order
 * @returns {AttentionInfo[]}
 */
function stack(sizes, name, kinds) {
  const heads = sizes.heads[name];
  return Array.from({ length: sizes.layers[name] ?? 0 }, (_, layer) =>
    kinds.map((kind) => {
      const place = `${name}.${layer}.${kind.kind}`;
      return { place, stack: name, layer, ...kind, heads, kv_heads: heads, scoring: "scaled-dot" };
    }),
  ).flat();
}

// Which attentions a model has, and what their rows and columns are, read from its table.

/** @typedef {(Pick<ModelInfo, "texts" | "attentions" | "directions"> & Partial<Pick<ModelInfo, "positions" | "norm" | "bias" | "d_model" | "networks" | "capabilities" | "mask" | "missing">>) | null} Model  null: not known yet */
/**
 * Attentions of one kind and stack, layer by layer.
 * @typedef {object} Block
 * @property {string} id  its name in a link: the stack, or the kind if it connects two texts
 * @property {string} stack
 * @property {string} kind
 * @property {string} query  the text whose tokens look
 * @property {string} key  the text whose tokens are looked at
 * @property {boolean} writes  whether each row writes a token
 * @property {boolean} predicts  whether a row predicts a token: of a text that is written, or of the only text
 * @property {AttentionInfo[]} rows  one per layer
 */

/** While no model is known yet. @type {Block} */
const NONE = { id: "", stack: "", kind: "", query: "", key: "", writes: false, predicts: false, rows: [] };

/** @param {Model} model @returns {Block[]}  in the order in which they run */
export function blocks(model) {
  return model ? memo(model, "blocks", () => grouped(model)) : [];
}

/** @param {NonNullable<Model>} model @returns {Block[]} */
function grouped({ texts, attentions }) {
  /** @type {Map<string, Block>} */
  const blocksById = new Map();
  // A text that is written token by token: later tokens are hidden.
  const grown = new Set(attentions.filter(({ mask }) => rules(mask).includes("causal")).map(({ query }) => query));
  for (const row of attentions) {
    const { stack, kind, query, key } = row;
    const id = query === key ? stack : kind;
    const writes = texts.length > 1 && grown.has(query);
    const block = blocksById.get(id) ?? { id, stack, kind, query, key, writes, predicts: writes || texts.length === 1, rows: [] };
    blocksById.set(id, { ...block, rows: [...block.rows, row] });
  }
  return [...blocksById.values()];
}

/** @param {string} mask  such as "causal & window-3" @returns {string[]} */
export const rules = (mask) => mask.split(" & ");

/** @param {Model} model @param {string} id @returns {Block} */
export function blockOf(model, id) {
  return blocks(model).find((block) => block.id === id) ?? NONE;
}

/** Whether queries and keys of a layer are known. @param {Pick<Block, "rows">} block */
export const hasVectors = ({ rows }) => rows.some(({ qk }) => qk !== false);

/** Whether its attention can be changed. @param {Model} model */
export const canChangeAttention = (model) => model === null || model.attentions.every(({ qk }) => qk !== false);

/** Whether its rows predict the next token of a single text. @param {Pick<Block, "predicts" | "writes" | "rows">} block */
export const predictsNextToken = ({ predicts, writes, rows }) => predicts && !writes && rows.some(({ mask }) => rules(mask).includes("causal"));

/** Whether it connects two texts. @param {Pick<Block, "query" | "key">} block */
export const isBetweenTexts = ({ query, key }) => query !== key;

/** @param {Model} model @returns {Block}  that joins two texts */
export const crossBlock = (model) => blocks(model).find(isBetweenTexts) ?? NONE;

/** @param {Model} model @param {string} text @returns {Block}  that stays within it */
export const selfBlock = (model, text) => blocks(model).find(({ query, key }) => query === text && key === text) ?? NONE;

/** @param {Model} model @returns {Block}  whose rows write tokens */
const writingBlock = (model) => blocks(model).findLast(({ writes }) => writes) ?? NONE;

/** @param {Model} model @returns {Block}  the last one whose rows predict tokens */
export const predictingBlock = (model) => blocks(model).findLast(({ predicts }) => predicts) ?? NONE;

/**
 * Tensors of the next-token candidates of each row that writes, or of a single text.
 * @param {Model} model
 * @returns {string[]} names of tensors
 */
export const candidateTensors = (model) => ["probabilities", "candidates"].map((name) => `${writingBlock(model).stack || predictingBlock(model).stack}.${name}`);

/** @param {Model} model @param {string} stack @returns {Block[]}  of a layer, in the order in which they run */
export const blocksOfStack = (model, stack) => blocks(model).filter((block) => block.stack === stack);

/** @param {Model} model @returns {string}  the text that is typed; the other one may be written */
export const typedText = (model) => model?.texts[0] ?? "";

/** @param {Model} model @param {string} address  such as "encoder.0.self" @returns {AttentionInfo | undefined} */
export const attentionAt = (model, address) => model?.attentions.find(({ place }) => place === address);

/**
 * @param {Model} model
 * @param {string} address
 * @returns {{block: string, layer: number} | null}  as in a link
 */
export function placeOf(model, address) {
  for (const { id, rows } of blocks(model)) {
    const layer = rows.findIndex(({ place }) => place === address);
    if (layer >= 0) return { block: id, layer };
  }
  return null;
}

/**
 * @param {Model} model
 * @param {Pick<State, "block" | "layer">} state
 * @param {string} [tensor]  e.g. "weights"
 * @returns {string}  e.g. "encoder.0.self.weights"; for an attention that does not exist, a name
 *   that no tensor has
 */
export function place(model, { block, layer }, tensor) {
  const address = blockOf(model, block).rows[layer]?.place ?? "";
  return tensor === undefined ? address : `${address}.${tensor}`;
}

/**
 * @param {Model} model
 * @param {string} block
 * @returns {string[]}  addresses of the summaries of its heads
 */
export const summaries = (model, block) => blockOf(model, block).rows.map(({ place }) => summaryAddress(place));

/**
 * The first layer with the same mask rule: layers with the same rule share one mask.
 * @param {Model} model
 * @param {Pick<State, "block" | "layer">} state
 * @returns {string}  e.g. "encoder.0.self.mask"
 */
export function maskOf(model, { block, layer }) {
  const { rows } = blockOf(model, block);
  const first = rows.find(({ mask }) => mask === rows[layer]?.mask);
  return `${first?.place ?? ""}.mask`;
}

/** @param {Model} model @param {string} block @returns {string[]}  one mask of every rule */
export function masks(model, block) {
  return [...new Set(blockOf(model, block).rows.map((_, layer) => maskOf(model, { block, layer })))];
}

/**
 * @param {Model} model
 * @param {Trace} trace
 * @param {string} block
 * @returns {{rows: Step[], cols: Step[]}}  columns are tokens that are read; they write nothing
 */
export function axes(model, trace, block) {
  const { query, key, writes } = blockOf(model, block);
  return memo(trace, `axes ${query} ${key} ${writes}`, () => named({ query, key, writes }, trace));
}

/** @param {Pick<Block, "query" | "key" | "writes">} block @param {Trace} trace @returns {{rows: Step[], cols: Step[]}} */
function named({ query, key, writes }, trace) {
  const { texts, written } = traceLabels(trace);
  const queryTokens = texts[query] ?? [];
  const rows = queryTokens.map((reads, i) =>
    writes && i < written.length ? { reads, writes: written[i] } : singleStep(reads),
  );
  return { rows, cols: (texts[key] ?? []).map(singleStep) };
}

/**
 * The tokens of a block's queries, with their positions.
 * @param {Model} model
 * @param {Trace} trace
 * @param {string} block
 * @returns {Step[]}
 */
export function positionedSteps(model, trace, block) {
  const labels = traceLabels(trace).texts[blockOf(model, block).query] ?? [];
  return labels.map((label, position) => ({ reads: null, writes: label, position }));
}

/** @param {import("./tokens.js").Label} label @returns {Step} */
export const singleStep = (label) => ({ reads: null, writes: label });

/**
 * The labels of an axis as plain text.
 * @param {Step[]} steps
 */
export function texts(steps) {
  return steps.map(plainStep);
}

/** How many heads' matrices of a layer are cached; no model with more is pooled. */
const CACHE_SIZE = 64;

/**
 * One head's weights; NaN where masked, because a masked cell has no number.
 * @param {Model} model
 * @param {Trace} trace
 * @param {Pick<State, "block" | "layer" | "head">} state
 * @returns {Matrix | null}  null if the trace does not contain it
 */
export function attention(model, trace, state) {
  const weights = trace.tensors[place(model, state, "weights")];
  if (!weights || state.head >= weights.shape[0]) return null;
  const mask = trace.tensors[place(model, state, "mask")];
  return memo(weights, `${state.head} ${mask ? "masked" : ""}`, () => {
    const matrix = plane(weights, { head: state.head });
    return mask ? withMask(matrix, plane(mask).values) : matrix;
  }, CACHE_SIZE);
}

/**
 * A mask with the same rule as a layer's, from any layer for which the trace has one.
 * @param {Model} model
 * @param {Trace} trace
 * @param {Pick<State, "block" | "layer">} state
 * @returns {import("./safetensors.js").Tensor | null}
 */
export function sameRuleMask(model, trace, { block, layer }) {
  const { rows } = blockOf(model, block);
  const sameMask = rows.filter(({ mask }) => mask === rows[layer]?.mask);
  return sameMask.map(({ place }) => trace.tensors[`${place}.mask`]).find(Boolean) ?? null;
}

/**
 * @param {Matrix} matrix
 * @param {import("./safetensors.js").Numbers} may  1 where a query may attend
 * @returns {Matrix}  the same matrix if everything may be attended to
 */
export function withMask(matrix, may) {
  if (!may.includes(0)) return matrix;
  const values = new Float32Array(matrix.values);
  for (let i = 0; i < values.length; i++) if (!may[i]) values[i] = NaN;
  return { ...matrix, values };
}

/**
 * Where one head's q, k or v is, since several heads may share k and v.
 * @param {Model} model
 * @param {Pick<State, "block" | "layer" | "head">} state
 * @returns {Record<string, number>}  indices on the dims `head` and `kv_head`
 */
export function headIndices(model, { block, layer, head }) {
  const row = blockOf(model, block).rows[layer];
  const kv_head = row ? Math.floor((head * row.kv_heads) / row.heads) : head;
  return { head, kv_head };
}

/**
 * How many layers a block has, and the largest number of heads of a layer.
 * @param {Model} model
 * @param {string} block
 * @returns {{layers: number, heads: number}}
 */
export function extent(model, block) {
  const { rows } = blockOf(model, block);
  return { layers: rows.length, heads: Math.max(0, ...rows.map(({ heads }) => heads)) };
}

/**
 * Whether training supervised the head to align.
 * @param {NonNullable<Model> & Pick<ModelInfo, "taught">} model
 * @param {Pick<State, "block" | "layer" | "head">} link
 */
export function isSupervised(model, { block, layer, head }) {
  const across = isBetweenTexts(blockOf(model, block));
  return across && model.taught?.some((pair) => pair.layer === layer && pair.head === head);
}

/**
 * The block that a page shows.
 * @param {Pick<import("../store/store.js").Page, "model" | "link">} page
 */
export const blockAt = ({ model, link }) => blockOf(model, link.block);
