/**
 * The views of a page whose model runs in it, in place of `view-groups.js`: those whose numbers it computes.
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
import { positions } from "./positions/view.js";
import { qkv } from "./qkv/view.js";
import { space } from "./space/view.js";
import { training } from "./training/view.js";
import { whatif } from "./whatif/view.js";
import { groupsOf } from "./view-group-purposes.js";

export const GROUPS = groupsOf({
  read: [decoding, alignment, lines, attention],
  compute: [qkv, space, positions],
  explain: [heads, feedForward, flow, inside, training],
  experiment: [compare, whatif],
});
