/**
 * Projector mode: the letters are as large as keeps everything on the screen, in three sizes. What is
 * longer at the smallest size scrolls: a button says so, and a presenter's remote goes through it.
 */

import { find } from "../../lib/dom.js";
import { REMOTE, isPlainKey } from "../figure/pointing.js";

/**
 * @typedef {object} ProjectedPage
 * @property {() => boolean} on  whether projector mode is on
 * @property {() => string} subject  is shown: each thing has its own size
 * @property {() => void} restyle  draws it again after the size of letters has changed
 * @property {HTMLElement} place  whose height follows what it shows
 */

/** The smallest size, as `data-fit`; 0 is the largest. */
const SMALLEST = 2;
/** Overflow in pixels that is ignored. */
const NOTHING = 4;
/** Part of the window's height that one step scrolls, so that a line stays in sight. */
const STEP = 0.8;

/** @param {ProjectedPage} page @returns {() => void}  to be called when something else is shown */
export function bindFit({ on, subject, restyle, place }) {
  const root = document.documentElement;
  const moreButton = find("#projector-more");
  /** The size chosen for each figure shown before. @type {Map<string, number>} */
  const sizes = new Map();
  let present = "";
  let waits = 0;

  const remaining = () => root.scrollHeight - window.innerHeight - window.scrollY;

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
      present = "";
      moreButton.hidden = true;
      return;
    }
    const now = `${subject()} ${window.innerWidth} ${window.innerHeight}`;
    if (now !== present) {
      turn(sizes.get(now) ?? 0);
      if (present) window.scrollTo(0, 0);
      present = now;
    }
    for (let size = Number(root.dataset.fit ?? 0); size < SMALLEST && root.scrollHeight > window.innerHeight + NOTHING; ) {
      turn(++size);
      sizes.set(now, size);
    }
    cue();
  }

  const cue = () => (moreButton.hidden = !on() || remaining() <= NOTHING);
  const soon = () => (waits ||= requestAnimationFrame(fit));

  /** Through what is longer than the screen, before the remote's keys mean anything else. @param {KeyboardEvent} event */
  function pressed(event) {
    const by = REMOTE[event.key];
    if (!by || !on() || !isPlainKey(event) || document.querySelector("dialog[open]")) return;
    if ((by > 0 ? remaining() : window.scrollY) <= NOTHING) return;
    event.preventDefault();
    event.stopPropagation();
    scroll(by);
  }

  /** @param {number} by */
  const scroll = (by) => window.scrollBy({ top: by * window.innerHeight * STEP });

  moreButton.addEventListener("click", () => scroll(1));
  window.addEventListener("keydown", pressed, { capture: true });
  window.addEventListener("scroll", cue, { passive: true });
  window.addEventListener("resize", soon);
  new ResizeObserver(soon).observe(place);
  return soon;
}
