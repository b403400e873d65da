/** Names of the examples, by what they show. */

/** @import { Example } from "./examples.js" */

/** @param {Example["shows"]} shows @param {import("../../lib/i18n.js").Translate} t */
export const exampleName = (shows, t) =>
  ({
    order: t("word order"),
    negation: t("negation"),
    relative: t("a relative clause"),
    reason: t("a reason"),
    place: t("a place"),
  })[shows];
