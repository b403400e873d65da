/**
 * A lesson in front of a class: large letters, and a presenter's remote that goes from one scene to
 * the next, and from one lesson to the next. The mode is part of the link.
 */

import { barHeight } from "../room/room.js";
import { createPresentingBar, createSpeaker } from "./presenting.js";
import { find } from "../lib/dom.js";
import { throttle } from "../lib/timing.js";
import { REMOTE, TURNS, isPlainKey } from "../core/figure/pointing.js";
import { readFragment, readQuery, writeQuery } from "../core/store/address.js";
import { GAP, scenesOf, stopsOf } from "./presentation-scenes.js";

/** What needs the arrows for itself. */
const TAKES = "input, textarea, select, figure, .predict";
/** The part of a window by which a tall figure is scrolled. */
const WINDOW = 0.85;
/** Milliseconds between two looks at what is on the screen while it scrolls. */
const PACE = 200;
/** Letters of a text in the speaker's window. */
const LONGEST = 240;
/** The end of a lesson, in a link. */
const END = "end";

/** What the speaker sees of a scene. @param {import("./presentation-scenes.js").Scene} scene @returns {import("./presenting.js").Scene} */
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
