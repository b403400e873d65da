/** A lesson in front of a class: its scenes, and the projector with a presenter's remote that goes through them. */

import { REMOTE, TURNS, isPlainKey } from "../core/figure/pointing.js";
import { currentUrl, isReload, readFragment, readQuery, writeQuery } from "../core/store/address.js";
import { find } from "../lib/dom.js";
import { debounce, throttle } from "../lib/timing.js";
import { barHeight, bindRoom } from "../room/room.js";
import { pathOf } from "./lesson-address.js";
import { createPresentingBar, createSpeaker } from "./presenting.js";

/** @import { Pointer } from "../core/wire/requests-by-subject.js" */
/** @import { Asks } from "../room/room.js" */

// The scenes of a lesson or a collection (each figure or question with the prose before it) in a room:
// which one is on the screen, what its figure shows, and what is pointed at in it.

/** Pixels above a scene, and by which the page may miss one. */
const GAP = 12;
const BLOCK = ".live, .predict";
/** The part of a window below which prose is no stop of its own. */
const LINE = 0.15;

/** @typedef {{parts: HTMLElement[], block: HTMLElement | null}} Scene  block: its figure or question */

/** @param {HTMLElement} article @returns {Scene[]} */
export function scenesOf(article) {
  /** @type {Scene[]} */
  const scenes = [{ parts: [], block: null }];
  for (const element of /** @type {HTMLElement[]} */ ([...article.children])) {
    if (element.matches("nav.beside")) continue;
    const block = element.matches(BLOCK);
    const last = scenes[scenes.length - 1];
    const begins = last.block || element.matches("h2") || (block && scenes.length === 1);
    const scene = begins ? { parts: [], block: null } : last;
    if (begins) scenes.push(scene);
    scene.parts.push(element);
    if (block) scene.block = element;
  }
  return scenes;
}

/**
 * Where a remote stops in a scene: at its beginning, and at its figure if the window cannot show both.
 * @param {Scene} scene
 * @param {number} height  of the window
 * @returns {HTMLElement[]}
 */
function stopsOf({ parts, block }, height) {
  const [first, last] = [parts[0], parts[parts.length - 1]];
  const top = first.getBoundingClientRect().top;
  const whole = last.getBoundingClientRect().bottom - top + 2 * GAP <= height;
  const near = block && block.getBoundingClientRect().top - top < LINE * height;
  return whole || near || !block ? [first] : [first, block];
}

/**
 * Where a scene is in the window: its beginning, or its figure if it begins above.
 * @param {Scene} scene
 */
export function topOf({ parts, block }) {
  const top = parts[0].getBoundingClientRect().top;
  return top < 0 && block ? block.getBoundingClientRect().top : top;
}

// What is pointed at in the figures of a page of scenes. A figure is named by its scene: it need not
// be the presented one, and nobody's page is moved to it.

/** The figure of a scene, which may be the scene itself. @param {Element | null | undefined} scene */
const figureOf = (scene) => (scene?.matches(".live") ? scene : (scene?.querySelector(".live") ?? null));

/** @param {HTMLElement[]} scenes @param {import("./figures.js").LiveFigures} figures */
function bindPointed(scenes, figures) {
  /** @type {Pointer | null} */
  let target = null;
  /** The figure in which something was highlighted. @type {import("../core/figure/pointing.js").Pointing | null} */
  let lit = null;

  function apply() {
    const figure = target && figures.of(figureOf(scenes.find(({ id }) => id === target?.figure)));
    const next = figure?.pointing ?? null;
    if (lit && lit !== next) lit.show(null);
    lit = next;
    if (target) next?.show({ query: target.query, key: target.key });
  }

  figures.onArrive((figure) => target && figureOf(scenes.find(({ id }) => id === target?.figure)) === figure && apply());
  return {
    /** @returns {Pointer | null} */
    pointer() {
      const pointed = figures.pointed();
      const scene = pointed && scenes.find((element) => element.contains(pointed.figure));
      return pointed && scene ? { figure: scene.id, ...pointed.lit } : null;
    },
    /** @param {Pointer | null} pointer */
    point(pointer) {
      target = pointer;
      apply();
    },
    onPoint: figures.onPoint,
  };
}

/**
 * @typedef {object} Plan
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("../core/wire/api.js").Api} api
 * @property {HTMLElement} root  of the page
 * @property {string} path  of the page
 * @property {HTMLElement[]} scenes  in order, each with an id
 * @property {import("./figures.js").LiveFigures} figures
 * @property {(scene: HTMLElement) => number} [topOf]  where a scene begins in the window
 * @property {() => Element | null} [turned]  the scene on the screen, where only one is shown;
 *   null: several are
 * @property {(scene: HTMLElement | null) => void} [turn]  go to a scene; default: scroll
 * @property {(listener: () => void) => void} [onTurn]
 * @property {(scene: Element | null) => string} says  what a scene is, in one line
 * @property {(scene: Element | null) => Asks | null} [own]  the question that a scene is
 * @property {(scene: Element | null) => Asks[]} [prepared]  questions that were written for a scene
 * @property {(question: Asks) => void} [asked]  called with each question that is asked
 * @property {import("../room/room.js").Presentable["wording"]} [wording]
 * @property {Pick<import("./questions.js").LessonQuestions, "revealed" | "reveal" | "onReveal">} [questions]  that the page itself asks
 * @property {Pick<import("./questions.js").Veils, "isVeiled" | "lift" | "onLift">} [veils]  of its figures
 */

/**
 * Milliseconds between two looks at what is on the screen, after which a gesture is over, and after
 * the last figure until a page that was loaded again stands still.
 */
const [PACE, GESTURE, SETTLED] = [200, 1_500, 3_000];
/** What an address may name on its own: then the page shows that, and not what the room has. */
const NAMED = ["shows", "share", "item"];
/** In the link of a room: the presenter sees the figure, so that the others see it too. */
const UNVEILED = "unveiled";
/** Likewise the questions whose answers the presenter has shown, wherever she is on the page since. */
const REVEALED = "revealed";

/** @param {Plan} plan */
export function bindScenes({ page, api, root, path, scenes, figures, topOf = top, turned = () => null, turn = scrollTo, onTurn = () => {}, says: describe, own: questionOf = () => null, prepared = () => [], asked: onAsked, wording, questions, veils }) {
  let scene = "";
  /** What the presented scene's figure shows. */
  let presentedState = { scene: "", shows: "" };
  /** A scene whose figure the reader has changed, until they scroll on. @type {{scene: HTMLElement, y: number} | null} */
  let changedScene = null;
  /** Whether the page was loaded again and is still being brought to where the room is. */
  let resuming = false;
  const settled = debounce(() => (resuming = false), SETTLED);
  const still = watchGestures(() => (resuming = false));
  const follows = () => document.documentElement.matches("[data-room], [data-driven]");
  const waits = () => (follows() || (resuming && !turned())) && still();
  const present = () => scenes.find(({ id }) => id === scene) ?? null;

  /** @param {string} link */
  function read(link) {
    const { pathname, searchParams, hash } = new URL(link, window.location.origin);
    const named = hash.length > 1 || NAMED.some((name) => searchParams.has(name));
    return { isThisPage: pathname === path, scene: hash.slice(1), shows: searchParams.get("shows") ?? "", named, isUnveiled: searchParams.has(UNVEILED), revealed: (searchParams.get(REVEALED) ?? "").split(" ").filter(Boolean) };
  }

  /** Show in the scene's figure what is presented, once it is created. */
  function apply() {
    if (presentedState.scene === scene) figures.of(figureOf(present()))?.go(presentedState.shows);
  }

  /** What the scene's figure shows, or will show once it is created. */
  function showing() {
    const figure = figures.of(figureOf(present()));
    return figure ? figure.shows() : presentedState.scene === scene ? presentedState.shows : "";
  }

  /** @type {import("../room/room.js").Presentable} */
  const presented = {
    ...bindPointed(scenes, figures),
    link() {
      const figure = present();
      const isUnveiled = veils && figure?.dataset.after && !veils.isVeiled(figure);
      return pathOf(path, { shows: showing(), [UNVEILED]: isUnveiled ? "1" : "", [REVEALED]: questions?.revealed().join(" ") ?? "" }, scene);
    },
    resume(link) {
      const [target, requested] = [read(link), read(currentUrl(window))];
      const isSame = requested.scene === target.scene && requested.shows === target.shows;
      if (!target.isThisPage || !(isReload(window) || isSame || !requested.named)) return;
      resuming = true;
      settled.later();
      scene = ""; // the browser may have scrolled to it, which opens nothing
      presented.show(link);
    },
    show(link) {
      const target = read(link);
      if (!target.isThisPage) return false;
      presentedState = target;
      if (target.scene !== scene) {
        scene = target.scene;
        turn(present());
      }
      apply();
      const figure = present();
      if (figure && target.isUnveiled) veils?.lift(figure);
      target.revealed.forEach((question) => questions?.reveal(question));
      return true;
    },
    onChange(listener) {
      const check = throttle(() => {
        if (changedScene && Math.abs(window.scrollY - changedScene.y) > window.innerHeight / 2) changedScene = null;
        const now = (turned() ?? changedScene?.scene ?? sceneInView(scenes, topOf))?.id ?? "";
        // What a figure that has arrived pushes down was not moved by the reader.
        if (now === scene || waits()) return;
        scene = now;
        listener();
      }, PACE);
      window.addEventListener("scroll", check.later, { passive: true });
      onTurn(check.later);
      veils?.onLift((figure) => figure === present() && !follows() && listener());
      questions?.onReveal(() => !follows() && listener());
      figures.onChange((figure) => {
        const changed = scenes.find((element) => element.contains(figure));
        changedScene = changed ? { scene: changed, y: window.scrollY } : null;
        scene = changed?.id ?? scene;
        listener();
      });
    },
    says(link) {
      const target = read(link);
      return target.isThisPage ? describe(scenes.find(({ id }) => id === target.scene) ?? null) : page.t("another page");
    },
    askable() {
      const current = present();
      const question = questionOf(current);
      return { own: question, figure: figures.of(figureOf(current))?.query?.() ?? null, questions: [...(question && !prepared(current).includes(question) ? [question] : []), ...prepared(current), ...(figures.of(figureOf(current))?.questions() ?? [])] };
    },
  };
  if (wording) presented.wording = wording;
  if (onAsked) presented.asked = onAsked;
  if (questions) presented.revealed = questions.reveal;
  figures.onArrive((figure) => {
    if (resuming) settled.later();
    if (figure === figureOf(present())) apply(); // another one has changed nothing in it
  });
  // Figures above the scene change its place when they arrive.
  new ResizeObserver(() => waits() && !turned() && scene && turn(present())).observe(root);
  bindRoom(page, api, presented, root);
}

/**
 * The first scene that begins in the upper half of the window, so that a question is not skipped
 * for the figure below it; otherwise the one that began above; null: the beginning.
 * @param {HTMLElement[]} scenes
 * @param {(scene: HTMLElement) => number} topOf
 */
function sceneInView(scenes, topOf) {
  const tops = scenes.map(topOf);
  const above = tops.findLastIndex((top) => top < window.innerHeight / 2);
  const first = tops.findIndex((top) => top >= -GAP);
  return scenes[first >= 0 && first < above ? first : above] ?? null;
}

/** @param {HTMLElement} element */
const top = (element) => element.getBoundingClientRect().top;

/** @param {HTMLElement | null} scene  null: the beginning */
export function scrollTo(scene) {
  window.scrollTo({ top: scene ? scene.getBoundingClientRect().top + window.scrollY - barHeight() - GAP : 0, behavior: "instant" });
}

/**
 * @param {() => void} listener  called at each gesture
 * @returns {() => boolean}  whether the reader has moved nothing for some time
 */
function watchGestures(listener) {
  let moved = -Infinity;
  const hear = () => ((moved = performance.now()), listener());
  for (const gesture of ["wheel", "touchmove", "pointerdown", "keydown"]) window.addEventListener(gesture, hear, { passive: true });
  return () => performance.now() - moved > GESTURE;
}

// A lesson in front of a class: large letters, and a presenter's remote that goes from one scene to the
// next, and from one lesson to the next. The mode is part of the link.

/** What needs the arrows for itself. */
const TAKES = "input, textarea, select, figure, .predict";
/** The part of a window by which a tall figure is scrolled. */
const WINDOW = 0.85;
/** Letters of a text in the speaker's window. */
const LONGEST = 240;
/** The end of a lesson, in a link. */
const END = "end";

/** What the speaker sees of a scene. @param {Scene} scene @returns {import("./presenting.js").Scene} */
function speakerScene({ parts, block }) {
  const element = block ?? parts.find((part) => part.matches("h1, h2")) ?? parts[0];
  const textOf = (/** @type {string} */ selector) => element.querySelector(selector)?.textContent?.trim() ?? "";
  const template = /** @type {HTMLTemplateElement | null} */ (element.querySelector("template.speaker-notes"));
  const notes = [...(template?.content.children ?? [])].map((line) => line.textContent ?? "");
  const title = textOf(".asks") || textOf("figcaption > span") || (element.textContent ?? "").trim();
  return { title: title.length > LONGEST ? `${title.slice(0, LONGEST)} …` : title, says: "", notes, picture: element.dataset.picture ?? "" };
}

/** @param {import("../core/figure/types.js").PageContext & {restyle: () => void}} page */
export function bindProjector({ t, announce, restyle }) {
  const scenes = scenesOf(find("#lesson"));
  const speaker = createSpeaker({ t, scenes: () => scenes.map(speakerScene), turn: (by) => on() && turn(by) });
  const root = document.documentElement;
  const button = document.querySelector("#projector");
  find("#learn").append(createPresentingBar(t, { turn, leave: () => set(false), notes: speaker.button }));
  const on = () => root.hasAttribute("data-projector");

  /** @param {boolean} turnOn @param {boolean} [aloud] */
  function set(turnOn, aloud = true) {
    if (on() === turnOn) return;
    root.toggleAttribute("data-projector", turnOn);
    restyle();
    if (turnOn) speaker.at(present());
    else speaker.leave();
    const query = new URLSearchParams(readQuery(window));
    if (turnOn) query.set("projector", "1");
    else query.delete("projector");
    writeQuery(window, String(query));
    if (aloud) announce(turnOn ? t("Projector mode. Page Down goes to the next figure or question, Escape leaves.") : t("Left projector mode."));
  }

  /** The scene at the top of the window; at the end of the page the last one. */
  function present() {
    if (window.scrollY + window.innerHeight >= root.scrollHeight - GAP) return scenes.length - 1;
    return Math.max(0, scenes.findLastIndex(({ parts: [first] }) => first.getBoundingClientRect().top <= barHeight() + 3 * GAP));
  }

  /** To the next stop below the top of the window or the last one above it, or to another lesson. @param {number} by */
  function turn(by) {
    const before = window.scrollY;
    const height = window.innerHeight - barHeight();
    const tops = scenes.flatMap((scene) => stopsOf(scene, height)).map((stop) => stop.getBoundingClientRect().top - barHeight() - GAP);
    const top = by > 0 ? tops.find((position) => position > GAP) : tops.findLast((position) => position < -GAP);
    // What is taller than the window is shown a window at a time, so that nothing is skipped.
    const distance = top === undefined || Math.abs(top) > height ? WINDOW * height * by : top;
    window.scrollBy({ top: distance, behavior: "instant" });
    if (window.scrollY === before) leaf(by);
  }

  /** To the next lesson, or to the end of the one before. @param {number} by */
  function leaf(by) {
    const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector(`.beside > .${by > 0 ? "next" : "previous"}`));
    if (!link || find("#learn").dataset.room) return;
    const next = new URL(link.href);
    next.searchParams.set("projector", "1");
    if (by < 0) next.hash = END;
    speaker.goes(next.pathname);
    window.location.assign(next);
  }

  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target } = event;
    const place = target instanceof Element ? target : null;
    if (!isPlainKey(event)) return;
    if (key === "Escape" && on() && !event.defaultPrevented) return set(false);
    if (key.toLowerCase() === "p" && !place?.closest("input, textarea, select")) return set(!on());
    if (!on() || !TURNS[key] || (!REMOTE[key] && place?.closest(TAKES))) return;
    event.preventDefault();
    if (!event.repeat) turn(TURNS[key]);
  }

  const follow = throttle(() => on() && speaker.at(present()), PACE);
  window.addEventListener("scroll", follow.later, { passive: true });
  button?.addEventListener("click", () => set(true));
  document.addEventListener("keydown", pressed);
  const end = readFragment(window) === END; // entering the mode rewrites the address
  if (new URLSearchParams(readQuery(window)).get("projector") === "1") set(true, false);
  if (on() && end) stayAtEnd();
}

/** Stay at the end of the lesson while its figures arrive, until the reader moves. */
function stayAtEnd() {
  const observer = new ResizeObserver(() => window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" }));
  observer.observe(find("#lesson"));
  for (const moved of ["keydown", "wheel", "touchmove", "pointerdown"]) window.addEventListener(moved, () => observer.disconnect(), { once: true, passive: true });
}
