/** A model's description, and how to complete one from before models had a table of attentions. */

/**
 * One attention of one layer; its tensors are `${place}.weights` and so on (docs/trace.md).
 * @typedef {object} Attention
 * @property {string} place
 * @property {string} stack
 * @property {number} layer  within the stack, from 0
 * @property {string} kind  within one text, or from one text to another
 * @property {string} query  the text whose tokens look
 * @property {string} key  the text whose tokens are looked at
 * @property {number} heads
 * @property {number} kv_heads  heads of k and v
 * @property {string} mask  the rule of its mask
 * @property {string} scoring  such as "scaled-dot" or "additive & relative"
 * @property {boolean} [qk]  whether q, k and v are recorded and it can be changed; false: only its
 *   weights are known
 * @property {string} [projection]  how q, k and v are computed: "linear", "latent" or "unknown"
 * @property {string[]} [parameters]  short names of its parameters, such as "W_q"; empty: those that
 *   the description of the model implies
 */
/**
 * One feed-forward network; its tensors are `${place}.hidden` and so on (docs/trace.md).
 * @typedef {object} Network
 * @property {string} place
 * @property {string} activation  such as "gelu"
 * @property {number} hidden  the number of hidden units
 * @property {boolean} parallel  whether it reads the input of the layer, beside the attention
 * @property {string[]} parameters  short names of its parameters, such as "W_1"; "W_g" if it is gated
 */
/**
 * @typedef {object} ModelInfo
 * @property {string} id
 * @property {string} name
 * @property {string} kind
 * @property {string[]} texts  that it reads, the typed one first
 * @property {Attention[]} attentions  in the order in which they run
 * @property {Network[]} [networks]  of a model whose attentions list their parameters, as far as they
 *   are known
 * @property {string[]} capabilities  what it supports
 * @property {Record<string, string>} [missing]  why it lacks each other capability; unknown in an old share
 * @property {Record<string, number>} layers  by stack
 * @property {Record<string, number>} heads  by stack
 * @property {number} d_model
 * @property {number} parameters
 * @property {string[]} languages
 * @property {string[]} [directions]  that it was trained to translate; unknown in an old share
 * @property {ZooEntry | null} [zoo]  what a model of the zoo learned
 * @property {string[]} [prompts]  example texts; for most models the page has its own
 * @property {string} [mask]  the mask token of a masked language model, such as "[MASK]"; empty: none
 * @property {number} max_tokens
 * @property {string} digest
 * @property {string} positions  its positional encoding, such as "rotary"
 * @property {string} norm  where a sublayer's layer norm stands: "post" or "pre"
 * @property {boolean} bias  whether the projections of its attentions have biases
 * @property {number} [examples]  number of sentences recorded during its training
 * @property {Aligner[]} [aligners]  the cross-attention heads closest to human word alignment, by
 *   the rows that write and by those that read; the better one first
 * @property {Record<string, [string, number][][]>} [in_general]  what its heads do over many sentences,
 *   by attention and head: patterns with their shares of rows
 * @property {Taught[]} [taught]  heads that training supervised to align
 */
/** @typedef {{layer: number, head: number, rows: "writes" | "reads"}} Head */
/** @typedef {Head & {since: number}} Taught  since: the step of the training from which on */
/** @typedef {Head & {error_rate: number}} Aligner */

/** @typedef {{name: string, task: string, changed: Record<string, string | number>}} ZooEntry */

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
 * @param {any} told  as the server or a file describes it
 * @returns {ModelInfo}
 */
export function completed(told) {
  // Every model of two texts predicts tokens; the first ones did not say so.
  if (told.attentions && told.texts?.length > 1 && told.capabilities?.includes("decode") && !told.capabilities.includes("candidates"))
    return completed({ ...told, capabilities: [...told.capabilities, "candidates"] });
  if (told.attentions && told.positions) return told;
  const paper = { positions: "sinusoidal", norm: "post", bias: true };
  if (told.attentions) return { ...paper, ...told };
  return {
    ...paper,
    ...told,
    texts: ["source", "target"],
    attentions: [...stack(told, "encoder", [READS]), ...stack(told, "decoder", [WRITES, LOOKS_ACROSS])],
    capabilities: told.capabilities ?? CAPABILITIES,
  };
}

const READS = { kind: "self", query: "source", key: "source", mask: "padding" };
const WRITES = { kind: "self", query: "target", key: "target", mask: "causal" };
const LOOKS_ACROSS = { kind: "cross", query: "target", key: "source", mask: "padding" };

/**
 * @param {{layers: Record<string, number>, heads: Record<string, number>}} sizes
 * @param {string} name
 * @param {(typeof READS)[]} kinds  of a layer's attentions, in order
 * @returns {Attention[]}
 */
function stack(sizes, name, kinds) {
  const heads = sizes.heads[name];
  return Array.from({ length: sizes.layers[name] ?? 0 }, (_, layer) =>
    kinds.map((one) => {
      const place = `${name}.${layer}.${one.kind}`;
      return { place, stack: name, layer, ...one, heads, kv_heads: heads, scoring: "scaled-dot" };
    }),
  ).flat();
}
