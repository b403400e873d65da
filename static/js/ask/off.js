/** What happens if this head is off? The output stays the same, or it changes. */

import { place } from "../core/wire/attentions.js";
import { languages } from "../core/wire/tokens.js";
import { el } from "../lib/render.js";
import { headNames } from "./weights-at.js";

/** @type {import("./question.js").Kind} */
export const off = {
  name: (t) => t("What if this head is off?"),
  fits: ({ interventions }, model) => !interventions && (!model || model.capabilities.includes("decode")),
  entry: () => "choice",
  shows: "all",
  words: async (asked) => [asked.t("Does the output change if head {head} of layer {layer} is switched off?", headNames(asked))],
  choices: async ({ t }) => [
    { id: "same", label: t("The output stays the same") },
    { id: "changes", label: t("The output changes") },
  ],
  async reveal(asked) {
    const { model, state, t, say } = asked;
    const zero = { at: place(await model(), state), head: state.head, do: "zero" };
    const { same, ...texts } = await compared(asked, {}, { interventions: [zero] });
    const words = same ? t("With the head off, the model still writes {before}") : t("With the head on: {before} With the head off: {after}");
    return { right: [same ? "same" : "changes"], says: say(words, texts) };
  },
};

/**
 * The outputs of two runs.
 * @param {import("./question.js").Asked} asked
 * @param {Partial<import("../core/store/link.js").State>} first  changes of the link
 * @param {Partial<import("../core/store/link.js").State>} second
 */
export async function compared({ run }, first, second) {
  const [before, after] = await Promise.all([first, second].map((changes) => run(() => [], changes)));
  const [, to] = languages(before.direction);
  const text = (/** @type {import("../core/wire/wire.js").Trace} */ one) => el("b", { lang: to }, one.output.text);
  return { same: before.output.text === after.output.text, before: text(before), after: text(after) };
}
