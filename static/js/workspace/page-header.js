/** The top of the page: its title, its other language, the menu of models, and notices. */

import { NO_B } from "../compare-models/model-comparison.js";
import { problemOf } from "../core/figure/figure-status.js";
import { examplesOf, taskDoes } from "../core/store/examples-and-tasks.js";
import { modelLabel, modelsByTask, shownPart, taskHeading, taskOf } from "../core/store/model-part-names.js";
import { el, find, render } from "../lib/dom.js";
import { view as viewNamed } from "../views/index.js";

/** @import { Origin, Page } from "../core/store/store.js" */
/** @import { ModelInfo } from "../core/wire/model-description.js" */
/** @import { PageServices } from "./main-figure.js" */

/** @param {PageServices} context */
export function bindTitleAndLanguage({ store, format }) {
  const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));
  const name = document.title;
  const titled = document.querySelector(".about h2") !== null; // keep the author's title
  function show() {
    const { link } = store.get();
    const sentence = link.source.trim().slice(0, 60);
    otherLanguage.href = "?" + format({ ...link, lang: otherLanguage.hreflang });
    document.title = titled || !sentence ? name : `${sentence} · Headlight`;
  }
  // Do not write a fragment into the address, which describes what is on the screen.
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#view").focus();
  });
  store.subscribe(({ link }) => link, show);
  show();
}

// Choose the model: those that translate, and those of the zoo, grouped by task.

/**
 * @param {PageServices} context
 * @param {() => Promise<ModelInfo[]>} models  all models being served, the default first
 */
export function bindModelMenu({ store, t }, models) {
  const menu = /** @type {HTMLSelectElement} */ (find("#model"));
  const sides = [find("label[for='source']"), document.querySelector(".band .side + .side .name")];
  const usual = sides.map((sideLabel) => sideLabel?.textContent ?? "");
  /** @type {ModelInfo[]} */
  let list = [];

  menu.addEventListener("change", () => {
    const [before, after] = [store.get().model, list.find(({ id }) => id === menu.value)];
    if (after) store.go({ ...linkForModel(store.get().link, before, after), model: after.id === list[0].id ? null : after.id }, "chosen");
  });

  function show() {
    const { model, share, link } = store.get();
    const zoo = model?.zoo;
    const names = zoo ? [t("Input"), t("Answer")] : usual;
    sides.forEach((sideLabel, i) => sideLabel && (sideLabel.textContent = names[i]));
    // The model of a share cannot be changed.
    menu.hidden = list.length < 2 || share !== null;
    menu.value = (list.find(({ id }) => id === (link.model ?? "")) ?? list[0])?.id ?? "";
  }

  store.subscribe(({ link, model, share }) => [link.model, model, share], show);
  show();
  // Without a list there is no menu; the failure is reported by the request to the model.
  void models().then((served) => {
    list = served;
    render(menu, modelsByTask(served).map(({ task, models: members }) => el("optgroup", { label: taskHeading(t, task) }, members.map((sideLabel) => el("option", { value: sideLabel.id }, modelLabel(t, sideLabel))))));
    show();
  }, () => {});
}

/**
 * The link for another model: with the same text if it learned the same task, else with its first
 * example, which a model that was compared with may not read. Pins and changes are removed, because
 * they belonged to the other model.
 * @param {import("../core/store/link.js").State} link
 * @param {ModelInfo | null} before
 * @param {ModelInfo} after
 * @returns {Partial<import("../core/store/link.js").State>}
 */
export function linkForModel(link, before, after) {
  const alike = before !== null && taskOf(before) === taskOf(after) && !after.prompts?.length;
  const source = alike && link.source.trim() ? link.source : (examplesOf(after, link.lang)[0]?.text ?? "");
  const options = alike ? link.options : { ...link.options, ...NO_B };
  return { source, options, direction: alike ? link.direction : null, target: null, interventions: null, pad_to: null, query: null, key: null };
}

// Notices outside the figure: at the sentence box, for an empty sentence, and for the network.

/** @type {() => import("../core/figure/figure-status.js").Places} */
export const notices = () => ({
  root: document.documentElement,
  busy: find("#stage"),
  message: find("#problem-text"),
  line: find("#problem"),
  retry: find("#retry"),
});

/** @param {import("./main-figure.js").PageServices} services */
export function bindProblems({ store, figure }) {
  function show() {
    const { status, problem } = store.get();
    find("#empty").hidden = status !== "empty";
    find("#source").setAttribute("aria-invalid", String(status === "failed" && problem?.kind !== "stopped"));
  }
  // The sentence box, when it loses the focus, folds and would move the button away.
  find("#retry").addEventListener("mousedown", (event) => event.preventDefault());
  window.addEventListener("online", () => problemOf(store.get())?.kind === "offline" && figure.retry());
  store.subscribe(({ status, problem }) => [status, problem], show);
  show();
}

// A page that was opened by a link: the header says what the link shows, and on a phone the sheet with the
// numbers of a pinned cell is closed, so that the sentence and the figure are seen first. Both end with the
// reader's first step. Otherwise the header says what the page, or a model of the zoo, is for.

/** Changes that are not the reader's: the link's own, and what the server's replies complete. @type {Origin[]} */
const BY_ITSELF = ["link", "answer"];

/**
 * @param {PageServices} services
 * @param {boolean} byLink  whether the page was opened by a link
 */
export function bindArrival({ store, t }, byLink) {
  const root = document.documentElement;
  const tagline = find(".tagline");
  const purpose = tagline.textContent ?? "";

  function show() {
    const page = store.get();
    const { model } = page;
    const arrived = root.hasAttribute("data-arrived") && !page.share;
    tagline.textContent = tagline.title =
      arrived && model ? t("A link: {what}.", { what: linkTarget(page, t) }) : model?.zoo ? taskDoes(t, model.zoo.task) : purpose;
  }

  function end() {
    root.removeAttribute("data-arrived");
    show();
  }

  root.toggleAttribute("data-arrived", byLink);
  find("#pair-open").addEventListener("click", () => {
    end();
    find("#unpin").focus();
  });
  store.subscribe(({ link }) => link, (_, __, origin) => BY_ITSELF.includes(origin) || end());
  store.subscribe(({ link, model, share }) => [link, model, share], show);
  show();
}

/**
 * What a link shows: where the reader chooses a head, which one it is.
 * @param {Page} page
 * @param {PageServices["t"]} t
 */
function linkTarget({ model, link }, t) {
  const isOfHead = viewNamed(link.view).frame.rail === "both";
  return shownPart(model, isOfHead ? link : {}, t);
}

/**
 * Whether the page was opened by a link to a sentence or a view, and not reloaded or returned to.
 * @param {Window} window
 * @param {Partial<import("../core/store/link.js").State>} requested
 */
export function isOpenedByLink({ performance }, { source, view }) {
  const [{ type = "navigate" } = {}] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  return type === "navigate" && (source !== undefined || view !== undefined);
}
