/** The data of thumbnails: all heads of the current block, from one trace. */

import { packed, table } from "../draw/head-grid.js";
import { axes, extent, place } from "../wire/attentions.js";
import { glimpse } from "../compute/glimpses.js";
import { rgb, sequential } from "../draw/scale.js";

/** @import { Context } from "./types.js" */
/** @import { Page } from "../store/store.js" */
/** @import { Trace, Summary } from "../wire/wire.js" */
/** @import { Tile } from "../draw/head-grid.js" */
/**
 * @typedef {object} Seen  what is shown
 * @property {Page} page
 * @property {Trace} trace  with weights (8 bits are enough) and summaries
 * @property {number} layers
 * @property {number} heads
 * @property {(layer: number) => Summary | undefined} summary
 * @property {(tile: Tile) => import("../draw/head-grid.js").Picture | null} matrix
 * @property {import("../draw/head-grid.js").Paint} paint
 * @property {{rows: import("../wire/tokens.js").Step[], cols: import("../wire/tokens.js").Step[]}} axes
 */

/** @param {Context} context @param {Page} page @param {Trace} trace @returns {Seen} */
export function look({ theme }, page, trace) {
  const { model, link } = page;
  const { block } = link;
  const colours = theme();
  return {
    page,
    trace,
    ...extent(model, block),
    axes: axes(model, trace, block),
    summary: (layer) => trace.summaries?.[place(model, { block, layer })],
    matrix: (tile) => glimpse(model, trace, { block, ...tile }),
    paint: {
      table: table(sequential(colours)),
      paper: packed(rgb(colours.paper)),
      hatch: packed(rgb(colours.hatch)),
    },
  };
}
