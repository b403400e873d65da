/** What happens if the model is changed as the link says? The output stays the same, or it changes. */

import { compared } from "./off.js";

/** @type {import("./question.js").Kind} */
export const change = {
  name: (t) => t("What does the change do?"),
  fits: ({ interventions }, model) => Boolean(interventions) && (!model || model.capabilities.includes("decode")),
  entry: () => "choice",
  words: async ({ t }) => [t("Does the output change if the model is changed like this?")],
  choices: async ({ t }) => [
    { id: "same", label: t("The output stays the same") },
    { id: "changes", label: t("The output changes") },
  ],
  async reveal(asked) {
    const { t, say } = asked;
    const { same, ...texts } = await compared(asked, { interventions: null }, {});
    const words = same ? t("With the change, the model still writes {before}") : t("As trained: {before} With the change: {after}");
    return { right: [same ? "same" : "changes"], says: say(words, texts) };
  },
};
