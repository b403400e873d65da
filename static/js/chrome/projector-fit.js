/**
 * Projector mode: use the largest of three font sizes at which the whole figure fits on the screen.
 * A figure that is too long at the smallest size scrolls, and a button says so.
 */

import { find } from "../lib/dom.js";

/** @typedef {import("./types.js").Desk} Desk */

/** The smallest size, as `data-fit`; 0 is the largest. */
const SMALLEST = 2;
/** Overflow in pixels that is ignored. */
const NOTHING = 4;

/** @param {Desk} context */
export function bindFit({ store, restyle }) {
  const root = document.documentElement;
  const more = find("#projector-more");
  /** The size chosen for each figure shown before. @type {Map<string, number>} */
  const sizes = new Map();
  let shown = "";
  let waits = 0;

  const on = () => store.get().link.options.projector === true;
  const what = () => {
    const { link: { view, source, options } } = store.get();
    return JSON.stringify([view, source, options, window.innerWidth, window.innerHeight]);
  };
  const left = () => root.scrollHeight - window.innerHeight - window.scrollY;

  /** @param {number} size */
  function turn(size) {
    if (Number(root.dataset.fit ?? 0) === size) return;
    if (size) root.dataset.fit = String(size);
    else delete root.dataset.fit;
    restyle();
  }

  function fit() {
    waits = 0;
    if (!on()) {
      turn(0);
      more.hidden = true;
      return;
    }
    const now = what();
    if (now !== shown) {
      shown = now;
      turn(sizes.get(now) ?? 0);
    }
    for (let size = Number(root.dataset.fit ?? 0); size < SMALLEST && root.scrollHeight > window.innerHeight + NOTHING; ) {
      turn(++size);
      sizes.set(now, size);
    }
    cue();
  }

  const cue = () => (more.hidden = !on() || left() <= NOTHING);
  const soon = () => (waits ||= requestAnimationFrame(fit));

  more.addEventListener("click", () => window.scrollBy({ top: window.innerHeight * 0.8 }));
  window.addEventListener("scroll", cue, { passive: true });
  new ResizeObserver(soon).observe(find("#view"));
  store.subscribe(({ link }) => [link.view, link.source, link.options], soon);
}
