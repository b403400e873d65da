/** The fields of a request that depend on the model: direction, tokens, how to decode. */

import { Problem } from "../core/wire/reply.js";
import { DECODE } from "./decoding-search.js";
import { languageOf } from "./text-normalisation.js";

/** @import { TokenReply } from "../core/wire/schemas.d.ts" */
/** @import { DecodePlan } from "./decoding-search.js" */
/** @import { LocalModel, TraceRequest } from "./local-run.js" */
/** @import { Tokenizer } from "./tokenizer.js" */

/** Tokens more than the source that are written at most, as in the paper. */
const BEYOND_SOURCE = 50;
const METHODS = ["greedy", "beam", "sample"];
const MAX_BEAMS = 16;

/**
 * @param {LocalModel} model
 * @param {Tokenizer} tokenizer
 */
export function createRequestReader(model, tokenizer) {
  const [pad, bos, eos] = ["<pad>", "<bos>", "<eos>"].map((text) => tokenizer.control(text));
  /** Ids that are never written. */
  const never = new Set(tokenizer.controls.filter((id) => id !== eos.id));

  /** @param {string} field @param {string} text @param {TokenReply[]} before */
  function fitting(field, text, before) {
    const textTokens = tokenizer.encode(text);
    const tokens = [...before, ...textTokens, eos];
    if (!textTokens.some(({ start, end }) => end > start)) throw new Problem("empty-text", { field, detail: `${field} is empty` });
    if (tokens.length > model.maxTokens) {
      const fits = textTokens[model.maxTokens - before.length - 2]?.end ?? 0;
      const excess = { limit: model.maxTokens, unit: "tokens", value: tokens.length, fits };
      throw new Problem("text-too-long", { field, detail: `${field} has ${tokens.length} tokens; this model reads at most ${model.maxTokens}`, excess });
    }
    return tokens;
  }

  return {
    bos,
    eos,
    never,

    /** @param {TraceRequest} request */
    direction({ source, direction }) {
      if (direction !== undefined) {
        if (!model.directions.includes(direction)) throw new Problem("unknown-direction", { field: "direction", detail: `direction must be one of ${model.directions.join(", ")}` });
        return direction;
      }
      const language = languageOf(source, model.text);
      return model.directions.find((candidate) => candidate.startsWith(`${language}-`)) ?? model.directions[0];
    },

    /** @param {TraceRequest} request @param {string} direction */
    source: ({ source }, direction) => fitting("source", source, [tokenizer.control(`<2${direction.split("-")[1]}>`)]),

    /**
     * Tokens with padding behind them, up to the length that a request has asked for.
     * @param {TokenReply[]} tokens
     * @param {TraceRequest} request
     */
    padded: (tokens, { pad_to: length }) => [...tokens, ...Array.from({ length: Math.max(0, (length ?? 0) - tokens.length) }, () => pad)],

    /** @param {TraceRequest} request @param {number} longest  of its texts, in tokens */
    checkPadding({ pad_to: length }, longest) {
      if (length !== undefined && (length < longest || length > model.maxTokens)) throw new Problem("out-of-range", { field: "pad_to", detail: `pad_to must be from ${longest} to ${model.maxTokens}` });
    },

    /** @param {string} text */
    target: (text) => fitting("target", text, []),

    /**
     * @param {TraceRequest} request
     * @param {number} length  of the source, in tokens
     * @returns {DecodePlan}
     */
    plan({ decode = {} }, length) {
      const longest = Math.min(model.maxTokens, length + BEYOND_SOURCE);
      const plan = { ...DECODE, ...decode, max_tokens: Math.min(longest, decode.max_tokens ?? longest) };
      if (!METHODS.includes(plan.method)) throw new Problem("unknown-value", { field: "decode.method", detail: `decode.method must be one of ${METHODS.join(", ")}` });
      if (plan.beam < 1 || plan.beam > MAX_BEAMS) throw new Problem("out-of-range", { field: "decode.beam", detail: `decode.beam must be from 1 to ${MAX_BEAMS}` });
      checkPrefix(plan);
      return plan;
    },
  };

  /** @param {DecodePlan} plan */
  function checkPrefix({ prefix, max_tokens: limit }) {
    if (prefix.length > limit) {
      const detail = `decode.prefix has ${prefix.length} tokens; this output has at most ${limit}`;
      throw new Problem("too-long", { field: "decode.prefix", detail, excess: { limit, unit: "tokens", value: prefix.length } });
    }
    prefix.forEach((id, index) => {
      const isWritable = tokenizer.has(id) && !never.has(id) && (id !== eos.id || index === prefix.length - 1);
      if (!isWritable) throw new Problem("unknown-token", { field: `decode.prefix[${index}]`, detail: `decode.prefix[${index}] must be the id of a token that can be written there` });
    });
  }
}
