/** Replaces `problem-wording.js` in a handout: what can fail without a server. */

/** @import { Translate } from "../../lib/i18n.js" */

/** @type {Record<string, (t: Translate) => string>} */
const WORDING = {
  frozen: (t) => t("This was not saved with the share, and its model is no longer served here."),
  "nothing-drawn": (t) => t("There is nothing to save yet."),
  unmade: (t) => t("The file could not be made."),
};

/** @type {typeof import("./problem-wording.js").wording} */
export const wording = (t, { kind }) => (WORDING[kind] ? WORDING[kind](t) : t("Something went wrong on this page. Try again, or reload it."));
