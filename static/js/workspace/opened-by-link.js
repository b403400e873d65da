/**
 * A page that was opened by a link: the header says what the link shows, and on a phone the sheet
 * with the numbers of a pinned cell is closed, so that the sentence and the figure are seen first.
 * Both end with the reader's first step. Otherwise the header says what the page, or a model of
 * the zoo, is for.
 */

import { shownPart } from "../core/store/model-part-names.js";
import { taskDoes } from "../core/store/examples-and-tasks.js";
import { find } from "../lib/dom.js";
import { view as viewNamed } from "../views/index.js";

/** @import { Origin, Page } from "../core/store/store.js" */
/** @import { PageServices } from "./main-figure.js" */

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
