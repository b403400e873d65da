/** What a handout does without a server, in the place of `core/wire/api.js` and `core/figure/problem-wording.js`. */

import { Problem } from "../core/wire/problem.js";
import { sharedData } from "../core/wire/frozen-replies.js";

/** @import { Translate } from "../lib/i18n.js" */

const lacks = async () => {
  throw new Problem("frozen");
};

/** @param {(path: string) => Promise<Response>} ask  reads the share that lies in the file */
export const createApi = (ask) => ({ ...sharedData({ ask }), models: async () => [], trace: lacks, answer: lacks, file: lacks });

/** What can fail without a server. @type {Record<string, (t: Translate) => string>} */
const WORDING = {
  frozen: (t) => t("This was not saved with the share, and its model is no longer served here."),
  "nothing-drawn": (t) => t("There is nothing to save yet."),
  unmade: (t) => t("The file could not be made."),
};

/** @type {typeof import("../core/figure/problem-wording.js").wording} */
export const wording = (t, { kind }) => (WORDING[kind] ? WORDING[kind](t) : t("Something went wrong on this page. Try again, or reload it."));
