/**
 * The texts of the flow view: the shares of a pair, a token's numbers in the stream, what is not
 * exact.
 */

import { sinksNeeded } from "../../core/compute/computed-tensors.js";
import { diverging, sequential } from "../../core/draw/colour-scales.js";
import { quotedStep } from "../../core/draw/token.js";
import { ramp } from "../../core/figure/figure-frame.js";
import { blockAt, isBetweenTexts } from "../../core/wire/model-description.js";
import { el, h } from "../../lib/dom.js";
import { four, two } from "../../lib/numbers.js";
import { reach } from "./flow-data.js";
import { FAINT, STRONG } from "./layer-diagram.js";

/** @import { Context } from "../../core/figure/types.js" */

/**
 * @param {Context} context
 * @param {import("./flow-data.js").FlowData} shown
 * @param {import("./flow-data.js").Shares} shares
 */
export function finding({ store, phrase, t }, { graph, names }, { top, named, rollout, flow }) {
  const { side, index } = graph.nodes[graph.leaves[named]];
  const flows = flow[named];
  const percent = Math.round(rollout[named] * 100);
  const message = percent
    ? t("About {percent} % of {token} in layer {layer} can come from {input} (rollout {rollout}, flow {flow}).")
    : t("Less than 1 % of {token} in layer {layer} can come from {input} (rollout {rollout}, flow {flow}).");
  return phrase(message, {
    percent,
    token: el("span", { className: "as-query" }, quotedStep(names.tops[top])),
    layer: store.get().link.layer + 1,
    input: el("span", { className: "as-key" }, quotedStep(names.leaves[side][index])),
    rollout: four(rollout[named]),
    flow: flows === undefined ? "…" : four(flows),
  });
}

/**
 * A token's numbers along the stream.
 * @param {Context} context
 * @param {import("./flow-data.js").Stream} stream
 * @param {number} top
 */
export function series({ t }, { norms, cosines }, top) {
  const line = (/** @type {number[][]} */ values) => values.map((all) => two(all[top])).join(" → ");
  return [
    h("span", {}, t("length"), " ", line(norms)),
    h("br", {}),
    h("span", {}, t("cosine to embedding"), " ", line(cosines)),
  ];
}

/**
 * The legend of the stream's colours.
 * @param {Context} context
 * @param {import("./flow-data.js").Stream} stream
 * @param {boolean} printed  whether cells have room for the lengths beyond the scale
 */
export function scales({ t, theme }, { norms }, printed) {
  const limit = reach(norms);
  const longest = Math.max(...norms.flat());
  return [
    el("span", {}, t("length")),
    ...ramp(sequential(theme()), "0", two(limit)),
    longest > limit && el("span", {}, printed ? t("(longer vectors print their length)") : t("(longer vectors, up to {longest}, have the same colour)", { longest: two(longest) })),
    el("span", { className: "second" }, t("cosine to embedding")),
    ...ramp(diverging(theme()), "−1", "1"),
  ];
}

/** @param {Context["t"]} t  In one sentence. */
export const caution = (t) => t("Rollout and flow say where information could have come from, not what was used.");

/** @param {Context} context  What is exact in this, and what is not. */
export function remarks({ store, t }) {
  const joins = isBetweenTexts(blockAt(store.get()));
  return [
    t("Each column of bars is scaled to its own largest share; the numbers are the shares."),
    t("Exact: rollout is the product of the layers' matrices, each ½ the mean of its heads + ½ the residual " +
      "connection. Flow is the maximum flow with these weights as capacities; the figure shows one of many."),
    ...(joins
      ? [t("Through cross-attention both continue into the encoder. The weights ½ and ½ apply at each of the decoder's two attentions.")]
      : []),
    t("Approximate: values, output projections, feed-forward layers and layer norms are not included, and all heads count alike."),
    t("Grey edges below {weight} and coloured edges below {part} of the total are not drawn. If an input is selected, " +
      "the total is what arrives there.", {
      weight: two(FAINT.least),
      part: STRONG.least,
    }),
    ...(sinksNeeded(store.get().model, blockAt(store.get()).id).length && !joins
      ? [t("The last input stands for the learned attention sinks of all layers: they take weight, but are no tokens.")]
      : []),
    store.get().model?.norm === "pre"
      ? t("The residual stream is shown at the input and after every sublayer; a number marks the start of each layer. In this model no layer norm lies on the stream.")
      : t("The residual stream is shown at the input and after every sublayer; a number marks the start of each layer. Length is measured before the layer norm, direction after it."),
  ];
}
