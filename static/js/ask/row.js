/**
 * A whole row: numbers typed for a step of attention by hand, or a head's weights, drawn as bars.
 */

import { labColumns, labNames, labRow } from "./lab-row.js";
import { headNames, labelsAt, weightsAt } from "./weights-at.js";

/** @param {import("./question.js").Question} question */
const byHand = ({ page }) => page === "lab";

/** @type {import("./question.js").Kind} */
export const row = {
  name: (t) => t("How is the row’s weight shared out?"),
  fits: ({ query }) => query !== null,
  entry: (question) => (byHand(question) ? "numbers" : "shares"),
  async words(asked) {
    const { t, say, question } = asked;
    if (byHand(question)) return say(t("{step}: fill in the row “{row}”."), await labNames(asked));
    const { query } = await labelsAt(asked);
    return say(t("Layer {layer}, head {head}: how does the row {query} share out its weight of 1?"), { ...headNames(asked), query });
  },
  async choices(asked) {
    const names = byHand(asked.question) ? await labColumns(asked) : (await labelsAt(asked)).keys;
    return names.map((label, i) => ({ id: String(i), label }));
  },
  reveal: async (asked) => ({ numbers: await (byHand(asked.question) ? labRow(asked) : weightsAt(asked)), says: [] }),
};
