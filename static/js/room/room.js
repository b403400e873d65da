/** Rooms on a page: the teacher's bar, or a student's if the page is opened in a room. */

import { wording } from "../core/figure/problem-wording.js";
import { ownQuery } from "../core/store/address.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";
import { TYPED } from "./challenge.js";
import { bindPresenting } from "./presenting.js";
import { createAnswering } from "./question.js";
import { exploredLink, forgetDrafts, isExploring, memberToken, setExploredLink, setExploring } from "./room-storage.js";
import { memberMessage, seenNote } from "./bar.js";
import { createWorkSender, pathOf } from "./member-works.js";
import { SHUT, connectWhileVisible, createRoomStream } from "./room-stream.js";

/** @import { RoomState } from "../core/wire/requests-by-subject.js" */
/**
 * A question as a room is asked it: plain data. `scene` is the id of a lesson's question, which a
 * page with that lesson words itself; `words` are for all others.
 * @typedef {import("../ask/question.js").Question & {scene?: string}} Asks
 */
/**
 * @typedef {object} Askable
 * @property {Asks | null} [own]  the question that is on the screen, if there is one
 * @property {Asks[]} questions  about what is on the screen
 * @property {(ask: (question: Asks) => void) => HTMLElement | null} [form]  makes a form for more
 * @property {string | null} [figure]  the query string of the figure with attention on the screen
 */
/**
 * A page that can be presented: its link can be read and changed.
 * @typedef {object} Presentable
 * @property {() => string} link  path, query and fragment of what is on the screen
 * @property {(link: string) => boolean} show  show a link; false: it is of another page
 * @property {(link: string) => void} [resume]  go on with what the room had when this page was loaded
 * @property {(listener: () => void) => void} onChange  call a listener when the reader changes what
 *   is on the screen
 * @property {(link: string) => string} says  what a link shows, in one line
 * @property {(link: string) => string} [place]  the view, layer and head of a link, in one line
 * @property {() => Askable} askable  what can be asked
 * @property {(scene: string) => {words: Node[], why: Node[]} | null} [wording]  a question of this
 *   page in the reader's language, and what can be learnt from its answer; null: it is of another
 * @property {(scene: string) => void} [revealed]  called when a question of this page was revealed
 * @property {(source: string) => void} [run]  run a sentence
 * @property {(question: Asks) => void} [asked]  called with each question that is asked
 * @property {() => import("../core/wire/requests-by-subject.js").Pointer | null} [pointer]  what the reader points at
 * @property {(pointer: import("../core/wire/requests-by-subject.js").Pointer | null) => void} [point]
 * @property {(listener: () => void) => void} [onPoint]
 */

// A student's side of a room: the page follows what is presented, until the student changes
// something; one button brings it back.

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {Presentable} presented
 * @param {HTMLElement} root  of the page; the bar becomes its first element
 * @param {{code: string, screen?: boolean}} room  screen: without controls, and not counted
 */
function bindFollowing(page, api, presented, root, { code, screen = false }) {
  const { t, announce } = page;
  const bar = h("section", { className: "room-bar", "aria-label": t("Room") });
  const member = screen ? null : memberToken();
  let exploring = !screen && isExploring(code);
  /** @type {RoomState | null} */
  let last = null;
  let over = false;
  /** @type {import("../core/wire/reply.js").Problem | null} */
  let problem = null;
  root.prepend(bar);
  document.documentElement.dataset.room = screen ? "screen" : "member";
  root.inert = screen; // not on the wall: a hover or a key there would show what nobody presents
  if (screen) window.addEventListener("keydown", (event) => event.stopImmediatePropagation(), { capture: true });

  const panel = createAnswering(page, api, { presented, root, bar, code, member, fold: (folds) => (folds && explore(true), show()), drawn: () => show(), isPaused: () => Boolean(last?.paused) });
  if (screen) countAnswers(api, code, panel);
  const work = createWorkSender(api, code, member, { link: presented.link, explores: () => exploring });

  const stream = createRoomStream(api, code, () => ({ member, exploring }), {
    hear(state) {
      const wasSeen = (last?.wall ?? "closed") !== "closed";
      const handedIn = last?.question?.entry === "work" && last.question.stage === "first" && state.question?.stage !== "first";
      last = state;
      problem = null;
      if (state.paused && exploring) setTimeout(pause, TYPED);
      if (handedIn && exploring) explore(false); // the class looks at the works
      if (!exploring && !state.over) follow(state);
      panel.show(state.over ? null : state.question, Boolean(state.picked));
      if (state.paused) panel.fold(false);
      freeze(Boolean(state.paused) && !state.over);
      work.hear(state);
      if (!wasSeen && state.wall !== "closed" && !screen) announce(t("Your teacher sees what you explore."));
      show();
    },
    failed(failed) {
      problem = failed;
      show();
    },
    reconnected() {
      problem = null;
      show();
    },
    ended() {
      over = true;
      setExploring(code, false);
      if (!isShut()) forgetDrafts(code);
      panel.show(null);
      announce(ending());
      show();
    },
  });

  /** @param {RoomState} state */
  function follow({ link, pointer }) {
    if (presented.show(link)) presented.point?.(pointer);
    else if (pathOf(link) !== pathOf(root.dataset.roomLink ?? "")) window.location.replace(`?${ownQuery(window)}`);
  }

  /** Show what the class sees; what was explored can be opened again later. */
  function pause() {
    if (!last?.paused || !exploring) return;
    setExploredLink(code, presented.link());
    explore(false);
  }

  /** @param {boolean} frozen  whether nothing can be changed */
  function freeze(frozen) {
    if (!screen && !panel.isOpen()) setInert(root, bar, frozen);
  }

  function resume() {
    const link = exploredLink(code);
    setExploredLink(code, null);
    if (link && presented.show(link)) explore(true);
    else show();
  }

  /** @param {boolean} explores */
  function explore(explores) {
    if (explores && last?.paused && !exploring) return follow(last);
    if (explores) work.moved();
    if (over || screen || exploring === explores) return;
    exploring = explores;
    setExploring(code, explores);
    if (explores && last?.pointer) presented.point?.(null);
    if (!explores && last) follow(last);
    if (explores) setExploredLink(code, null);
    announce(last?.paused ? t("Your teacher has paused exploring.") : explores ? t("You explore on your own.") : t("You are back with the class."));
    show();
    stream.start(); // tells the server
  }

  function show() {
    const isMade = last !== null && (work.isPicked(last) || panel.entrant.isMine(last.picked?.id ?? ""));
    const ended = over ? ending() : null;
    render(bar, memberMessage(page, presented, { code, screen, exploring, ended, isLost: problem !== null, isMade, last }), !screen && !ended && !problem && seenNote(t, last, work.moved), actions());
    bar.dataset.mode = over ? "over" : exploring ? "exploring" : "following";
  }

  const isShut = () => problem !== null && SHUT.has(problem.kind);
  const ending = () => (problem && isShut() ? wording(t, problem) : t("The room has ended."));

  function again() {
    over = false;
    problem = null;
    show();
    stream.start();
  }

  const actions = () => memberButtons(t, { code, screen, exploring, ended: over ? { isShut: isShut(), again } : null, last, panel, link: presented.link, resume, explore });

  presented.onChange(() => explore(true));
  // What is being typed is not overwritten.
  root.addEventListener("input", ({ target }) => target instanceof Element && !target.closest(".room-question, .room-bar") && explore(true), { capture: true });
  connectWhileVisible(stream, () => over);
  show();
}

/**
 * The buttons of a bar that follows a room.
 * @param {import("../lib/i18n.js").Translate} t
 * @param {object} of
 * @param {string} of.code
 * @param {boolean} of.screen
 * @param {boolean} of.exploring
 * @param {{isShut: boolean, again: () => void} | null} of.ended
 * @param {RoomState | null} of.last
 * @param {ReturnType<typeof createAnswering>} of.panel
 * @param {() => string} of.link
 * @param {() => void} of.resume
 * @param {(explores: boolean) => void} of.explore
 */
function memberButtons(t, { code, screen, exploring, ended, last, panel, link, resume, explore }) {
  const question = ended ? null : last?.question;
  if (screen || (question && !panel.isFolded())) return null; // a question covers what could be explored
  if (question) return exploring && question.stage === "first" ? panel.entrant.inBar(question) : null;
  if (ended?.isShut) return el("button", { type: "button", className: "button strong", key: "again", onclick: ended.again }, t("Try again"));
  if (ended) return el("a", { className: "button quiet", key: "own", href: link() }, t("Open as your own page"));
  if (last?.paused) return null;
  if (!exploring && exploredLink(code)) return el("button", { type: "button", className: "button strong", key: "resume", onclick: resume }, t("Back to what I explored"));
  return exploring
    ? el("button", { type: "button", className: "button strong", key: "back", onclick: () => explore(false) }, t("Back to the class"))
    : el("button", { type: "button", className: "button quiet", key: "explore", onclick: () => explore(true) }, t("Explore"));
}

/** Let nothing of a page but its bar be changed. @param {HTMLElement} root @param {HTMLElement} bar @param {boolean} inert */
function setInert(root, bar, inert) {
  for (const child of root.children) if (child instanceof HTMLElement && child !== bar && !child.matches(".room-question, #announce")) child.inert = inert;
}

/** Milliseconds between two counts of a second screen. */
const COUNT = 2_000;

/**
 * A second screen says how many have answered, on whatever computer it is: the number needs no key.
 * @param {import("../core/wire/api.js").Api} api @param {string} code @param {ReturnType<typeof createAnswering>} panel
 */
function countAnswers(api, code, panel) {
  const read = async () => {
    const counts = panel.isOpen() ? await api.answeredCount(code).catch(failure) : null;
    if (counts && !(counts instanceof Problem)) panel.count(counts.answered);
    setTimeout(read, COUNT);
  };
  void read();
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {Presentable} presented
 * @param {HTMLElement} root  of the page, with the room in its data attributes
 */
export function bindRoom(page, api, presented, root) {
  const { room: code, screen } = root.dataset;
  if (code) bindFollowing(page, api, presented, root, { code, screen: screen === "yes" });
  else bindPresenting(page, api, presented, root);
}

/** The height of a room's bar, in pixels: it covers what is at the top of the window. */
export function barHeight() {
  const bar = document.querySelector(".room-bar:not([hidden])");
  return bar instanceof HTMLElement ? bar.offsetHeight : 0;
}
