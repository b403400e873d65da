/** What writing costs with and without a cache of keys and values, in multiplications and bytes. */

import { plot } from "../../core/draw/line-chart.js";
import { grouped, hundredths, roughly, significant, tiny } from "../../lib/numbers.js";
import { el, render } from "../../lib/dom.js";
import { integerText, resultTable } from "./fields.js";

/** @typedef {{length: number, layers: number, features: number, heads: number, bytes: number}} Sizes */
/** @typedef {{tokens: number, pairs: number, multiplications: number, pairShare: number}} StepCost */

/** Weights of a layer for each token, in squares of its features: W_Q, W_K, W_V and W_O, and a network that is four times as wide. */
const SQUARES = 4 + 2 * 4;

/**
 * What a decoder does to write one token, without its vocabulary.
 * @param {Sizes} sizes
 * @param {number} tokens  that go through the layers
 * @param {number} pairs  of a query and a key, in one head of one layer
 * @returns {StepCost}  a pair takes a product for each channel of all heads, once with the key and once with the value
 */
function stepCost({ layers, features }, tokens, pairs) {
  const [ofTokens, ofPairs] = [layers * SQUARES * features ** 2 * tokens, layers * 2 * features * pairs];
  return { tokens, pairs, multiplications: ofTokens + ofPairs, pairShare: ofPairs / (ofTokens + ofPairs) };
}

/** Only the new token goes through the layers. @param {Sizes} sizes */
export const cachedStep = (sizes) => stepCost(sizes, 1, sizes.length);

/** All tokens so far go through the layers again. @param {Sizes} sizes */
export const uncachedStep = (sizes) => stepCost(sizes, sizes.length, (sizes.length * (sizes.length + 1)) / 2);

/** Of all tokens from the first to the last. @param {Sizes} sizes */
export function allSteps(sizes) {
  const n = sizes.length;
  const [sum, squares] = [(n * (n + 1)) / 2, (n * (n + 1) * (2 * n + 1)) / 6];
  return { cached: stepCost(sizes, n, sum).multiplications, uncached: stepCost(sizes, sum, (squares + sum) / 2).multiplications };
}

/** Keys and values of all tokens. @param {Sizes} sizes */
export const cacheBytes = ({ length, layers, features, bytes }) => 2 * layers * length * features * bytes;

/** All weights of all heads, if they are kept. @param {Sizes} sizes */
export const weightBytes = ({ length, layers, heads, bytes }) => layers * heads * length ** 2 * bytes;

const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/** @param {number} bytes */
export function byteText(bytes) {
  const unit = Math.min(Math.floor(Math.log10(Math.max(bytes, 1)) / 3), UNITS.length - 1);
  return `${unit ? significant(bytes / 1000 ** unit, 3) : bytes} ${UNITS[unit]}`;
}

const [WIDTH, HEIGHT] = [420, 210];
const CURVE = 60;

/** @type {import("./formula.js").TriedFormula} */
export const CACHE = {
  title: (t) => t("What the next token costs"),
  fields: (t) => [
    { name: "length", label: t("n, tokens"), symbol: "n", value: 100, limits: [1, 1e6], stops: [1, 2, 5, 13, 50, 100, 200, 500, 1000, 1536, 2000, 5000, 10000, 100000] },
    { name: "layers", label: t("layers"), value: 3, limits: [1, 1000] },
    { name: "features", label: t("d, features"), symbol: "d", value: 256, limits: [1, 1e5] },
    { name: "heads", label: t("heads"), value: 8, limits: [1, 1000] },
    { name: "bytes", label: t("bytes per number"), value: 4, limits: [1, 8] },
  ],
  mount({ page, root }) {
    const { t } = page;
    return {
      show(values) {
        const sizes = /** @type {Sizes} */ (values);
        const [cached, uncached, all] = [cachedStep(sizes), uncachedStep(sizes), allSteps(sizes)];
        const rows = [
          [t("Tokens that pass through the layers"), integerText(cached.tokens), integerText(uncached.tokens)],
          [t("Pairs that a head compares"), integerText(cached.pairs), integerText(uncached.pairs)],
          [t("Multiplications for token {n}", { n: grouped(sizes.length) }), integerText(cached.multiplications), integerText(uncached.multiplications)],
          [t("of which for pairs"), `${hundredths(cached.pairShare)} %`, `${hundredths(uncached.pairShare)} %`],
          [t("Multiplications for all {n} tokens", { n: grouped(sizes.length) }), integerText(all.cached), integerText(all.uncached)],
          [t("Keys and values that are kept"), byteText(cacheBytes(sizes)), "0"],
        ];
        const finding = t("With the cache, token {n} takes {times} times fewer multiplications, and {memory} hold the keys and values. All weights of this text would take {weights}.", {
          n: grouped(sizes.length),
          times: roughly(uncached.multiplications / cached.multiplications),
          memory: byteText(cacheBytes(sizes)),
          weights: byteText(weightBytes(sizes)),
        });
        render(
          root,
          el("p", { className: "finding" }, finding),
          el("div", { className: "results" }, el("div", { className: "scrolled" }, resultTable(["", t("with the cache"), t("without")], rows)), curve(page, sizes)),
        );
      },
    };
  },
};

/** Multiplications for each token, up to the last. @param {import("../../core/figure/types.js").PageContext} page @param {Sizes} sizes @returns {SVGElement} */
function curve({ t, theme }, sizes) {
  const points = Math.min(CURVE, sizes.length);
  const lengths = Array.from({ length: points }, (_, i) => Math.max(1, Math.round((sizes.length * (i + 1)) / points)));
  const costs = (/** @type {(sizes: Sizes) => StepCost} */ step) => lengths.map((length) => step({ ...sizes, length }).multiplications);
  const colours = theme();
  const uncached = costs(uncachedStep);
  return plot(
    {
      curves: [
        { name: t("without"), values: uncached, colour: colours.k, dash: "5 3" },
        { name: t("with the cache"), values: costs(cachedStep), colour: colours.q },
      ],
      range: [0, Math.max(...uncached)],
      titles: { x: t("n, tokens"), y: t("Multiplications") },
      places: lengths.map(integerText),
      width: WIDTH,
      height: HEIGHT,
      markedIndex: null,
      format: (value) => (value ? tiny(value, 0) : "0"),
    },
    colours,
  );
}
