/** Projector mode of the lab: the matrices and the steps, in letters for the last row. */

import { find } from "../lib/dom.js";
import { bindFit } from "../core/page/projector-fit.js";
import { alone } from "../core/figure/pointing.js";

/** What takes letters for itself. */
const WRITES = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select";

/**
 * @param {import("../core/figure/types.js").PageContext & {restyle: () => void}} page
 * @param {object} lab
 * @param {boolean} lab.asked  whether it begins in projector mode
 * @param {() => string} lab.what  is shown
 * @param {() => void} lab.changed  called when it is switched
 * @returns {{on: () => boolean, follow: () => void}}  follow: something else is shown
 */
export function bindLabProjector({ t, announce, restyle }, { asked, what, changed }) {
  const root = document.documentElement;
  const enter = find("#projector");
  const on = () => root.hasAttribute("data-projector");
  root.toggleAttribute("data-projector", asked);
  const follow = bindFit({ on, subject: what, restyle, place: find("#lab") });

  /** @param {boolean} wanted */
  function turn(wanted) {
    if (wanted === on()) return;
    root.toggleAttribute("data-projector", wanted);
    enter.setAttribute("aria-pressed", String(wanted));
    restyle();
    follow();
    changed();
    (wanted ? find("#figure") : enter).focus();
    announce(wanted ? t("Projector mode. Escape leaves.") : t("Left projector mode."));
  }

  enter.setAttribute("aria-pressed", String(asked));
  enter.addEventListener("click", () => turn(!on()));
  find("#projector-leave").addEventListener("click", () => turn(false));
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!alone(event) || document.querySelector("dialog[open]")) return;
    if (key === "Escape") return turn(false);
    if (key.toLowerCase() !== "p" || (target instanceof Element && target.closest(WRITES))) return;
    event.preventDefault();
    turn(!on());
  });
  return { on, follow };
}
