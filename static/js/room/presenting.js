/**
 * The presenter's side of a room: its bar, its dialogs and its questions. The teacher opens a room
 * and can hand over the driver's seat; the driver can only present.
 */

import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";
import { throttle, whileBusy } from "../lib/timing.js";
import { createAsking } from "./asking.js";
import { barContent, button, createCodeDialog, createHandoverDialog, inOwnLanguage } from "./bar.js";
import { createCounting, createMembersDialog, createRoomMenu, saveAnswers } from "./members.js";
import { createPickedWork, pathOf } from "./member-works.js";
import { createAnswering } from "./question.js";
import { createWall } from "./wall.js";
import { forgetRoom, isHeld, memberToken, presentedRoom, rememberRoom, setHeld, setPresentedRoom } from "./room-storage.js";
import { SHUT, connectWhileVisible, createRoomStream } from "./room-stream.js";

/** @import { RoomState, RoomAccess } from "../core/wire/requests-by-subject.js" */

// What a presenter's page sends.

/** In milliseconds: between two states that are sent, and before trying again. */
const [PACE, AGAIN] = [150, 2_000];
/** Kinds of problems after which the room can no longer be presented in. */
const FINAL = new Set(["unknown-room", "wrong-room-key"]);

/**
 * Sends the newest state, one request at a time.
 * @param {import("../core/wire/api.js").Api} api
 * @param {() => RoomAccess | null} room  null: nothing is sent at present
 * @param {import("./room.js").Presentable} presented
 * @param {() => RoomState["picked"]} picked  whose work it is; null: nobody's
 * @param {(reply: Problem | import("../core/wire/requests-by-subject.js").RoomState) => void} onReply
 */
function createScreenSender(api, room, presented, picked, onReply) {
  let sent = "";
  let sending = false;
  const pace = throttle(() => void send(), PACE);

  async function send() {
    const to = room();
    if (!to || sending) return;
    const state = { link: presented.link(), pointer: presented.pointer?.() ?? null, picked: picked() };
    const key = JSON.stringify([to.code, state]);
    if (key === sent) return;
    sending = true;
    const reply = await api.present(to, state).catch(failure);
    sending = false;
    onReply(reply);
    const failed = reply instanceof Problem ? reply : null;
    if (!failed) sent = key;
    else if (FINAL.has(failed.kind) || !failed.passing) return;
    setTimeout(pace.later, failed ? AGAIN : 0);
  }

  return {
    send: pace.later,
    /** Send the state even if it was sent before: someone else has presented since. */
    again() {
      sent = "";
      pace.later();
    },
  };
}

// One page that presents in a room: it sends what is on its screen, or, while someone else drives,
// shows what they present.

/** @typedef {ReturnType<typeof createPresenter>} Presenter */
/**
 * @typedef {object} PresentingState
 * @property {boolean} handed  whether someone presents from the driver's seat
 * @property {boolean} closed  whether the room is closed to newcomers
 * @property {boolean} away  whether the teacher looks at something else meanwhile
 * @property {boolean} holding  whether the class keeps what it saw, while the teacher prepares
 * @property {boolean} paused  whether nobody explores
 * @property {boolean} shows  whether a member's work is presented
 * @property {Problem | null} problem
 * @property {import("../core/wire/schemas.d.ts").QuestionReply | null | undefined} question
 */

/**
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./room.js").Presentable} presented
 * @param {import("../core/wire/requests-by-subject.js").RoomAccess} access
 * @param {object} how
 * @param {boolean} how.resumes  whether the room was open before this page was loaded
 * @param {() => void} how.changed
 * @param {(why: Problem | null) => void} how.ended  called when this page can no longer present; a
 *   Problem "wrong-room-key" if the seat was taken back
 */
function createPresenter(api, presented, access, { resumes, changed, ended }) {
  const driver = access.driver ?? false;
  /** @type {RoomState | null} */
  let last = null;
  /** @type {Problem | null} */
  let problem = null;
  let away = false;
  let over = false;
  let holding = !driver && isHeld(access.code);
  const picked = createPickedWork(access.code, presented);
  const drives = () => !over && last !== null && (driver || !last.handed);
  const screenSender = createScreenSender(api, () => (drives() && !holding ? access : null), presented, picked.current, onReply);
  const reader = { member: driver ? memberToken() : null, exploring: false };
  const stream = createRoomStream(api, access.code, () => reader, {
    hear,
    failed: (failed) => ((problem = failed), changed()),
    reconnected: () => ((problem = null), changed()),
    // Twenty screens already follow; the teacher's page can do without the stream.
    ended: () => !SHUT.has(problem?.kind ?? "") && end(problem),
  });

  /** @param {RoomState} state */
  function hear(state) {
    problem = null;
    if (last && state.seq <= last.seq) return changed();
    const [drove, first, handed] = [drives(), last === null, last?.handed];
    last = state;
    if (driver && handed && !state.handed) return end(new Problem("wrong-room-key"));
    if (!drives()) follow();
    else if (first) begin(state);
    else if (!drove) screenSender.again();
    changed();
  }

  /** @param {RoomState} state  the first that was heard */
  function begin({ link }) {
    if (resumes && !holding && !picked.current()) presented.resume?.(link);
    screenSender.send();
  }

  /** @param {Problem | RoomState} reply  to what was sent */
  function onReply(reply) {
    if (!(reply instanceof Problem)) return hear(reply);
    problem = reply;
    if (FINAL.has(reply.kind)) end(reply);
    else changed();
  }

  /** @param {Problem | null} why */
  function end(why) {
    if (over) return;
    over = true;
    stream.stop();
    ended(why);
  }

  /** Show what the driver presents. */
  function follow() {
    if (away || !last) return;
    const { link, pointer } = last;
    if (presented.show(link)) presented.point?.(pointer);
    else if (pathOf(link) !== window.location.pathname) window.location.assign(inOwnLanguage(link));
  }

  return {
    start: () => connectWhileVisible(stream, () => over),
    stop() {
      over = true;
      stream.stop();
    },
    /** To be called when the reader changes what is on the screen. */
    moved() {
      picked.clear();
      if (drives()) return screenSender.send();
      if (!last || driver || away) return;
      away = true;
      changed();
    },
    pointed: screenSender.send,
    receive: onReply,
    /** @param {import("../core/wire/schemas.d.ts").Work} work  a member's, to be shown to everyone @param {string} words  of thanks */
    pick(work, words) {
      holding = false;
      setHeld(access.code, false);
      if (!picked.show(work, words)) return;
      screenSender.again();
      changed();
    },
    /** Show again what was on the screen before a member's work. */
    unpick() {
      picked.goBack();
      screenSender.again();
      changed();
    },
    /** Follow the driver again. */
    back() {
      away = false;
      follow();
      changed();
    },
    /** Show the class nothing new, or what is on the screen now. @param {boolean} holds */
    hold(holds) {
      if (holding === holds) return;
      holding = holds;
      setHeld(access.code, holds);
      if (!holds) screenSender.again();
      changed();
    },
    /** Take the seat back; the driver gives it back. */
    async takeBack() {
      away = false;
      const failed = await api.takeBack(access).then(() => null, failure);
      if (failed) onReply(failed);
    },
    /** @returns {PresentingState} */
    state: () => ({ handed: Boolean(last?.handed), closed: Boolean(last?.closed), paused: Boolean(last?.paused), shows: picked.current() !== null, away, holding, problem, question: last?.question }),
    last: () => last,
  };
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./room.js").Presentable} presented
 * @param {HTMLElement} root  of the page; the bar becomes its first element
 */
export function bindPresenting(page, api, presented, root) {
  const { t, announce } = page;
  const bar = h("section", { className: "room-bar teaching", "aria-label": t("Room"), hidden: true });
  const [dialog, handoverDialog] = [createCodeDialog(page), createHandoverDialog(page)];
  const members = createMembersDialog(page, api, { room: () => room, asked: () => Boolean(presenter?.state().question) });
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-present]"));
  root.prepend(bar);
  let room = presentedRoom();
  const driver = room?.driver ?? false;
  bar.classList.toggle("driving", driver);
  /** @type {Presenter | null} */
  let presenter = null;
  /** @type {import("../core/wire/schemas.d.ts").ClassReply | null} */
  let counts = null;
  let ending = false;
  const counting = createCounting(api, () => room, (classCounts) => {
    counts = classCounts;
    void asking?.count(classCounts);
    void wall?.read();
    show();
  });
  const asking = driver ? null : createAsking(page, api, presented, { root, bar, room: () => room, heard: (state) => presenter?.receive(state), drawn: show, pick: (work, words) => presenter?.pick(work, words) });
  const panel = asking ?? createAnswering(page, api, { presented, root, bar, code: room?.code ?? "", member: memberToken() });
  const control = createRoomControl(api, () => room, handoverDialog, (reply) => presenter?.receive(reply));
  const wall = driver ? null : createWall(page, api, presented, { root, bar, room: () => room, state: () => presenter?.last() ?? null, onReply: (reply) => presenter?.receive(reply), pick: (work, words) => presenter?.pick(work, words) });
  const menu = createRoomMenu(page, api, {
    room: () => room,
    handOver: () => void control.handOver(),
    members: () => void members.open(),
    end: () => ((ending = true), show()),
  });

  async function open() {
    if (room) return dialog.open(room);
    const opened = await whileBusy(() => api.openRoom(presented.link()).catch(failure), ...buttons);
    if (opened instanceof Problem) return tell(wording(t, opened));
    rememberRoom(opened);
    setPresentedRoom(opened);
    begin(opened, false);
    dialog.open(opened);
    announce(t("The room is open. Its code is {code}.", { code: [...opened.code.toUpperCase()].join(" ") }));
  }

  /** @param {RoomAccess} access @param {boolean} resumes  whether the room was open before */
  function begin(access, resumes) {
    room = access;
    presenter = createPresenter(api, presented, access, { resumes, changed, ended });
    presenter.start();
    if (!driver) counting.start();
    show();
  }

  function changed() {
    if (!presenter) return;
    const { handed, holding, question, shows } = presenter.state();
    if (holding && question?.stage === "revealed") return presenter.hold(false); // what the answer is about is shown
    document.documentElement.toggleAttribute("data-driven", handed && !driver);
    if (question) wall?.close();
    panel.show(question, shows);
    show();
  }

  async function end() {
    const failed = room && (await api.endRoom(room).then(() => null, failure));
    if (failed && failed.kind !== "unknown-room") presenter?.receive(failed);
    else ended(null);
  }

  /** @param {Problem | null} why */
  function ended(why) {
    if (!room) return;
    const { code, url } = room;
    presenter?.stop();
    setPresentedRoom(null);
    if (driver && why?.kind === "wrong-room-key") return window.location.replace(url); // follow the class again
    if (!driver) forgetRoom(code);
    room = presenter = counts = null;
    ending = false;
    counting.stop();
    panel.show(null);
    wall?.close();
    document.documentElement.removeAttribute("data-driven");
    for (const dialogToClose of [dialog, handoverDialog, members]) dialogToClose.close();
    tell(why ? wording(t, why) : t("The room has ended."));
  }

  const tell = (/** @type {string} */ words) => showNotice(page, bar, words);

  function show() {
    bar.hidden = !room;
    if (!room || !presenter) return;
    const asks = asking?.offers() ?? "none";
    bar.toggleAttribute("data-held", presenter.state().holding);
    render(bar, barContent(page, { ...presenter.state(), room, ending, asks, counts, menu: menu.element }, act));
  }

  /** @type {import("./bar.js").BarActions} */
  const act = {
    ask: () => asking?.choose(),
    askOwn: () => asking?.askOwn(),
    code: () => room && dialog.open(room),
    takeBack: () => void presenter?.takeBack(),
    back: () => presenter?.back(),
    hold: (holds) => presenter?.hold(holds),
    pause: (paused) => void control.pause(paused),
    wall: () => wall?.toggle(),
    unpick: () => presenter?.unpick(),
    end: () => void end(),
    keep: () => ((ending = false), show()),
    save: () => void saveAnswers(api, room),
  };

  buttons.forEach((presentButton) => presentButton.addEventListener("click", open));
  presented.onChange(() => {
    presenter?.moved();
    show();
  });
  presented.onPoint?.(() => presenter?.pointed());
  if (room) begin(room, true);
}

/**
 * What a teacher does with the whole room.
 * @param {import("../core/wire/api.js").Api} api
 * @param {() => RoomAccess | null} room
 * @param {ReturnType<typeof createHandoverDialog>} handoverDialog
 * @param {(reply: Problem | RoomState) => void} onReply
 */
function createRoomControl(api, room, handoverDialog, onReply) {
  return {
    /** @param {boolean} paused  whether nobody explores */
    async pause(paused) {
      const of = room();
      if (of) onReply(await api.adjustRoom(of, { paused }).catch(failure));
    },
    async handOver() {
      const of = room();
      const handover = of && (await api.handOver(of).catch(failure));
      if (handover instanceof Problem) onReply(handover);
      else if (handover) handoverDialog.open(handover);
    },
  };
}

/**
 * Say something without a room.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {HTMLElement} bar
 * @param {string} words
 */
function showNotice({ t, announce }, bar, words) {
  announce(words);
  bar.hidden = false;
  render(bar, el("p", { className: "says" }, words), button(t("Close"), () => (bar.hidden = true)));
}
