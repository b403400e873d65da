/** Tabs for the views. */

import { isLong } from "../core/wire/long-texts.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { radios } from "../core/figure/controls.js";
import { reasonSaid } from "./missing-wording.js";
import { GROUPS } from "../views/groups.js";
import { view, whyNot } from "../views/index.js";
import { bindUnfrozen } from "./missing-from-share.js";
import { bindUnoffered } from "./view-not-offered.js";
import { bindScreen } from "./figure-height.js";

/** @import { Desk } from "./types.js" */
/** @import { View } from "../core/figure/types.js" */

/** @param {Desk} desk */
export function bindStage(desk) {
  bindUnfrozen(desk);
  bindUnoffered(desk);
  bindScreen(desk.figure);
  tabs(desk);
}

/**
 * What surrounds a view, as attributes of the root for stylesheets.
 * @param {View} view
 */
export function surround({ id, frame: { rail, inspector, caption, folds } }) {
  const { dataset } = document.documentElement;
  Object.assign(dataset, { view: id, rail });
  dataset.folds = folds ? "yes" : "no";
  dataset.inspector = inspector ? "yes" : "no";
  dataset.caption = caption ? "yes" : "no";
}

/** The offered views in groups, each with its purpose. @param {Desk} desk */
function tabs({ store, t, figure }) {
  const place = find("#views");
  const legend = find("legend", place);

  function show() {
    const before = place.querySelector(":checked");
    const open = view(store.get().link.view).id;
    const offer = figure.offer();
    const groups = GROUPS.map((one) => ({ ...one, views: one.views.filter((view) => offer.includes(view) || absent(view, offer)) }));
    render(place, legend, groups.map((one) => one.views.some((view) => offer.includes(view)) && group(one, open, offer)));
    const now = place.querySelector(":checked");
    if (now && now !== before) reveal(place, /** @type {Element} */ (now.closest("label")));
  }

  /**
   * Why the model does not offer a view.
   * @param {View} view
   * @param {View[]} offer
   * @returns {string}  "" if it does, or the reason is not known
   */
  function absent(view, offer) {
    const page = store.get();
    return offer.includes(view) || isLong(page.trace) ? "" : reasonSaid(t, whyNot(view, page) ?? "");
  }

  /** @param {View} view @param {View[]} offer  A click says why it is not offered. */
  function closed(view, offer) {
    const why = absent(view, offer);
    const props = { type: "button", className: "absent", "aria-disabled": "true", title: why, onclick: () => store.set({ unoffered: view.id }) };
    return el("button", { key: `absent-${view.id}`, ...props }, view.name(t), el("span", { className: "hidden" }, " ", why));
  }

  /** @param {import("../views/groups.js").Group} group @param {string} open @param {View[]} offer */
  function group({ id, name, about, views }, open, offer) {
    const names = Object.fromEntries(views.filter((view) => offer.includes(view)).map((view) => [view.id, view.name(t)]));
    const purpose = el("p", { id: `views-${id}`, className: "purpose" }, el("b", {}, name(t)), " ", el("span", {}, about(t)));
    const shut = views.filter((view) => !offer.includes(view)).map((view) => closed(view, offer));
    const choice = el("div", { className: "choice" }, radios("choice-view", names, open), shut);
    return el("div", { key: id, className: "group", role: "group", "aria-labelledby": `views-${id}` }, purpose, choice);
  }

  place.addEventListener("change", ({ target }) => store.go({ view: /** @type {HTMLInputElement} */ (target).value }));
  store.subscribe(({ link, model, trace }) => [view(link.view).id, model, isLong(trace), ...figure.offer()], show);
  show();
}

/**
 * Scroll a list so that the choice is in the middle.
 * @param {Element} list
 * @param {Element} label
 */
function reveal(list, label) {
  const [outer, inner] = [list, label].map((element) => element.getBoundingClientRect());
  list.scrollLeft += (inner.left + inner.right - outer.left - outer.right) / 2;
}
