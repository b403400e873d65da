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
 * @param {boolean} lab.startsOn  whether it begins in projector mode
 * @param {() => string} lab.subject  what is shown
 * @param {() => void} lab.changed  called when it is switched
 * @returns {{on: () => boolean, follow: () => void}}  follow: something else is shown
 */
export function bindLabProjector({ t, announce, restyle }, { startsOn, subject, changed }) {
  const root = document.documentElement;
  const enter = find("#projector");
  const on = () => root.hasAttribute("data-projector");
  root.toggleAttribute("data-projector", startsOn);
  const follow = bindFit({ on, subject, restyle, place: find("#lab") });

  /** @param {boolean} turnOn */
  function turn(turnOn) {
    if (turnOn === on()) return;
    root.toggleAttribute("data-projector", turnOn);
    enter.setAttribute("aria-pressed", String(turnOn));
    restyle();
    follow();
    changed();
    find(turnOn ? "#figure" : "#more").focus();
    announce(turnOn ? t("Projector mode. Escape leaves.") : t("Left projector mode."));
  }

  enter.setAttribute("aria-pressed", String(startsOn));
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

/** What decides how large it is: not what is typed into a cell. @param {import("./matrices.js").Lab} [lab] */
export const labShape = (lab) => lab && [lab.heads, lab.scoring, ...Object.values(lab.matrices).map((cells) => [cells.length, cells[0]?.length])];

// The lab's formulas, one of them shown at a time in place of the matrices.

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {URLSearchParams} link  from the link
 * @param {() => void} changed  called when the link must change
 * @param {string[]} [offered]  keys of `FORMULAS`
 */
export function bindFormulas(page, api, link, changed, offered = Object.keys(FORMULAS)) {
  const root = find("#formulas");
  let shownId = "";
  const panels = offered.map((id) => {
    const { title } = FORMULAS[id];
    const place = h("div", {});
    const section = h("section", { className: "panel-of-formula", hidden: true }, h("h2", {}, title(page.t)), place);
    root.append(section);
    return { id, section, figure: createFormula({ root: place, page, api, id, link, onChange: changed }) };
  });

  /** @param {string} id  of the one to be shown; "": none */
  function go(id) {
    shownId = offered.includes(id) ? id : "";
    root.hidden = !shownId;
    for (const panel of panels) {
      panel.section.hidden = panel.id !== shownId;
      if (panel.id === shownId) panel.figure.draw();
    }
    changed();
  }

  return {
    names: Object.fromEntries(offered.map((id) => [id, FORMULAS[id].title(page.t)])),
    shown: () => shownId,
    go,
    /** The formula and the changed fields as part of a link: "&…", or "". */
    query: () =>
      [...(shownId ? [["show", shownId]] : []), ...panels.flatMap(({ figure }) => figure.query())]
        .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
        .join(""),
  };
}
