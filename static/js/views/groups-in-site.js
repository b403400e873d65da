/**
 * The views of a page whose model runs in it, in place of `groups.js`: those whose numbers it computes.
 */

import { alignment } from "./alignment/view.js";
import { attention } from "./attention/view.js";
import { compare } from "./compare/view.js";
import { decoding } from "./decoding/view.js";
import { heads } from "./heads/view.js";
import { feedForward } from "./feed-forward/view.js";
import { flow } from "./flow/view.js";
import { inside } from "./inside/view.js";
import { lines } from "./lines/view.js";
import { qkv } from "./qkv/view.js";
import { space } from "./space/view.js";
import { whatif } from "./whatif/view.js";

/** @type {import("./groups.js").Group[]} */
export const GROUPS = [
  { id: "read", name: (t) => t("Read"), about: (t) => t("what each word looks at"), views: [decoding, alignment, lines, attention] },
  { id: "compute", name: (t) => t("Compute"), about: (t) => t("every number, step by step"), views: [qkv, space] },
  { id: "explain", name: (t) => t("Explain"), about: (t) => t("what the parts do"), views: [heads, feedForward, flow, inside] },
  { id: "experiment", name: (t) => t("Experiment"), about: (t) => t("change it"), views: [compare, whatif] },
];
