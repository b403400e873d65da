/** A model's description, and how to complete one from before models had a table of attentions. */

/** @import { AttentionInfo, ListedModelReply } from "./schemas.d.ts" */

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
