/** Where the code of a room is typed, and where a teacher takes back a room. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { forgetRoom, ownRooms, setPresentedRoom } from "../room/room-storage.js";
import { Problem, failure } from "../core/wire/reply.js";
import { openPage } from "../core/page/served-page.js";
import { el, find, render } from "../lib/dom.js";
import { spelledCode } from "../room/bar.js";

/** @import { RoomCreated } from "../core/wire/schemas.d.ts" */

const { catalog = "" } = find("#join").dataset;

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  await showOwn(page, api);
}

/**
 * The rooms that this browser opened and that have not ended.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 */
async function showOwn({ t }, api) {
  const answered = await Promise.all(ownRooms().map(async (room) => ({ room, counts: await api.classCounts(room).catch(failure) })));
  for (const { room, counts } of answered) if (counts instanceof Problem && counts.kind === "unknown-room") forgetRoom(room.code);
  const open = answered.filter(({ counts }) => !(counts instanceof Problem)).map(({ room }) => room);
  find("#own-rooms").hidden = !open.length;
  render(
    find("#own-rooms ul"),
    open.map((room) =>
      el(
        "li",
        { key: room.code },
        el("b", {}, spelledCode(room.code)),
        el("button", { type: "button", className: "button", onclick: () => void takeBack(api, room) }, t("Present in it again")),
        el("a", { className: "button quiet", href: `/room/${room.code}?screen=1` }, t("Open as a second screen")),
      ),
    ),
  );
}

/** Go on presenting where the room is now. @param {import("../core/wire/api.js").Api} api @param {RoomCreated} room */
async function takeBack(api, room) {
  const state = await api.roomState(room.code).catch(failure);
  if (state instanceof Problem) return window.location.reload();
  setPresentedRoom(room);
  window.location.assign(state.link);
}

void start();
