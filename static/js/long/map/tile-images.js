/** Tiles of a long text's weights as images, a pixel a cell; what is masked stays clear. */

import { memo } from "../../lib/memo.js";
import { raster } from "../../core/draw/paint.js";

/** @import { Tensor } from "../../core/wire/wire.js" */

/**
 * @param {Document} document
 * @param {Tensor} tensor  of two dims
 * @param {import("../../core/draw/paint.js").Shade} shade
 * @returns {HTMLCanvasElement}
 */
export function tileImage(document, tensor, shade) {
  const name = `image ${shade.floor ?? 0} ${shade.stops.at(-1)}`;
  return memo(tensor, name, () => {
    const [rows, cols] = tensor.shape;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [cols, rows];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(cols, rows);
    raster(image.data, tensor.data, shade);
    context.putImageData(image, 0, 0);
    return canvas;
  }, 2);
}
