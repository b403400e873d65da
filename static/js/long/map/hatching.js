/** The pattern of what is masked, on a canvas. */

import { memo } from "../../lib/memo.js";

/** @import { Theme } from "../../core/draw/theme.js" */

/**
 * Rising lines for what is masked.
 * @param {CanvasRenderingContext2D} context
 * @param {Theme} theme
 * @returns {CanvasPattern | string}
 */
export function hatching(context, theme) {
  return memo(theme, "hatching", () => {
    const tile = context.canvas.ownerDocument.createElement("canvas");
    tile.width = tile.height = 6;
    const own = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    own.strokeStyle = theme.hatch;
    own.beginPath();
    for (const x of [-6, 0, 6]) {
      own.moveTo(x - 1, 7);
      own.lineTo(x + 7, -1);
    }
    own.stroke();
    return context.createPattern(tile, "repeat") ?? theme.hatch;
  });
}
