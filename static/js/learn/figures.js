/**
 * The figures of a lesson, those of the workspace, the lab and the zoo, each created when it comes
 * into view.
 */

import { onPaper } from "../core/draw/matrix-canvas.js";
import { problemLine } from "../core/figure/figure-status.js";
import { wording } from "../core/figure/problem-wording.js";
import { frozen } from "../core/store/data-sources.js";
import { format, mergeStates, parse, stateOfShare } from "../core/store/link.js";
import { additionalContents, stateOf } from "../core/store/share-contents.js";
import { blockOf } from "../core/wire/model-description.js";
import { Problem, failure } from "../core/wire/reply.js";
import { createLabFigure } from "../lab/figure/lab-figure.js";
import { format as formatLab, labOfShare, parse as parseLab, preset, shareState } from "../lab/lab-link.js";
import { find, h, inSight } from "../lib/dom.js";
import { createFigure, linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS, view } from "../views/index.js";
import { bindMap } from "../workspace/model-map.js";
import { createFigureBar, linkOfShare, liveLab, liveModel } from "./figure-controls.js";
import {
  formulaFigure, pairingFigure, replaceStill, unfitMessage, zooFigure,
} from "./formula-zoo-and-pairing-figures.js";
import { linkedState, openAddress } from "./lesson-address.js";
import { trainingFigure } from "./training-figure.js";

/** @import { LessonServices } from "../pages/learn.js" */
/** @import { Asks } from "../room/room.js" */

// The model's map beside a figure: a click goes to another attention, where the same word of each
// text stays selected.

let mapCount = 0;

/**
 * @param {Pick<import("../core/figure/types.js").Context, "store" | "t">} context  of the figure
 * @param {number[]} rows  the row to select, by text in the order of the model's
 */
function createFollowedMap({ store, t }, rows) {
  const map = h("fieldset", { className: "map" }, h("legend", { className: "hidden" }, t("Place in the model")));
  bindMap({ store, t }, () => {}, map, `place-${++mapCount}`);
  store.subscribe(
    ({ link, model }) => [link.block, model],
    ({ link, model }) => {
      const row = model ? rows[model.texts.indexOf(blockOf(model, link.block).query)] : undefined;
      if (row !== undefined && link.query === null) store.go({ query: row }, "answer");
    },
  );
  return map;
}

// The figures of a page that are created so far: what each shows, as a link that can be changed.

/** @typedef {ReturnType<typeof createLiveFigures>} LiveFigures */
/**
 * @typedef {object} LessonFigure
 * @property {() => string} shows  the query string of what it shows; "": what it began with
 * @property {(link: string) => boolean} go  show such a query string; false: it is not one of this
 *   figure, and nothing has changed
 * @property {(listener: () => void) => void} onChange  call a listener when the reader changes it
 * @property {() => Asks[]} questions  what can be asked about what it shows
 * @property {() => string} [query]  what it shows of a sentence, as a query string of the workspace
 * @property {import("../core/figure/pointing.js").Pointing} [pointing]  absent: nothing in it can be pointed at
 */

export function createLiveFigures() {
  /** @type {Map<Element, LessonFigure>} */
  const liveByFigure = new Map();
  /** @typedef {Set<(figure: Element) => void>} Listeners */
  const [arrivals, changes] = [/** @type {Listeners} */ (new Set()), /** @type {Listeners} */ (new Set())];
  /** @type {Set<() => void>} */
  const points = new Set();
  /** The figure that the pointer is in. @type {Element | null} */
  let under = null;
  return {
    /** @param {Element} figure @param {LessonFigure} live */
    arrived(figure, live) {
      liveByFigure.set(figure, live);
      live.onChange(() => changes.forEach((listener) => listener(figure)));
      live.pointing?.listen(() => {
        if (live.pointing?.at()) under = figure;
        else if (under === figure) under = null;
        points.forEach((listener) => listener());
      });
      arrivals.forEach((listener) => listener(figure));
    },
    /** @param {Element | null} figure */
    of: (figure) => (figure && liveByFigure.get(figure)) ?? null,
    /** @param {(figure: Element) => void} listener */
    onArrive: (listener) => void arrivals.add(listener),
    /** @param {(figure: Element) => void} listener */
    onChange: (listener) => void changes.add(listener),
    /** What is pointed at, and in which figure. */
    pointed() {
      const lit = under && liveByFigure.get(under)?.pointing?.at();
      return under && lit ? { figure: under, lit } : null;
    },
    /** @param {() => void} listener */
    onPoint: (listener) => void points.add(listener),
  };
}

/** @param {LessonServices} services */
export function bindFigures(services) {
  const figures = createLiveFigures();
  applyLink(window);
  inSight(document.querySelectorAll("#lesson figure.live"), (element) => openFigure(services, element, figures));
  return figures;
}

/**
 * A link may have a share that is opened in one of the lesson's figures, or a state of one.
 * @param {Window} window
 */
function applyLink(window) {
  const figure = linkedFigure(window);
  if (!figure) return;
  const { parameters } = linkedState(window);
  for (const name of LINKED) if (parameters.get(name)) figure.dataset[name] = parameters.get(name) ?? "";
  figure.scrollIntoView();
}

/** What the address has for a figure. */
const LINKED = ["share", "shows"];

/** The figure that the address has a share or a state for. @param {Window} window */
export function linkedFigure(window) {
  const { id, parameters } = linkedState(window);
  const figure = document.getElementById(id);
  return LINKED.some((name) => parameters.get(name)) && figure?.matches("figure.live") ? figure : null;
}

/**
 * Replace the picture of a figure by the figure: of its link, of its share, or in the state that it
 * is linked in. If it cannot be loaded, the picture stays, with the reason and a button to try again.
 * @param {Pick<LessonServices, "page" | "api" | "source" | "lang"> & {lesson?: string, isServed?: boolean}} services
 * @param {HTMLElement} element
 * @param {LiveFigures} figures  told once it is there
 * @returns {Promise<boolean>}  whether it is there; never rejects
 */
export async function openFigure(services, element, figures) {
  const stand = find(".stand", element);
  const focused = element.contains(document.activeElement);
  element.querySelectorAll(":scope > .problem").forEach((problem) => problem.remove());
  try {
    const live = await MAKERS[kindOf(element)](services, element);
    const { shows } = element.dataset;
    if (shows && !live.go(shows)) prependProblem(element, unfitMessage(services.page.t));
    figures.arrived(element, live);
  } catch (error) {
    stand.querySelectorAll(".coming").forEach((place) => place.remove());
    const failed = problemLine(services.page, () => void openFigure(services, element, figures));
    stand.after(failed.element);
    failed.show(failure(error).first().final());
    return false;
  }
  // The button that had the focus is gone; the figure's first control gets it.
  if (focused && !element.contains(document.activeElement)) firstControl(stand)?.focus({ preventScroll: true });
  return true;
}

/** @param {HTMLElement} stand */
const firstControl = (stand) => [.../** @type {NodeListOf<HTMLElement>} */ (stand.querySelectorAll(":is(input, button, select):enabled, a"))].find((control) => control.checkVisibility());

/** @param {HTMLElement} element  a figure */
function kindOf({ dataset: { page = "", link = "" } }) {
  const parameters = new URLSearchParams(link);
  if (page === "lab" && parameters.has("show")) return "formula";
  return page === "workspace" && parameters.has("opening") ? "pairing" : page;
}

/**
 * How a figure of each kind is made in its `.stand`, hidden (`.coming`) until its first result. One
 * that fails before that throws.
 * @type {Record<string, (services: Parameters<typeof openFigure>[0], element: HTMLElement) => Promise<LessonFigure>>}
 */
const MAKERS = {
  workspace: modelFigure,
  pairing: pairingFigure,
  lab: labFigure,
  formula: formulaFigure,
  zoo: zooFigure,
  train: (services, element) => trainingFigure(services, element, measure),
};

/**
 * Wide enough for words on both axes, and low enough that the surrounding text is visible; on paper
 * as high as the numbers in its cells need.
 * @type {import("../core/figure/types.js").Measure}
 */
const measure = (element) => {
  const width = Math.floor(element.getBoundingClientRect().width);
  if (onPaper(document)) return { width, height: width * 0.75, wide: true };
  const maxHeight = document.documentElement.hasAttribute("data-projector") ? Math.max(window.innerHeight * 0.6, 340) : 520;
  return { width, height: Math.min(Math.max(width * 0.6, 340), maxHeight), wide: width >= 560 };
};

/** @param {Parameters<typeof openFigure>[0]} services @param {HTMLElement} element */
async function modelFigure(services, element) {
  const { page, api, source: server, lang } = services;
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const { initial, source } = await opened(api, server, element, lang, (problem) => reportLostShare(page, element, problem));
  const state = mergeStates(linkTo(), initial, { lang });
  const store = storeOf(state);
  const live = liveModel(store, state, Boolean(element.dataset.share));
  const caption = h("p", { className: "caption" });
  const legend = h("div", { className: "scale" });
  const root = h("div", {});
  const share = linkOfShare(services, element, () => ({ state: stateOf(store.get(), OPTIONS), ...additionalContents(store.get(), view(store.get().link.view)) }), () => live.shows());
  const { rows } = element.dataset;
  const map = rows ? [createFollowedMap({ store, t: page.t }, rows.split(" ").map(Number))] : [];
  const body = h("div", { className: map.length ? "with-map" : "" }, ...map, h("div", {}, h("div", { className: "saying" }, caption, legend), root));
  const message = h("span", {});
  const retry = h("button", { type: "button", className: "button" }, page.t("Try again"));
  const line = h("p", { className: "problem", role: "alert" }, message, " ", retry);
  const place = h("div", { className: "coming" }, createFigureBar(page, store, state, share?.button), ...(share ? [share.panel] : []), line, body);
  stand.append(place);
  const figure = createFigure({ root, store, source, page, caption, legend, measure, status: { root, message, line, retry } });
  store.subscribe(({ link }) => link, ({ link }) => (open.href = openAddress("workspace", format(link, OPTIONS))));
  await figure.run();
  const { trace, problem } = store.get();
  if (problem && !trace) {
    figure.destroy();
    throw problem;
  }
  replaceStill(stand, place);
  return live;
}

/**
 * The state that a figure starts with, and where its numbers come from.
 * @param {LessonServices["api"]} api
 * @param {LessonServices["source"]} server
 * @param {HTMLElement} element
 * @param {string} lang
 * @param {(problem: Problem) => void} tell  why the share cannot be opened; then the link is
 */
async function opened(api, server, { dataset: { link = "", share: id = "" } }, lang, tell) {
  if (!id) return { initial: parse(link, OPTIONS), source: server };
  const share = await api.readShare(id).catch(failure);
  if (share instanceof Problem) {
    tell(share);
    return { initial: parse(link, OPTIONS), source: server };
  }
  const once = { ...api, readShare: async () => share };
  return { initial: stateOfShare(share.state, OPTIONS), source: frozen(once, { id, initial: linkTo({ lang }), options: OPTIONS }) };
}

/** @param {Parameters<typeof openFigure>[0]} services @param {HTMLElement} element @returns {Promise<LessonFigure>} */
async function labFigure(services, element) {
  const { page, api, lang } = services;
  const stand = find(".stand", element);
  const storedShare = element.dataset.share ? await api.readLabShare(element.dataset.share).catch(failure) : null;
  if (storedShare instanceof Problem) reportLostShare(page, element, storedShare);
  const share = storedShare && !(storedShare instanceof Problem) ? labOfShare(storedShare) : null;
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const lab = share?.lab ?? parseLab(element.dataset.link ?? "", preset("identity"));
  const root = h("div", { className: "by-hand" });
  const shareLink = linkOfShare(services, element, () => ({ state: shareState(figure.lab(), lang) }), () => live?.shows() ?? "");
  const bar = h("p", { className: "figure-bar" }, ...(shareLink ? [shareLink.button] : []));
  const place = h("div", { className: "coming" }, root, bar, ...(shareLink ? [shareLink.panel] : []));
  stand.append(place);
  /** @type {ReturnType<typeof liveLab> | null} */
  let live = null;
  /** @type {(problem: Problem | null) => void} */
  let onReply = () => {};
  /** @type {Promise<Problem | null>} */
  const first = new Promise((resolve) => (onReply = resolve));
  const figure = createLabFigure({
    root,
    page,
    lab,
    known: share?.known,
    compute: api.lab,
    onReply,
    choices: element.dataset.choices?.split(" ") ?? false,
    about: element.dataset.about?.split(" "),
    ...(element.dataset.row ? { row: Number(element.dataset.row) } : {}),
    onChange(lab) {
      open.href = openAddress("lab", `${formatLab(lab)}&lang=${lang}`);
      live?.changed();
    },
  });
  bar.prepend(figure.rest);
  const problem = share ? null : await first; // as the steps of a share are
  if (problem) {
    figure.destroy();
    throw problem;
  }
  replaceStill(stand, place);
  return (live = liveLab(figure));
}

/** Say why a figure's share cannot be opened. @param {LessonServices["page"]} page @param {HTMLElement} element @param {Problem} problem */
const reportLostShare = ({ t }, element, problem) => prependProblem(element, wording(t, problem));

/** @param {HTMLElement} element  a figure @param {string} words */
const prependProblem = (element, words) => element.prepend(h("p", { className: "problem", role: "alert" }, words));

// Highlight a symbol of a formula together with the part of a figure that it names: a matrix or a step of
// the lab (`mix:1`: that of its second head), a panel of a worksheet, a symbol of a formula to try, or the
// weights, the queries or the keys of an attention matrix.

const LIT = "data-lit-symbol";
/** Parts of an attention matrix. @type {Record<string, string>} */
const OF_MATRIX = { weights: ".chart", q: ".labels.rows", k: ".labels.cols" };

/** @param {HTMLElement} root */
export function bindSymbols(root) {
  /** @param {string[]} parts */
  function light(parts) {
    root.querySelectorAll(`[${LIT}]`).forEach((element) => element.removeAttribute(LIT));
    for (const part of parts) root.querySelectorAll(placesOf(part)).forEach((element) => element.setAttribute(LIT, ""));
  }
  const named = (/** @type {string} */ part) => root.querySelector(symbolsOf(part)) !== null;
  root.addEventListener("pointerover", ({ target }) => light(partsAt(target, named)));
  root.addEventListener("focusin", ({ target }) => light(partsAt(target, named)));
  root.addEventListener("pointerleave", () => light([]));
}

/** Where a part is shown: in formulas and in figures. @param {string} part */
function placesOf(part) {
  const [name, head] = part.split(":").map((piece) => CSS.escape(piece));
  if (head) return [symbolsOf(part), `.lab-figure [data-of="${name}"] [data-head="${head}"]`].join();
  const places = [symbolsOf(part), `.lab-figure [data-of="${name}"]`, `.panel.${name}`, `.formula-figure [data-symbol="${name}"]`];
  return [...places, ...(OF_MATRIX[part] ? [`.live .matrix > ${OF_MATRIX[part]}`] : [])].join();
}

/** The symbols of a part in formulas. @param {string} part */
const symbolsOf = (part) => `math [data-part~="${CSS.escape(part)}"]`;

/**
 * The parts at a place: a cell of an attention matrix is a weight, of a query and a key.
 * @param {EventTarget | null} target
 * @param {(part: string) => boolean} named  whether a symbol names a part: that of one head goes
 *   before that of all
 */
function partsAt(target, named) {
  if (!(target instanceof Element)) return [];
  const place = target.closest("math [data-part], [data-of], [data-symbol], .panel:is(.q, .k, .v)");
  const attribute = ["data-part", "data-of", "data-symbol"].flatMap((name) => place?.getAttribute(name) ?? [])[0];
  const part = attribute ?? ["q", "k", "v"].find((name) => place?.classList.contains(name));
  const head = target.closest("[data-head]")?.getAttribute("data-head");
  if (part) return head && named(`${part}:${head}`) ? [`${part}:${head}`] : part.split(" ");
  const matrix = target.closest(".live .matrix");
  const within = (/** @type {string} */ selector) => Boolean(target.closest(selector));
  if (!matrix) return [];
  return within(OF_MATRIX.q) ? ["q"] : within(OF_MATRIX.k) ? ["k"] : Object.keys(OF_MATRIX);
}
