/** The lab's page around its figure: projector mode with letters for the last row, and the formulas. */

import { isPlainKey } from "../core/figure/pointing.js";
import { bindFit } from "../core/page/projector-fit.js";
import { find, h } from "../lib/dom.js";
import { FORMULAS, createFormula } from "./formulas/formula.js";

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
    if (!isPlainKey(event) || document.querySelector("dialog[open]")) return;
    if (key === "Escape") return turn(false);
    if (key.toLowerCase() !== "p" || (target instanceof Element && target.closest(WRITES))) return;
    event.preventDefault();
    turn(!on());
  });
  return { on, follow };
}

// The lab's formulas, one of them shown at a time in place of the matrices.

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {URLSearchParams} said  from the link
 * @param {() => void} changed  called when the link must change
 */
export function bindFormulas(page, api, said, changed) {
  const root = find("#formulas");
  let shown = "";
  const panels = Object.entries(FORMULAS).map(([id, { title }]) => {
    const place = h("div", {});
    const section = h("section", { className: "panel-of-formula", hidden: true }, h("h2", {}, title(page.t)), place);
    root.append(section);
    return { id, section, figure: createFormula({ root: place, page, api, id, said, onChange: changed }) };
  });

  /** @param {string} id  of the one to be shown; "": none */
  function go(id) {
    shown = id in FORMULAS ? id : "";
    root.hidden = !shown;
    for (const panel of panels) {
      panel.section.hidden = panel.id !== shown;
      if (panel.id === shown) panel.figure.draw();
    }
    changed();
  }

  return {
    names: Object.fromEntries(Object.entries(FORMULAS).map(([id, { title }]) => [id, title(page.t)])),
    shown: () => shown,
    go,
    /** The formula and the changed fields as part of a link: "&…", or "". */
    query: () =>
      [...(shown ? [["show", shown]] : []), ...panels.flatMap(({ figure }) => figure.query())]
        .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
        .join(""),
  };
}
