/** One number: a weight, a cell of a step by hand, or any number that the question states. */

import { labColumns, labNames, labRow } from "./lab-row.js";
import { headNames, labelsAt, weightsAt } from "./weights-at.js";


/** Whether the question states its number itself; it may be told only when it is revealed. @param {import("./question.js").Question} question */
export const isStated = ({ kind, link, value }) => kind === "number" && (value !== undefined || link === "");

/** @type {import("./question.js").Kind} */
export const number = {
  name: (t) => t("How large is the number?"),
  fits: ({ query, key }) => query !== null && key !== null,
  entry: () => "numbers",
  async words(asked) {
    const { t, say, state } = asked;
    if (isStated(asked.question)) return [t("Which number is it?")];
    if (asked.question.page === "lab") return say(t("{step}: which number is in this column of the row “{row}”?"), await labNames(asked));
    const { query, keys } = await labelsAt(asked);
    return say(t("Layer {layer}, head {head}: how much weight goes from {query} to {key}?"), { ...headNames(asked), query, key: keys[state.key ?? 0] });
  },
  async choices(asked) {
    const { question, state, t } = asked;
    if (isStated(question)) return [{ id: "0", label: t("Number") }];
    const names = question.page === "lab" ? await labColumns(asked) : (await labelsAt(asked)).keys;
    return [{ id: "0", label: names[question.column ?? state.key ?? 0] }];
  },
  async reveal(asked) {
    const { question, state, stated } = asked;
    const value = question.value ?? (isStated(question) && (await stated?.()));
    if (typeof value === "number") return { numbers: [value], says: [] };
    const row = await (question.page === "lab" ? labRow(asked) : weightsAt(asked));
    return { numbers: [row[question.column ?? state.key ?? 0]], says: [] };
  },
};
