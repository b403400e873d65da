/** Where does this row look? One choice for each visible token. */

import { place } from "../core/wire/attentions.js";
import { plane, row } from "../core/wire/wire.js";
import { two } from "../lib/numbers.js";
import { byIndex, headNames, labelsAt, largest, weightsAt } from "./weights-at.js";

/** @type {import("./question.js").Kind} */
export const looks = {
  name: (t) => t("Where does this row look?"),
  fits: ({ query }) => query !== null,
  entry: () => "choice",
  async words(asked) {
    const { query } = await labelsAt(asked);
    return asked.say(asked.t("Layer {layer}, head {head}: which token gets the largest weight in the row {query}?"), { ...headNames(asked), query });
  },
  async choices(asked) {
    const { trace, found, keys } = await labelsAt(asked);
    const open = row(plane(trace.tensors[place(found, asked.state, "mask")]), asked.state.query ?? 0);
    return keys.flatMap((label, i) => (open[i] ? [{ id: String(i), label }] : []));
  },
  async reveal(asked) {
    const { t, say } = asked;
    const [{ query, keys }, weights] = await Promise.all([labelsAt(asked), weightsAt(asked)]);
    const right = largest(weights);
    const best = Number(right[0]);
    const words = { query, key: keys[best], weight: two(weights[best]) };
    return { right, shares: byIndex(weights), says: say(t("The head gives {key} the largest weight in the row of {query}: {weight}."), words) };
  },
};
