/** What any lecture has: its buttons, and the presenter's side of the speaker's notes. */

import { h } from "../lib/dom.js";
import { debounce } from "../lib/timing.js";

// The buttons fade while the pointer rests, since they cover a part of the screen; a movement or the
// Tab key brings them back.

/** Milliseconds without a movement after which the buttons fade. */
const FADE_AFTER = 3_000;

/**
 * @param {import("../lib/i18n.js").Translate} t
 * @param {object} of
 * @param {(by: number) => void} of.turn
 * @param {() => void} of.leave
 * @param {HTMLElement} of.notes  the button that opens the speaker's notes
 * @param {HTMLElement[]} [of.place]  says which slide is shown
 */
export function createPresentingBar(t, { turn, leave, notes, place = [] }) {
  const button = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ onclick) =>
    h("button", { type: "button", className: "button", "aria-label": label, onclick }, sign);
  const bar = h(
    "div",
    { className: "presenting", role: "group", "aria-label": t("Projector") },
    button("‹", t("Previous slide"), () => turn(-1)),
    ...place,
    button("›", t("Next slide"), () => turn(1)),
    notes,
    h("button", { type: "button", className: "button quiet", onclick: leave }, t("Leave (Esc)")),
  );
  const fade = debounce(() => bar.classList.add("resting"), FADE_AFTER);

  function wake() {
    bar.classList.remove("resting");
    fade.later();
  }
  for (const moved of ["pointermove", "pointerdown", "focusin"]) window.addEventListener(moved, wake, { passive: true });
  fade.later();
  // A click leaves no focus behind, which would keep the buttons from resting.
  bar.addEventListener("click", ({ detail }) => detail && /** @type {HTMLElement} */ (document.activeElement)?.blur());
  return bar;
}

// The presenter's side of the speaker's notes. They are in a second window of the same browser; both
// move together, without a server.

/**
 * @typedef {object} Scene
 * @property {string} title
 * @property {string} says  the caption or the question
 * @property {string[]} notes  paragraphs, for the speaker only
 * @property {string} picture  its address; "": none
 */
/**
 * What is sent to the notes.
 * @typedef {{kind: "scenes", title: string, scenes: Scene[], at: number} | {kind: "at", at: number} | {kind: "moved", to: string} | {kind: "left"}} SpeakerMessage  moved: to
 * the page with this path
 */
/** What the notes send. @typedef {{kind: "hello"} | {kind: "turn", by: number}} SpeakerRequest */

/** The name of the channel of a page. @param {string} path */
export const channelOf = (path) => `speaker ${path}`;

/**
 * @param {object} of
 * @param {import("../lib/i18n.js").Translate} of.t
 * @param {() => Scene[]} of.scenes
 * @param {(by: number) => void} of.turn  goes to another scene
 */
export function createSpeaker({ t, scenes, turn }) {
  const { pathname } = window.location;
  const channel = new BroadcastChannel(channelOf(pathname));
  const { lang } = document.documentElement;
  const button = h("button", { type: "button", className: "button quiet", onclick: open }, t("Notes"));
  let present = -1;

  function open() {
    const query = new URLSearchParams({ of: pathname, lang: lang.startsWith("zh") ? "zh" : "en" });
    const opened = window.open(`/speaker?${query}`, "headlight-speaker", "popup,width=1000,height=700");
    opened?.focus();
  }

  /** @param {SpeakerMessage} message */
  const tell = (message) => channel.postMessage(message);
  const tellAll = () => tell({ kind: "scenes", title: document.title, scenes: scenes(), at: present });

  channel.addEventListener("message", ({ data }) => {
    if (present < 0) return;
    const request = /** @type {SpeakerRequest} */ (data);
    if (request.kind === "hello") tellAll();
    if (request.kind === "turn") turn(request.by);
  });
  window.addEventListener("pagehide", () => present >= 0 && tell({ kind: "left" }));

  return {
    /** Opens the notes. */
    button,
    /** Call with the scene on the screen, from 0. @param {number} n */
    at(n) {
      const first = present < 0;
      present = n;
      if (first) tellAll();
      else tell({ kind: "at", at: n });
    },
    /** Call before the presentation goes on at another page. @param {string} to  its path */
    goes(to) {
      if (present >= 0) tell({ kind: "moved", to });
      present = -1;
    },
    /** Call when nothing is presented any more. */
    leave() {
      if (present >= 0) tell({ kind: "left" });
      present = -1;
    },
  };
}
