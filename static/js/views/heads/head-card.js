/** One head enlarged: its picture, a description of what it does, and all its numbers. */

import { isOff } from "../../core/store/interventions.js";
import { tile as paintTile } from "../../core/draw/head-grid.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { inGeneral, known, patterns } from "../../core/compute/patterns.js";
import { place } from "../../core/wire/attentions.js";

/** @import { Context } from "../../core/figure/types.js" */

const SIZE = 236;

/** @param {Context} context */
export function preview({ t }) {
  const title = h("h3", {});
  const says = h("p", {});
  const general = h("p", { className: "general" });
  const canvas = h("canvas", { "aria-hidden": "true" });
  const numbers = h("dl", {});
  canvas.style.width = canvas.style.height = `${SIZE}px`;
  return {
    element: h("aside", { className: "preview", "aria-label": t("Hovered head") }, title, says, general, canvas, numbers),

    /** @param {import("../../core/figure/head-tile-data.js").Seen} seen @param {import("../../core/draw/head-grid.js").Tile} tile */
    show(seen, tile) {
      const { layer, head } = tile;
      const summary = seen.summary(layer);
      title.textContent = t("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });
      const off = isOff(seen.page, tile);
      says.textContent = off ? t("This head is off; it contributes nothing.") : summary ? patterns(t)[summary.pattern[head]].says : "";
      render(general, generally(seen, tile, t));
      render(
        numbers,
        known(summary, t).map(([name, { name: called, unit }]) => {
          const value = summary?.[name]?.[head] ?? null;
          const said = value === null ? "–" : unit ? t("{value} {unit}", { value: two(value), unit }) : two(value);
          return el("div", {}, el("dt", {}, called), el("dd", {}, said));
        }),
      );
      draw(canvas, seen, tile);
    },
  };
}

/**
 * What the head does over many sentences, with a link to its page.
 * @param {import("../../core/figure/head-tile-data.js").Seen} seen
 * @param {import("../../core/draw/head-grid.js").Tile} tile
 * @param {Context["t"]} t
 */
function generally({ page: { model, link } }, { layer, head }, t) {
  const at = place(model, { block: link.block, layer });
  const words = inGeneral(model?.in_general?.[at]?.[head], t);
  const href = `/heads/${model?.id}/${at}/${head}?lang=${link.lang}`;
  return words && [el("a", { href }, t("In general")), t(": "), words];
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {import("../../core/figure/head-tile-data.js").Seen} seen
 * @param {import("../../core/draw/head-grid.js").Tile} tile
 */
function draw(canvas, seen, tile) {
  const picture = seen.matrix(tile);
  if (!picture) return;
  const size = Math.round(SIZE * Math.min(window.devicePixelRatio || 1, 2));
  [canvas.width, canvas.height] = [size, size];
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(size, size);
  paintTile(new Uint32Array(image.data.buffer), size, { left: 0, top: 0, size }, picture, seen.paint);
  context.putImageData(image, 0, 0);
}
