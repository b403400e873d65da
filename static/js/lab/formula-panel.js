/** The lab's formulas, one of them shown at a time in place of the matrices. */

import { find, h } from "../lib/dom.js";
import { FORMULAS, createFormula } from "./formulas/formula.js";

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
