/** What the flow view says: the shares of a pair, a token's numbers in the stream, what is not exact. */

import { between, blockAt } from "../../data/attentions.js";
import { four, two } from "../../lib/numbers.js";
import { reach } from "../../compute/residual-stream.js";
import { diverging, sequential } from "../../draw/scale.js";
import { h } from "../../lib/dom.js";
import { el } from "../../lib/render.js";
import { ramp } from "../../parts/scale.js";
import { step } from "../../draw/token.js";
import { FAINT, STRONG } from "./diagram-edges.js";

/** @typedef {import("../../state/types.js").Context} Context */

/**
 * @param {Context} context
 * @param {import("./flow-content.js").Shown} shown
 * @param {import("./flow-shares.js").Shares} shares
 */
export function finding({ store, say, t }, { graph, names }, { top, named, rollout, flow }) {
  const { side, index } = graph.nodes[graph.leaves[named]];
  const flows = flow[named];
  return say(t("From {token} in layer {layer} back to {input}: rollout {rollout}, flow {flow}."), {
    token: step(names.tops[top]),
    layer: store.get().link.layer + 1,
    input: step(names.leaves[side][index]),
    rollout: four(rollout[named]),
    flow: flows === undefined ? "…" : four(flows),
  });
}

/** A token's way through the stream. @param {Context} context @param {import("./layer-means.js").Stream} stream @param {number} top */
export function series({ t }, { norms, cosines }, top) {
  const line = (/** @type {number[][]} */ values) => values.map((all) => two(all[top])).join(" → ");
  return [
    h("span", {}, t("length"), " ", line(norms)),
    h("br", {}),
    h("span", {}, t("cosine to embedding"), " ", line(cosines)),
  ];
}

/**
 * What the colours of the stream mean.
 * @param {Context} context
 * @param {import("./layer-means.js").Stream} stream
 */
export function scales({ t, theme }, { norms }) {
  const most = reach(norms);
  const beyond = norms.flat().some((length) => length > most);
  return [
    el("span", {}, t("length")),
    ...ramp(sequential(theme()), "0", two(most)),
    beyond && el("span", {}, t("(longer ones have their length in the cell)")),
    el("span", { className: "second" }, t("cosine to embedding")),
    ...ramp(diverging(theme()), "−1", "1"),
  ];
}

/** @param {Context} context  What is exact in this, and what is not. */
export function remarks({ store, t }) {
  const joins = between(blockAt(store.get()));
  return [
    t("Each column of bars is drawn to its own largest share; the numbers are the shares."),
    t("Exact: rollout is the product of the layers, ½ mean of the heads + ½ residual; flow is the largest one that these weights let through, one of many ways being drawn."),
    ...(joins
      ? [t("Through cross attention both go on into the encoder; that half and half holds at each of the decoder's two attentions.")]
      : []),
    t("Approximate: values, output projections, feed-forward layers and layer norms are not in it, and heads count alike. It says where information could have come from, not what was used."),
    t("Grey edges below {weight} and coloured ones below {part} of the whole are not drawn; where an input is lit, the whole is what arrives there.", {
      weight: two(FAINT.least),
      part: STRONG.least,
    }),
    store.get().model?.norm === "pre"
      ? t("The residual stream is read at the input and behind every sublayer, a number opening each layer. In this model it passes no layer norm on its way.")
      : t("The residual stream is read at the input and behind every sublayer, a number opening each layer: its length before the layer norm, its direction after it."),
  ];
}
