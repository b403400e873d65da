/**
 * A figure of a lesson as a link that opens it in its place in the lesson: a share of what it shows,
 * or its state.
 */

import { createShortLink } from "../core/page/short-link.js";
import { Problem, failure } from "../core/wire/problem.js";
import { h } from "../lib/dom.js";
import { whileBusy } from "../lib/timing.js";
import { wording } from "../core/figure/problem-wording.js";
import { currentUrl } from "../core/store/address.js";

/** @import { Desk } from "../pages/learn.js" */
/** @typedef {Pick<Desk, "page" | "api"> & {lesson?: string}} OfFigure  lesson: absent outside of lessons */
/** @typedef {{url: string, says: string, beside?: HTMLElement[]}} Made */

/**
 * The button that makes a link, and the panel that shows it.
 * @param {Pick<Desk, "page">} desk
 * @param {() => Made | Promise<Made>} make
 */
function createFigureLink({ page }, make) {
  const panel = createShortLink(page);
  const button = h("button", { type: "button", className: "button quiet", onclick: () => void show() }, page.t("Link"));

  async function show() {
    const made = await whileBusy(async () => make(), button).catch(failure);
    if (made instanceof Problem) return panel.fail(wording(page.t, made), button);
    panel.show(made.url, made.says, { opener: button, beside: made.beside });
  }

  return { button, panel: panel.element };
}

/**
 * A link with the numbers of a share; null outside of lessons.
 * @param {OfFigure} desk
 * @param {HTMLElement} element  the figure
 * @param {() => Parameters<Desk["api"]["share"]>[0]} contents  of a share of what it shows
 */
export function linkOfShare({ page, api, lesson }, element, contents) {
  if (!lesson) return null;
  const { t } = page;
  return createFigureLink({ page }, async () => {
    const { url } = await api.share(contents());
    const says = t("Anyone with the link sees this lesson with your sentence in this figure.");
    return { url: inLesson(url, lesson, element.id), says, beside: [h("a", { className: "button", href: url }, t("Only the figure"))] };
  });
}

/**
 * A link with the state of a figure; null outside of lessons.
 * @param {OfFigure} desk
 * @param {HTMLElement} element  the figure
 * @param {() => string} shows  its state; "": what the lesson has
 */
export function linkOfState({ page, lesson }, element, shows) {
  if (!lesson) return null;
  return createFigureLink({ page }, () => ({
    url: String(new URL(pathOf(`/learn/${lesson}`, shows(), element.id), currentUrl(window))),
    says: page.t("Anyone with the link sees this lesson with this figure as it is now."),
  }));
}

/**
 * The path of a page with the state of one of its figures.
 * @param {string} path
 * @param {string} shows  "": what the page has
 * @param {string} id  of the figure, or of the scene that it is in; "": none
 */
export const pathOf = (path, shows, id) => path + (shows && `?${new URLSearchParams({ shows })}`) + (id && `#${id}`);

/**
 * The link of a share, with the lesson around it.
 * @param {string} url  of the share
 * @param {string} lesson
 * @param {string} figure  its id
 */
function inLesson(url, lesson, figure) {
  const link = new URL(url);
  const id = link.pathname.split("/").at(-1) ?? "";
  link.pathname = link.pathname.replace(/\/s\/\w+$/, `/learn/${lesson}`);
  link.search = String(new URLSearchParams({ share: id }));
  link.hash = figure;
  return String(link);
}
