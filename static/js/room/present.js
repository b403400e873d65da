/**
 * The presenter's side of a room: its bar, its dialogs and its questions. The teacher opens a room
 * and can hand over the driver's seat; the driver can only present.
 */

import { Problem, failure } from "../core/wire/problem.js";
import { forgetRoom, memberToken, presentedRoom, rememberRoom, setPresentedRoom } from "./room-storage.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { whileBusy } from "../lib/while-busy.js";
import { wording } from "../core/figure/problem-wording.js";
import { createAnswering } from "./answering.js";
import { createAsking, saveAnswers } from "./asking.js";
import { barOf, button } from "./bar.js";
import { createCodeDialog } from "./code.js";
import { createMembersDialog } from "./members.js";
import { createRoomMenu } from "./menu.js";
import { createPresenter } from "./presenter.js";
import { createSeatDialog } from "./seat.js";
import { createCounting } from "./sender.js";

/** @import { Seat } from "../core/wire/rooms.js" */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./types.js").Presentable} presented
 * @param {HTMLElement} root  of the page; the bar becomes its first element
 */
export function bindPresenting(page, api, presented, root) {
  const { t, announce } = page;
  const bar = h("section", { className: "room-bar teaching", "aria-label": t("Room"), hidden: true });
  const [dialog, seats] = [createCodeDialog(page), createSeatDialog(page)];
  const members = createMembersDialog(page, api, { room: () => room, asked: () => Boolean(presenter?.sight().question) });
  const buttons = /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-present]"));
  root.prepend(bar);
  /** @type {Seat | null} */
  let room = presentedRoom();
  const driver = room?.driver ?? false;
  bar.classList.toggle("driving", driver);
  /** @type {import("./presenter.js").Presenter | null} */
  let presenter = null;
  /** @type {import("../core/wire/rooms.js").ClassCounts | null} */
  let counts = null;
  let ending = false;
  const counting = createCounting(api, () => room, (found) => {
    counts = found;
    void asking?.count(found);
    show();
  });
  const asking = driver ? null : createAsking(page, api, presented, { root, bar, room: () => room, heard: (state) => presenter?.told(state), drawn: show });
  const panel = asking ?? createAnswering(page, api, { presented, root, bar, code: room?.code ?? "", member: memberToken() });
  const menu = createRoomMenu(page, api, {
    room: () => room,
    handOver: () => void handOver(),
    members: () => void members.open(),
    end: () => ((ending = true), show()),
  });

  async function open() {
    if (room) return dialog.open(room);
    const made = await whileBusy(() => api.openRoom(presented.link()).catch(failure), ...buttons);
    if (made instanceof Problem) return tell(wording(t, made));
    rememberRoom(made);
    setPresentedRoom(made);
    begin(made, false);
    dialog.open(made);
    announce(t("The room is open. Its code is {code}.", { code: [...made.code.toUpperCase()].join(" ") }));
  }

  /** @param {Seat} seat @param {boolean} resumes  whether the room was open before */
  function begin(seat, resumes) {
    room = seat;
    presenter = createPresenter(api, presented, seat, { resumes, changed, ended });
    presenter.start();
    if (!driver) counting.start();
    show();
  }

  function changed() {
    if (!presenter) return;
    const { handed, question } = presenter.sight();
    document.documentElement.toggleAttribute("data-driven", handed && !driver);
    panel.show(question);
    show();
  }

  async function handOver() {
    const made = room && (await api.handOver(room).catch(failure));
    if (made instanceof Problem) presenter?.told(made);
    else if (made) seats.open(made);
  }

  async function end() {
    const failed = room && (await api.endRoom(room).then(() => null, failure));
    if (failed && failed.kind !== "unknown-room") presenter?.told(failed);
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
    document.documentElement.removeAttribute("data-driven");
    for (const one of [dialog, seats, members]) one.close();
    tell(why ? wording(t, why) : t("The room has ended."));
  }

  const tell = (/** @type {string} */ words) => say(page, bar, words);

  function show() {
    bar.hidden = !room;
    if (!room || !presenter) return;
    const asks = asking?.offers() ?? "none";
    render(bar, barOf(page, { ...presenter.sight(), room, ending, asks, counts, menu: menu.element }, act));
  }

  /** @type {import("./bar.js").Act} */
  const act = {
    ask: () => asking?.choose(),
    askOwn: () => asking?.askOwn(),
    code: () => room && dialog.open(room),
    takeBack: () => void presenter?.takeBack(),
    back: () => presenter?.back(),
    end: () => void end(),
    keep: () => ((ending = false), show()),
    save: () => void saveAnswers(api, room),
  };

  buttons.forEach((one) => one.addEventListener("click", open));
  presented.onChange(() => {
    presenter?.moved();
    show();
  });
  presented.onPoint?.(() => presenter?.pointed());
  if (room) begin(room, true);
}

/**
 * Say something without a room.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {HTMLElement} bar
 * @param {string} words
 */
function say({ t, announce }, bar, words) {
  announce(words);
  bar.hidden = false;
  render(bar, el("p", { className: "says" }, words), button(t("Close"), () => (bar.hidden = true)));
}
