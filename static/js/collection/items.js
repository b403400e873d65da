/**
 * The items of a collection: opened one by one, as a lecture with one item on the screen at a time, and
 * in a room.
 */

import { headingOf } from "../ask/own-questions.js";
import { REMOTE, TURNS, isPlainKey } from "../core/figure/pointing.js";
import { readQuery, writeQuery } from "../core/store/address.js";
import { openFigure } from "../learn/figures.js";
import { createPresentingBar, createSpeaker } from "../learn/presenting.js";
import { bindScenes, scrollTo } from "../learn/presentation-scenes.js";
import { find, h } from "../lib/dom.js";

/** @import { LiveFigures } from "../learn/figures.js" */
/** @import { KeptItem } from "../core/wire/schemas.d.ts" */

/** @typedef {{element: HTMLElement, picture: string, open: () => Promise<void>}} Item  picture: its address; "": none */

/** @param {Parameters<typeof openFigure>[0]} services @param {LiveFigures} figures @returns {Item[]} */
export function bindItems(services, figures) {
  return [...document.querySelectorAll("#items > .item")].map((element) => bindItem(services, /** @type {HTMLElement} */ (element), figures));
}

/** @param {Parameters<typeof openFigure>[0]} services @param {HTMLElement} element @param {LiveFigures} figures @returns {Item} */
function bindItem(services, element, figures) {
  const figure = /** @type {HTMLElement | null} */ (element.querySelector(".live"));
  const start = /** @type {HTMLButtonElement | null} */ (element.querySelector(".start"));
  const picture = element.querySelector("img");
  let opened = false;

  async function open() {
    if (!figure || !start || opened || figures.of(figure)) return;
    opened = true;
    start.dataset.busy = "yes";
    opened = await openFigure(services, figure, figures);
    delete start.dataset.busy;
  }

  start?.addEventListener("click", open);
  // A link whose picture cannot be drawn can still be opened, which says why.
  picture?.addEventListener("error", () => element.classList.add("no-picture"));
  return { element, picture: picture?.src ?? "", open };
}

// A collection as a lecture: one item on the screen at a time, with a presenter's remote, after a
// title. The mode and the item are part of the link.

/** What needs the arrows for itself. */
const TAKES = "input, textarea, select, figure .view, .lab-figure, dialog";

/**
 * @param {import("../core/figure/types.js").PageContext & {restyle: () => void}} page
 * @param {Item[]} items
 * @param {{title: string, owned: KeptItem[]}} of  owned: the items with private notes, if the reader is the owner
 */
export function bindSlides({ t, announce, restyle }, items, { title, owned }) {
  const root = document.documentElement;
  const head = /** @type {HTMLElement | null} */ (document.querySelector(".collection-head"));
  const count = h("output", {});
  const speaker = createSpeaker({ t, scenes: () => scenes(t, items, title, owned), turn: (by) => on() && go(position + by) });
  const bar = createPresentingBar(t, { turn: (by) => go(position + by), leave, notes: speaker.button, place: [count] });
  document.querySelector("#learn")?.append(bar);
  /** @type {Set<() => void>} */
  const listeners = new Set();
  /** The item on the screen, from 1; 0: the title. */
  let position = 0;
  const on = () => root.hasAttribute("data-projector");

  /** @param {number} to */
  function go(to) {
    position = Math.max(0, Math.min(to, items.length));
    items.forEach(({ element }, i) => element.toggleAttribute("data-current", i + 1 === position));
    head?.toggleAttribute("data-current", position === 0);
    count.textContent = `${position} / ${items.length}`;
    writeAddress();
    window.scrollTo(0, 0);
    const place = position ? items[position - 1].element.querySelector("h2") : head;
    /** @type {HTMLElement | null} */ (place)?.focus({ preventScroll: true });
    if (position) void items[position - 1].open();
    speaker.at(position);
    listeners.forEach((listener) => listener());
  }

  /** @param {number} [first] */
  function enter(first = 0) {
    root.toggleAttribute("data-projector", true);
    restyle();
    go(first);
    announce(t("Projector mode. Page Down goes to the next item, Escape leaves."));
  }

  function leave() {
    root.removeAttribute("data-projector");
    restyle();
    const last = position && items[position - 1].element;
    position = 0;
    writeAddress();
    if (last) last.scrollIntoView();
    announce(t("Left projector mode."));
    speaker.leave();
    document.querySelector("#projector") instanceof HTMLElement && /** @type {HTMLElement} */ (document.querySelector("#projector")).focus({ preventScroll: true });
  }

  /** Write the address. */
  function writeAddress() {
    const query = new URLSearchParams(readQuery(window));
    for (const [name, value] of [["projector", on() ? "1" : ""], ["item", on() && position ? String(position) : ""]]) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    writeQuery(window, String(query));
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target } = event;
    const place = target instanceof Element ? target : null;
    if (!items.length || !isPlainKey(event) || document.querySelector("#editor:not([hidden])")) return;
    if (key === "Escape" && on() && !event.defaultPrevented) return leave();
    if (key.toLowerCase() === "p" && !place?.closest("input, textarea, select")) return on() ? leave() : enter();
    if (!on() || !TURNS[key] || (!REMOTE[key] && place?.closest(TAKES))) return;
    event.preventDefault();
    go(position + TURNS[key]);
  }

  document.querySelector("#projector")?.addEventListener("click", () => enter());
  document.addEventListener("keydown", pressed);
  const parameters = new URLSearchParams(readQuery(window));
  if (items.length && parameters.get("projector") === "1") enter(Number(parameters.get("item")) || 0);
  return {
    on,
    at: () => position,
    go,
    enter,
    /** Call a listener when another item is on the screen. @param {() => void} listener */
    onTurn: (listener) => void listeners.add(listener),
  };
}

/**
 * What the speaker sees of the title and of each item.
 * @param {import("../lib/i18n.js").Translate} t
 * @param {Item[]} items
 * @param {string} title
 * @param {KeptItem[]} owned
 * @returns {import("../learn/presenting.js").Scene[]}
 */
function scenes(t, items, title, owned) {
  const lines = (/** @type {ParentNode} */ of, /** @type {string} */ selector) => [...of.querySelectorAll(selector)].flatMap((element) => (element.textContent ?? "").split("\n")).map((line) => line.trim()).filter(Boolean);
  const opening = { title, says: "", notes: lines(document, ".collection-head .claim"), picture: "" };
  const privateLines = (/** @type {KeptItem} */ { minutes = null, private: privately = "", questions = [] }) => [minutes ? t("{n} min", { n: minutes }) : "", ...privately.split("\n"), ...questions.map(({ ask: about }) => t("Question: {words}", { words: headingOf(t, about) }))].filter((line) => line.trim());
  const itemScenes = items.map(({ element, picture }, i) => ({
    title: lines(element, "h2").join(" "),
    says: lines(element, "figcaption > span").join(" "),
    notes: [...lines(element, ".note"), ...(owned[i] ? privateLines(owned[i]) : [])],
    picture,
  }));
  return [opening, ...itemScenes];
}

/**
 * @param {Pick<import("../pages/learn.js").LessonServices, "page" | "api">} services
 * @param {string} id
 * @param {Item[]} items
 * @param {ReturnType<typeof bindSlides>} slides
 * @param {import("../learn/figures.js").LiveFigures} figures
 * @param {KeptItem[]} owned  the items with their questions, if the reader is the owner
 */
export function bindCollectionRoom({ page, api }, id, items, slides, figures, owned) {
  const root = find("#learn");
  /** Prepared questions that were asked since the page was opened. @type {Set<import("../room/room.js").Asks>} */
  const askedQuestions = new Set();
  const questions = owned.map(({ questions: prepared = [] }) => prepared.map(({ ask: about }) => /** @type {import("../room/room.js").Asks} */ (about)));
  const scenes = items.map(({ element }) => element);
  if (root.dataset.screen === "yes") slides.enter();

  /** @param {HTMLElement | null} scene */
  function turn(scene) {
    const index = scene ? scenes.indexOf(scene) : -1;
    if (slides.on()) return slides.go(index + 1);
    void items[index]?.open();
    scrollTo(scene);
  }

  /** @param {Element | null} scene */
  const prepared = (scene) => questions[scenes.findIndex((element) => element === scene)] ?? [];

  bindScenes({
    prepared,
    own: (scene) => prepared(scene).find((question) => !askedQuestions.has(question)) ?? null,
    asked: (question) => void askedQuestions.add(question),
    page,
    api,
    root,
    path: `/c/${id}`,
    scenes,
    figures,
    // The title is a slide as well.
    turned: () => (slides.on() ? (scenes[slides.at() - 1] ?? root) : null),
    turn,
    onTurn: slides.onTurn,
    says: (scene) => (scene?.querySelector("h2") ?? find(".collection-head h1")).textContent?.trim() ?? "",
  });
}
