/**
 * The bar of a room on the teacher's pages that cannot be presented, such as the zoo: the class keeps
 * what it saw, and one button leads back to it.
 */

import { Problem, failure } from "../core/wire/reply.js";
import { find, h, render } from "../lib/dom.js";
import { barContent, createCodeDialog, createHandoverDialog, inOwnLanguage } from "./bar.js";
import { createCounting, createMembersDialog, createRoomMenu, saveAnswers } from "./members.js";
import { forgetRoom, presentedRoom, setPresentedRoom } from "./room-storage.js";

/** Kinds of problems after which the room is none of this tab's. */
const FINAL = new Set(["unknown-room", "wrong-room-key"]);

/**
 * Show the bar if this tab presents in a room.
 * @param {{page: import("../core/figure/types.js").PageContext, api: import("../core/wire/api.js").Api}} services
 */
export function bindApartFromRoom({ page, api }) {
  let room = presentedRoom();
  if (!room) return;
  const bar = h("section", { className: "room-bar teaching", "aria-label": page.t("Room") });
  const [dialog, handoverDialog] = [createCodeDialog(page), createHandoverDialog(page)];
  const members = createMembersDialog(page, api, { room: () => room, asked: () => false });
  const menu = createRoomMenu(page, api, { room: () => room, handOver: () => void handOver(), members: () => void members.open(), end: () => show({ ending: true }) });
  let state = { handed: false, closed: false, away: true, holding: false, paused: false, shows: false, ending: false, apart: true, counts: /** @type {import("./bar.js").BarState["counts"]} */ (null), problem: /** @type {Problem | null} */ (null), asks: /** @type {const} */ ("none"), menu: menu.element };
  const counting = createCounting(api, () => room, (counts) => show({ counts, problem: null }), fail);
  bar.toggleAttribute("data-held", true);
  find("header.top").before(bar);

  /** @param {Partial<typeof state>} [changes] */
  function show(changes = {}) {
    if (!room) return;
    state = { ...state, ...changes };
    render(bar, barContent(page, { ...state, room }, act));
  }

  /** @param {Problem} problem */
  function fail(problem) {
    if (FINAL.has(problem.kind)) leave();
    else show({ problem });
  }

  function leave() {
    if (!room) return;
    if (!room.driver) forgetRoom(room.code);
    setPresentedRoom(null);
    room = null;
    counting.stop();
    bar.remove();
    page.announce(page.t("The room has ended."));
  }

  /** @template T @param {(room: import("../core/wire/requests-by-subject.js").RoomAccess) => Promise<T>} request @param {(reply: T) => void} onReply */
  async function ask(request, onReply) {
    const reply = room && (await request(room).catch(failure));
    if (reply instanceof Problem) fail(reply);
    else if (room) onReply(/** @type {T} */ (reply));
  }

  const handOver = () => ask((of) => api.handOver(of), handoverDialog.open);
  /** @type {import("./bar.js").RoomActions} */
  const act = {
    back: () => void ask(({ code }) => api.roomState(code), ({ link }) => window.location.assign(inOwnLanguage(link))),
    code: () => room && dialog.open(room),
    end: () => void ask((of) => api.endRoom(of), leave),
    keep: () => show({ ending: false }),
    save: () => void saveAnswers(api, room),
  };
  if (!room.driver) counting.start();
  show();
}
