/**
 * The strip of the residual stream, drawn one frame after the diagram above it. Meanwhile its space
 * is reserved, so that nothing moves, and the old strip stays.
 */

import { afterFrame } from "../../lib/timing.js";
import { createStrip, stripRoom } from "./residual-strip.js";

/** @typedef {Parameters<typeof createStrip>} Plan */

/** @param {HTMLElement} element  that it stands in @param {Window} window */
export function createLateStrip(element, window) {
  let top = 0;
  /** @type {ReturnType<typeof createStrip> | null} */
  let strip = null;
  const drawing = afterFrame((/** @type {Plan} */ ...plan) => {
    strip = createStrip(...plan);
    element.replaceChildren(...strip.elements);
    strip.mark(top);
  }, window);

  return {
    /** @param {Plan} plan */
    draw(...plan) {
      const [content, room, , t] = plan;
      const { width, height } = stripRoom(content, room, t);
      element.style.width = `${Math.ceil(width * room.unit)}px`;
      element.style.height = `${Math.ceil(height * room.unit)}px`;
      strip = null;
      drawing.later(...plan);
    },
    /** @param {number} token  that is chosen */
    mark(token) {
      top = token;
      strip?.mark(top);
    },
    stop: drawing.cancel,
  };
}
