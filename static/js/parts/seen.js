/** What thumbnails show: all heads of the present block, out of one trace. */

import { packed, table } from "../atlas.js";
import { axes, extent, place } from "../blocks.js";
import { rgb, sequential } from "../scale.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../store.js").Page} Page */
/** @typedef {import("../wire.js").Trace} Trace */
/** @typedef {import("../wire.js").Summary} Summary */
/** @typedef {import("../atlas.js").Tile} Tile */
/**
 * @typedef {object} Seen  what is on the page
 * @property {Page} page
 * @property {Trace} trace  weights in 8 bits, and summaries
 * @property {number} layers
 * @property {number} heads
 * @property {(layer: number) => Summary | undefined} summary
 * @property {(tile: Tile) => import("../atlas.js").Picture | null} matrix
 * @property {import("../atlas.js").Paint} paint
 * @property {{rows: import("../tokens.js").Step[], cols: import("../tokens.js").Step[]}} axes
 */

/** @param {Context} context @param {Page} page @param {Trace} trace @returns {Seen} */
export function look({ theme }, page, trace) {
  const { block } = page.link;
  const may = trace.tensors[place({ block, layer: 0 }, "mask")]?.data ?? null;
  const colours = theme();
  return {
    page,
    trace,
    ...extent(/** @type {NonNullable<Page["model"]>} */ (page.model), block),
    axes: axes(trace, block),
    summary: (layer) => trace.summaries?.[place({ block, layer })],
    matrix({ layer, head }) {
      const weights = trace.tensors[place({ block, layer }, "weights")];
      if (!weights || head >= weights.shape[0]) return null;
      const [, rows, cols] = weights.shape;
      const size = rows * cols;
      return { rows, cols, values: weights.data.subarray(head * size, (head + 1) * size), may };
    },
    paint: {
      table: table(sequential(colours)),
      paper: packed(rgb(colours.paper)),
      hatch: packed(rgb(colours.hatch)),
    },
  };
}
