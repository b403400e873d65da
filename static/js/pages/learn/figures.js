/**
 * The figures of a lesson, those of the workspace and of the lab, each created when it comes into
 * view.
 */

import { find, h } from "../../lib/dom.js";
import { createLabFigure } from "../../parts/lab/lab-figure.js";
import { format as formatLab, parse as parseLab } from "../../state/lab-link.js";
import { preset } from "../../state/lab-presets.js";
import { format, merge, parse } from "../../state/link.js";
import { createFigure, linkTo, storeOf } from "../../views/create-figure.js";
import { OPTIONS } from "../../views/index.js";
import { createFigureBar } from "./figure-bar.js";
import { inSight } from "./in-sight.js";

/** @typedef {import("../learn.js").Desk} Desk */

/** @param {Desk} desk */
export function bindFigures(desk) {
  inSight(document.querySelectorAll("#lesson figure.live"), (element) => (element.dataset.page === "lab" ? byHand(desk, element) : ofModel(desk, element)));
}

/**
 * Wide enough for words on both axes, and low enough that the surrounding text is visible.
 * @type {import("../../state/types.js").Measure}
 */
const measure = (element) => {
  const width = Math.floor(element.getBoundingClientRect().width);
  const most = document.documentElement.hasAttribute("data-projector") ? Math.max(window.innerHeight * 0.7, 340) : 520;
  return { width, height: Math.min(Math.max(width * 0.6, 340), most), wide: width >= 560 };
};

/** @param {Desk} desk @param {HTMLElement} element */
async function ofModel({ page, source, lang }, element) {
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const state = merge(linkTo(), parse(element.dataset.link ?? "", OPTIONS), { lang });
  const store = storeOf(state);
  const caption = h("p", { className: "caption" });
  const legend = h("div", { className: "scale" });
  const root = h("div", {});
  const place = h("div", { className: "coming" }, createFigureBar(page, store, state), h("div", { className: "saying" }, caption, legend), root);
  stand.append(place);
  const figure = createFigure({ root, store, source, page, caption, legend, measure });
  store.subscribe(({ link }) => link, ({ link }) => (open.href = `/?${format(link, OPTIONS)}`));
  await figure.run();
  arrive(stand, place);
}

/** @param {Desk} desk @param {HTMLElement} element */
async function byHand({ page, api, lang }, element) {
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const root = h("div", { className: "coming" });
  stand.append(root);
  await new Promise((resolve) => {
    /** @type {typeof api.lab} */
    const compute = (body, signal) => api.lab(body, signal).finally(() => resolve(null));
    createLabFigure({
      root,
      page,
      lab: parseLab(element.dataset.link ?? "", preset("identity")),
      compute,
      choices: element.dataset.choices === "yes",
      onChange: (lab) => (open.href = `/lab?${formatLab(lab)}&lang=${lang}`),
    });
  });
  arrive(stand, root);
}

/** Replace the still image. @param {HTMLElement} stand @param {HTMLElement} place */
function arrive(stand, place) {
  stand.querySelector(".still")?.remove();
  place.classList.remove("coming");
  stand.dataset.live = "yes";
}
