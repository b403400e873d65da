/** Which head does this? One choice for each head of the layer. */

import { extent } from "../core/wire/attentions.js";
import { two } from "../lib/numbers.js";
import { byIndex, labelsAt, largest, weightsAt } from "./weights-at.js";

/** @type {import("./question.js").Kind} */
export const head = {
  name: (t) => t("Which head looks there?"),
  fits: ({ query, key, block }, model) => query !== null && key !== null && (!model || extent(model, block).heads > 1),
  entry: () => "choice",
  async words(asked) {
    const { query, keys } = await labelsAt(asked);
    return asked.say(asked.t("Layer {layer}: which head looks from {query} to {key} the most?"), { layer: asked.state.layer + 1, query, key: keys[asked.state.key ?? 0] });
  },
  async choices({ model, state, t }) {
    const { heads } = extent(await model(), state.block);
    return Array.from({ length: heads }, (_, i) => ({ id: String(i), label: t("Head {n}", { n: i + 1 }) }));
  },
  async reveal(asked) {
    const { model, state, t, say } = asked;
    const { query, keys } = await labelsAt(asked);
    const { heads } = extent(await model(), state.block);
    const rows = await Promise.all(Array.from({ length: heads }, (_, i) => weightsAt(asked, i)));
    const weights = rows.map((row) => row[state.key ?? 0]);
    const right = largest(weights);
    const words = { query, key: keys[state.key ?? 0], n: Number(right[0]) + 1, weight: two(weights[Number(right[0])]) };
    return { right, shares: byIndex(weights), says: say(t("From {query} to {key}, head {n} gives the most: {weight}."), words) };
  },
};
