/** A small trace for tests, made by hand: two heads, three source tokens, two target tokens. */

import { completed } from "../../static/js/core/wire/model-description.js";

/**
 * @param {string} text
 * @param {boolean} [special]
 * @returns {import("../../static/js/core/wire/schemas.d.ts").TokenReply}
 */
export const token = (text, special = false) => ({ text, id: 0, start: 0, end: 0, special });

/**
 * @param {string[]} dims
 * @param {number[]} shape
 * @param {number[]} data
 * @returns {import("../../static/js/core/wire/safetensors.js").Tensor}
 */
export const tensor = (dims, shape, data) => ({
  dims,
  over: {},
  shape,
  dtype: "float32",
  data: Float32Array.from(data),
});

/** @type {import("../../static/js/core/wire/model-description.js").ModelInfo} */
export const MODEL = sized({ encoder: 1, decoder: 1 });

/**
 * An encoder–decoder with as many layers, and heads in each, by stack.
 * @param {Record<string, number>} layers
 * @param {Record<string, number>} [heads]
 * @returns {import("../../static/js/core/wire/model-description.js").ModelInfo}
 */
export function sized(layers, heads = { encoder: 2, decoder: 2 }) {
  return completed({
  id: "en-zh",
  name: "A small one",
  kind: "encoder-decoder",
  layers,
  heads,
  d_model: 4,
  parameters: 100,
  languages: ["en", "zh"],
  max_tokens: 128,
  digest: "0",
});
}

const WEIGHTS = ["head", "query", "key"];

/** @returns {import("../../static/js/core/wire/safetensors.js").Trace} */
export function trace() {
  return {
    id: "1",
    model: "en-zh",
    direction: "en-zh",
    tokens: {
      source: [token("<2zh>", true), token("the"), token(" the")],
      target: [token("<bos>", true), token("这")],
    },
    output: {
      text: "这",
      tokens: [token("这"), token("<eos>", true)],
      logprobs: [-1, -2],
      score: -3,
      finished: true,
    },
    tensors: {
      "encoder.0.self.weights": tensor(
        WEIGHTS,
        [2, 3, 3],
        [0.2, 0.3, 0.5, 0.1, 0.2, 0.7, 0.6, 0.3, 0.1, 1, 0, 0, 1, 0, 0, 1, 0, 0],
      ),
      "encoder.0.self.mask": tensor(["query", "key"], [3, 3], [1, 1, 1, 1, 1, 1, 1, 1, 1]),
      "decoder.0.self.weights": tensor(WEIGHTS, [2, 2, 2], [1, 0, 0.25, 0.75, 1, 0, 0.5, 0.5]),
      "decoder.0.self.mask": tensor(["query", "key"], [2, 2], [1, 0, 1, 1]),
      "decoder.0.cross.weights": tensor(
        WEIGHTS,
        [2, 2, 3],
        [0.1, 0.2, 0.7, 0.3, 0.3, 0.4, 1, 0, 0, 1, 0, 0],
      ),
      "decoder.0.cross.mask": tensor(["query", "key"], [2, 3], [1, 1, 1, 1, 1, 1]),
    },
  };
}
