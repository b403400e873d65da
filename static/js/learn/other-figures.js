/** Figures that show no run: a formula to try, and models of the zoo. */

import { find, h } from "../lib/dom.js";
import { createFormula } from "../lab/formulas/formula.js";
import { linkOfState } from "./figure-link.js";
import { liveQuery } from "./live.js";
import { createZooFigure } from "./zoo-figure.js";

/** @typedef {Parameters<typeof import("./figures.js").liven>[0]} OfFigure */
/** @typedef {ReturnType<typeof liveQuery>} Live */

/** @param {OfFigure["page"]["t"]} t */
export const unfit = (t) => t("The link does not fit this figure, which is shown in its initial state.");

/** @param {OfFigure} desk @param {HTMLElement} element @returns {Promise<Live>} */
export async function tried(desk, element) {
  const { page, api, lang } = desk;
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const root = h("div", { className: "coming" });
  stand.append(root);
  const said = new URLSearchParams(element.dataset.link);
  const id = said.get("show") ?? "";
  const formula = createFormula({ root, page, api, id, onChange: changed });
  const query = () => new URLSearchParams([["show", id], ...formula.query()]);
  // The link is that of the lesson, or of a collection, which has a figure in some state.
  if (!formula.go(said)) {
    element.prepend(h("p", { className: "problem", role: "alert" }, unfit(page.t)));
    formula.draw();
  }
  const live = liveQuery({
    pointing: formula.pointing,
    state: () => String(query()),
    go(link) {
      const next = new URLSearchParams(link);
      if (next.get("show") !== id || !formula.go(next)) return false;
      changed();
      return true;
    },
  });

  function changed() {
    open.href = `/lab?${query()}&lang=${lang}`;
    live.changed();
  }

  linkBelow(root, linkOfState(desk, element, live.shows));
  arrive(stand, root);
  return live;
}

/** @param {OfFigure} desk @param {HTMLElement} element @returns {Promise<Live>} */
export async function compared(desk, element) {
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const root = h("div", { className: "coming" });
  stand.append(root);
  /** @type {Live | null} */
  let live = null;
  const figure = await createZooFigure(desk, root, element.dataset.link ?? "", {
    changed: () => live?.changed(),
    answered: (link) => (open.href = `/zoo?${link}&lang=${desk.lang}`),
  });
  live = liveQuery(figure);
  linkBelow(root, linkOfState(desk, element, live.shows));
  arrive(stand, root);
  return live;
}

/**
 * The controls of a figure's link in a line of their own; null: it has none.
 * @param {HTMLElement} root  of the figure
 * @param {ReturnType<typeof linkOfState>} link
 */
export function linkBelow(root, link) {
  if (link) root.append(h("p", { className: "figure-bar" }, link.button), link.panel);
}

/** Replace the still image. @param {HTMLElement} stand @param {HTMLElement} place */
export function arrive(stand, place) {
  stand.querySelectorAll(".still, .start").forEach((one) => one.remove());
  place.classList.remove("coming");
  stand.dataset.live = "yes";
}
