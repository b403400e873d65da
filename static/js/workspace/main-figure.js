/** The page's main figure: the tabs of its views, what is said above it, its height, and what its surroundings receive. */

import { radios } from "../core/figure/controls.js";
import { wording } from "../core/figure/problem-wording.js";
import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { DEFAULTS, format, mergeStates, fittedLink, stateOfShare } from "../core/store/link.js";
import { isMissingFromShare } from "../core/store/share-contents.js";
import { attentionAt, blocks, hasVectors, place } from "../core/wire/model-description.js";
import { LONGEST, isLong } from "../core/wire/long-texts.js";
import { Problem } from "../core/wire/reply.js";
import { el, find, h, render } from "../lib/dom.js";
import { createFigure } from "../views/create-figure.js";
import { GROUPS } from "../views/view-groups.js";
import { OPTIONS, view, whyNot } from "../views/index.js";

/** @import { Context, View } from "../core/figure/types.js" */
/** @import { Page } from "../core/store/store.js" */
/** @import { Translate } from "../lib/i18n.js" */

/**
 * @typedef {object} PageAdditions
 * @property {import("../views/create-figure.js").Figure} figure  the page's figure
 * @property {import("../core/wire/api.js").Api} api
 * @property {import("../core/figure/types.js").PageContext["onTheme"]} onTheme
 * @property {() => void} restyle  to be called after the page's colours or sizes have changed
 * @property {(link: import("../core/store/link.js").State) => string} format  a link as a query string
 */
/** @typedef {import("../core/figure/types.js").Context & PageAdditions} PageServices */

// Why a model does not support something: the reasons of the API, in the reader's language.

/** @type {Record<string, (t: Translate) => string>} */
const REASONS = {
  "weights-only": (t) => t("Of this model’s attention only the weights are known."),
  "no-head": (t) => t("This model has no language-modelling head: it reads a text and predicts nothing."),
  "reads-only": (t) => t("This model is an encoder: it reads a text and writes none."),
  "masks-only": (t) => t("This model predicts the words at its masks, not a text."),
  "no-mask-token": (t) => t("The tokenizer of this model has no mask token."),
  "one-text": (t) => t("This model reads a single text."),
  "unknown-layers": (t) => t("What the layers of this model add up to is not known."),
  "not-a-sum": (t) => t("The logits of this model are not a sum of contributions."),
  "no-table": (t) => t("This model adds no table of positions to its input."),
  "other-positions": (t) => t("This model adds its positions in every layer."),
  "other-scoring": (t) => t("The scores of this model are not a multiple of q · k."),
  "unknown-scores": (t) => t("The scores of this model are not known to be a sum of products."),
  "own-code": (t) => t("This model computes its attention in code of its own."),
  "mixes-positions": (t) => t("This model mixes positions outside attention, so padding would change its numbers."),
  "no-means": (t) => t("The means of this model’s heads are not known."),
  "no-template": (t) => t("This model has no chat template."),
  "bad-template": (t) => t("The chat template of this model cannot be used."),
  "reads-on": (t) => t("This model is a decoder: it reads one text from left to right."),
  "source-and-target": (t) => t("The second text of this model is the target, which it writes."),
  "no-pair-template": (t) => t("The tokenizer of this model puts nothing between two texts."),
  "too-few-types": (t) => t("The tokenizer of this model gives two texts a token type that the model lacks."),
  "some-layers": (t) => t("This figure has only some layers of the model."),
  "no-snapshots": (t) => t("This model has no snapshots of its training."),
};

/**
 * @param {Translate} t
 * @param {string} reason
 * @returns {string}  "" for one that the page does not know
 */
const reasonSaid = (t, reason) => (Object.hasOwn(REASONS, reason) ? REASONS[reason](t) : "");

// A note above a view of a share whose model is gone: not everything was frozen, with a link to
// what was.

/** @param {Page} page  Whether the view that is open cannot show all that it does. */
const lacks = (page) => isMissingFromShare(page, view(page.link.view));

/**
 * The view with which the share was created, or its attention, which every share has.
 * @param {Page} page
 */
function savedPlace(page) {
  const { share, model, link } = page;
  if (!share || !model) return undefined;
  const { view: open, block, layer, head, query = null, key = null, options } = fittedLink(mergeStates(DEFAULTS, stateOfShare(share.state, OPTIONS)), model, view);
  const saved = mergeStates(link, { view: open, block, layer, head, query, key, options });
  return [saved, { ...saved, view: "attention" }].find((savedLink) => !lacks({ ...page, link: savedLink }));
}

/** @param {Context} context */
function bindUnfrozen({ store, t }) {
  const back = h("button", { type: "button", className: "button" }, t("Show what was saved"));
  const line = h("div", { className: "not-frozen", role: "status", hidden: true }, h("p", {}, wording(t, new Problem("frozen"))), back);
  find(".figure").before(line);
  back.addEventListener("click", () => {
    const savedLink = savedPlace(store.get());
    if (savedLink) store.go(savedLink, "chosen");
  });
  const show = () => {
    const page = store.get();
    line.hidden = !lacks(page);
    if (!line.hidden) back.hidden = !savedPlace(page);
  };
  store.subscribe((page) => page, show);
  show();
}

// A note above a view that replaces one that is not offered.

/** @param {PageServices} services */
function bindUnoffered({ store, t }) {
  const line = h("p", { className: "not-offered", role: "status", hidden: true });
  find(".saying").before(line);
  const show = () => {
    const { unoffered, link, model, trace } = store.get();
    line.hidden = unoffered === null;
    if (unoffered === null) return;
    const names = { wanted: view(unoffered).name(t), open: view(link.view).name(t) };
    const unofferedView = view(unoffered);
    const closed = unofferedView.blocks === hasVectors && !blocks(model).some(hasVectors);
    if (isLong(trace)) {
      const tokens = Math.max(...Object.values(trace?.tokens ?? {}).map(({ length }) => length));
      line.textContent = t("“{wanted}” shows texts of up to {limit} tokens; this one has {tokens}. This is “{open}”.", { ...names, limit: LONGEST, tokens });
      return;
    }
    if (!closed && unofferedView.blocks === hasVectors && attentionAt(model, place(model, link))?.qk === false) {
      line.textContent = t("No q and k in this layer: only its weights are known. This is “{open}”.", names);
      return;
    }
    const why = reasonSaid(t, whyNot(unofferedView, { model, link }) ?? "");
    if (closed) line.textContent = t("No q and k here: of this model’s attention only the weights are known. This is “{open}”.", names);
    else if (why) line.textContent = t("“{wanted}” cannot be shown here. {why} This is “{open}”.", { ...names, why });
    else line.textContent = t("“{wanted}” cannot be shown here; this is “{open}”.", names);
  };
  store.subscribe(({ unoffered, link, model, trace }) => [unoffered, link.view, link.block, link.layer, model, trace?.id], show);
  show();
}

// The height of the page's main figure: as high as fits on the screen.

/** @type {import("../core/figure/types.js").Measure} */
function screenful(element) {
  const place = element.getBoundingClientRect();
  const wide = window.innerWidth >= 900;
  const bar = /** @type {HTMLElement | null} */ (document.querySelector(".thumbbar"))?.offsetHeight ?? 0;
  const changes = /** @type {HTMLElement | null} */ (document.querySelector("#changes"));
  const covered = changes && getComputedStyle(changes).position === "fixed" ? changes.offsetHeight : 0;
  const available = window.innerHeight - (place.top + window.scrollY) - bar - covered;
  return {
    width: Math.floor(place.width),
    height: wide ? Math.max(360, available - 40) : Math.max(220, available - 16),
    wide,
  };
}

/**
 * Resize it when the elements above it or the window change.
 * @param {import("../views/create-figure.js").Figure} figure
 */
function bindScreen({ resize }) {
  const observer = new ResizeObserver(resize);
  document.querySelectorAll(".band, .projector-bar, #changes").forEach((place) => observer.observe(place));
  // In projector mode, a caption of two lines leaves less space for the figure; otherwise the page
  // scrolls.
  const wraps = new ResizeObserver(() => document.documentElement.hasAttribute("data-projector") && resize());
  wraps.observe(find(".saying"));
  window.addEventListener("resize", resize);
}

/** @param {PageServices} services */
export function bindStage(services) {
  bindUnfrozen(services);
  bindUnoffered(services);
  bindScreen(services.figure);
  tabs(services);
}

/**
 * What surrounds a view, as attributes of the root for stylesheets.
 * @param {View} view
 */
function surround({ id, frame: { rail, inspector, caption, folds } }) {
  const { dataset } = document.documentElement;
  Object.assign(dataset, { view: id, rail });
  dataset.folds = folds ? "yes" : "no";
  dataset.inspector = inspector ? "yes" : "no";
  dataset.caption = caption ? "yes" : "no";
}

/** The offered views in groups, each with its purpose. @param {PageServices} services */
function tabs({ store, t, figure }) {
  const place = find("#views");
  const legend = find("legend", place);

  function show() {
    const before = place.querySelector(":checked");
    const open = view(store.get().link.view).id;
    const offer = figure.offer();
    const groups = GROUPS.map((viewGroup) => ({ ...viewGroup, views: viewGroup.views.filter((view) => offer.includes(view) || absent(view, offer)) }));
    render(place, legend, groups.map((viewGroup) => viewGroup.views.some((view) => offer.includes(view)) && group(viewGroup, open, offer)));
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

  /** @param {import("../views/view-group-purposes.js").Group} group @param {string} open @param {View[]} offer */
  function group({ id, name, about, views }, open, offer) {
    const names = Object.fromEntries(views.filter((view) => offer.includes(view)).map((view) => [view.id, view.name(t)]));
    const purpose = el("p", { id: `views-${id}`, className: "purpose" }, el("b", {}, name(t)), " ", el("span", {}, about(t)));
    const shut = views.filter((view) => !offer.includes(view)).map((view) => closed(view, offer));
    const choice = el("div", { className: "choice" }, radios("choice-view", names, open), shut);
    return el("div", { key: id, className: "group", role: "group", title: `${name(t)}: ${about(t)}`, "aria-labelledby": `views-${id}` }, purpose, choice);
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

// The page's main figure, and what surrounds it.

/**
 * Create the page's main figure, and the context for the chrome around it.
 * @param {Omit<import("../views/create-figure.js").Plan, "root" | "page">} plan
 * @param {import("../core/wire/api.js").Api} api
 * @param {{messages?: import("../lib/i18n.js").Messages, plotly?: string}} [words]  of
 *   `createPageContext`
 * @returns {PageServices}
 */
export function createPageServices(plan, api, words) {
  const page = createPageContext(window, { ...words, live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  const figure = createFigure({
    root: find("#view"),
    page,
    name: "",
    main: true,
    measure: screenful,
    legend: find("#legend"),
    caption: find("#caption"),
    onView: surround,
    ...plan,
  });
  const { onTheme, restyle } = page;
  return { ...figure.context, figure, api, onTheme, restyle, format: (link) => format(link, OPTIONS) };
}
