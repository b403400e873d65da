/**
 * The buttons of a lecture. They fade while the pointer rests, since they cover a part of the screen;
 * a movement or the Tab key brings them back.
 */

import { h } from "../lib/dom.js";
import { settle } from "../lib/timing.js";

/** Milliseconds without a movement after which the buttons fade. */
const REST = 3_000;

/**
 * @param {import("../lib/i18n.js").Translate} t
 * @param {object} of
 * @param {(by: number) => void} of.turn
 * @param {() => void} of.leave
 * @param {HTMLElement} of.notes  the button that opens the speaker's notes
 * @param {HTMLElement[]} [of.place]  says which slide is shown
 */
export function createPresentingBar(t, { turn, leave, notes, place = [] }) {
  const button = (/** @type {string} */ sign, /** @type {string} */ says, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", className: "button", "aria-label": says, onclick }, sign);
  const bar = h(
    "div",
    { className: "presenting", role: "group", "aria-label": t("Projector") },
    button("‹", t("Previous slide"), () => turn(-1)),
    ...place,
    button("›", t("Next slide"), () => turn(1)),
    notes,
    h("button", { type: "button", className: "button quiet", onclick: leave }, t("Leave (Esc)")),
  );
  const rest = settle(() => bar.classList.add("resting"), REST);

  function wake() {
    bar.classList.remove("resting");
    rest.later();
  }
  for (const moved of ["pointermove", "pointerdown", "focusin"]) window.addEventListener(moved, wake, { passive: true });
  rest.later();
  // A click leaves no focus behind, which would keep the buttons from resting.
  bar.addEventListener("click", ({ detail }) => detail && /** @type {HTMLElement} */ (document.activeElement)?.blur());
  return bar;
}
