/** The thumbnails with their words on one canvas, for a picture that leaves the page. */

import { LINE } from "./head-grid.js";

/**
 * @param {HTMLCanvasElement} pictures
 * @param {import("../parts/head-tiles.js").Drawn} drawn
 * @param {import("./theme.js").Theme} theme
 * @param {number} ratio
 * @returns {HTMLCanvasElement}
 */
export function photograph(pictures, { layout, words }, theme, ratio) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [pictures.width, pictures.height];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(pictures, 0, 0);
  context.scale(ratio, ratio);
  context.font = `${theme.size}px ${theme.font}`;
  context.textBaseline = "top";
  const line = Math.ceil(LINE * theme.size);
  words.forEach(({ where, value, pattern }, i) => {
    const { left, top } = layout.places[i];
    const below = top + layout.size + 3;
    context.textAlign = "left";
    context.fillStyle = theme.ink;
    context.fillText(where, left, below);
    context.fillText(pattern, left, below + line, layout.wide);
    context.textAlign = "right";
    context.fillStyle = theme.muted;
    context.fillText(value, left + layout.wide, below);
  });
  return canvas;
}
