/** The height of the page's main figure: as high as fits on the screen. */

import { find } from "../lib/dom.js";

/** @type {import("../core/figure/types.js").Measure} */
export function screenful(element) {
  const place = element.getBoundingClientRect();
  const wide = window.innerWidth >= 900;
  const bar = /** @type {HTMLElement | null} */ (document.querySelector(".thumbbar"))?.offsetHeight ?? 0;
  const left = window.innerHeight - (place.top + window.scrollY) - bar;
  return {
    width: Math.floor(place.width),
    height: wide ? Math.max(360, left - 40) : Math.max(220, left - 16),
    wide,
  };
}

/**
 * Resize it when the elements above it or the window change.
 * @param {import("../views/create-figure.js").Figure} figure
 */
export function bindScreen({ resize }) {
  const observer = new ResizeObserver(resize);
  document.querySelectorAll(".band, .projector-bar").forEach((place) => observer.observe(place));
  // In projector mode, a caption of two lines leaves less space for the figure; otherwise the page
  // scrolls.
  const wraps = new ResizeObserver(() => document.documentElement.hasAttribute("data-projector") && resize());
  wraps.observe(find(".saying"));
  window.addEventListener("resize", resize);
}
