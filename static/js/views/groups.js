/** The index of the views. To add a view, write its folder and add a line here. */

import { alignment } from "./alignment/view.js";
import { feedForward } from "./feed-forward/view.js";
import { flow } from "./flow/view.js";
import { attention } from "./attention/view.js";
import { compare } from "./compare/view.js";
import { decoding } from "./decoding/view.js";
import { heads } from "./heads/view.js";
import { inside } from "./inside/view.js";
import { lines } from "./lines/view.js";
import { positions } from "./positions/view.js";
import { qkv } from "./qkv/view.js";
import { space } from "./space/view.js";
import { training } from "./training/view.js";
import { whatif } from "./whatif/view.js";
import { worksheet } from "./worksheet/view.js";

/**
 * @typedef {object} Group  views that serve one purpose
 * @property {string} id
 * @property {(t: import("../lib/i18n.js").Translate) => string} name
 * @property {(t: import("../lib/i18n.js").Translate) => string} about  the purpose, in a few words
 * @property {import("../core/figure/types.js").View[]} views
 */

/** @type {Group[]} */
export const GROUPS = [
  {
    id: "read",
    name: (t) => t("Read"),
    about: (t) => t("what each word looks at"),
    views: [decoding, alignment, lines, attention],
  },
  {
    id: "compute",
    name: (t) => t("Compute"),
    about: (t) => t("every number, step by step"),
    views: [worksheet, qkv, space, positions],
  },
  { id: "explain", name: (t) => t("Explain"), about: (t) => t("what the parts do"), views: [heads, feedForward, flow, inside, training] },
  { id: "experiment", name: (t) => t("Experiment"), about: (t) => t("change it"), views: [compare, whatif] },
];
