/** Pictures side by side on one canvas, each under its title: for a picture that leaves the page. */

/** Between two, in CSS pixels. */
const GAP = 32;

/**
 * @param {{canvas: HTMLCanvasElement | null, title: string}[]} parts  those that are drawn, at the
 *   size that their style says
 * @param {import("./theme.js").Theme} theme
 * @returns {HTMLCanvasElement}
 */
export function abreast(parts, theme) {
  const pictures = parts.flatMap(({ canvas, title }) => (canvas ? [{ canvas, title, ...sizeOf(canvas) }] : []));
  const fine = Math.max(1, ...pictures.map(({ canvas, width }) => canvas.width / width));
  const top = Math.round(2.4 * theme.size);
  const width = pictures.reduce((sum, one) => sum + one.width + GAP, -GAP);
  const height = top + Math.max(0, ...pictures.map((one) => one.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(width * fine), Math.round(height * fine)];
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  context.scale(fine, fine);
  context.fillStyle = theme.paper;
  context.fillRect(0, 0, width, height);
  context.fillStyle = theme.ink;
  context.font = `600 ${theme.size}px ${theme.font}`;
  let left = 0;
  for (const one of pictures) {
    context.fillText(one.title, left, 1.2 * theme.size);
    context.drawImage(one.canvas, left, top, one.width, one.height);
    left += one.width + GAP;
  }
  return canvas;
}

/**
 * @param {HTMLCanvasElement} canvas
 * @returns {{width: number, height: number}}  in CSS pixels
 */
export function sizeOf(canvas) {
  const ratio = canvas.ownerDocument.defaultView?.devicePixelRatio ?? 1;
  return {
    width: Number.parseFloat(canvas.style.width) || canvas.width / ratio,
    height: Number.parseFloat(canvas.style.height) || canvas.height / ratio,
  };
}
