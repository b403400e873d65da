/**
 * The views of a handout, in place of `view-groups.js`: those that can do with what one trace holds, without
 * a server to ask.
 */

import { alignment } from "./alignment/view.js";
import { attention } from "./attention/view.js";
import { compare } from "./compare/view.js";
import { decoding } from "./decoding/view.js";
import { heads } from "./heads/view.js";
import { lines } from "./lines/view.js";
import { qkv } from "./qkv/view.js";
import { space } from "./space/view.js";
import { groupsOf } from "./view-group-purposes.js";

export const GROUPS = groupsOf({
  read: [decoding, alignment, lines, attention],
  compute: [qkv, space],
  explain: [heads],
  experiment: [compare],
});
