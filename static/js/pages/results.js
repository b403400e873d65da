/** What a class answered, question by question. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { wording } from "../core/figure/problem-wording.js";
import { openPage } from "../core/page/served-page.js";
import { readFragment } from "../core/store/address.js";
import { Problem, failure } from "../core/wire/reply.js";
import { download } from "../lib/browser.js";
import { el, find, render } from "../lib/dom.js";
import { spelledCode } from "../room/bar.js";
import { isRecord, recordSections } from "../room/vote-results.js";
import { ownRooms } from "../room/room-storage.js";

/** @import { RoomRecord } from "../core/wire/schemas.d.ts" */

const { lang = "en", catalog = "" } = find("#learn").dataset;

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  const { t } = page;
  const [status, actions, sections] = ["#results-status", "#results-actions", "#results"].map((name) => find(name));
  const room = ownRooms().find(({ code }) => code === readFragment(window)) ?? null;
  /** @type {RoomRecord | null} */
  let record = null;
  let problem = "";

  async function readRoom() {
    const reply = room && (await api.wholeRecord(room).catch(failure));
    problem = reply instanceof Problem ? wording(t, reply) : "";
    if (reply && !(reply instanceof Problem)) record = reply;
    draw();
  }

  /** @param {File | undefined} file */
  async function readFile(file) {
    if (!file) return;
    const parsed = await file.text().then(JSON.parse).catch(() => null);
    problem = isRecord(parsed) ? "" : t("This is not a file of answers that Headlight saved.");
    if (isRecord(parsed)) record = parsed;
    draw();
  }

  async function saveTable() {
    const file = room && (await api.answersTable(room).catch(failure));
    if (file && !(file instanceof Problem)) download(file, `answers-${room.code}.csv`);
  }

  async function saveQuestions() {
    const file = room && (await api.roomQuestions(room, lang).catch(failure));
    if (file && !(file instanceof Problem)) download(file, `questions-${room.code}.zip`);
  }

  const saveAll = () => record && download(new Blob([JSON.stringify(record, null, 1)], { type: "application/json" }), `answers-${record.code}.json`);
  const button = (/** @type {string} */ words, /** @type {() => unknown} */ onclick) => el("button", { type: "button", className: "button", key: words, onclick }, words);

  function draw() {
    const day = record && new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "short" }).format(record.created * 1_000);
    render(status, problem && el("span", { className: "problem", role: "alert" }, problem), record && day && t("Room {code}, {day}", { code: spelledCode(record.code), day }));
    render(
      actions,
      room && button(t("Read again"), () => void readRoom()),
      room && button(t("Download the answers (CSV)"), () => void saveTable()),
      record && button(t("Download everything (JSON)"), saveAll),
      room && button(t("Questions for a learning platform (QTI)"), () => void saveQuestions()),
      el("label", { key: "open", className: "button quiet" }, t("Open a saved file (JSON)"), el("input", { type: "file", accept: ".json,application/json", className: "hidden", onchange: (/** @type {any} */ { target }) => void readFile(target.files[0]) })),
    );
    render(sections, record ? recordSections(t, record) : !problem && el("p", {}, t("Open the file that you saved before the room ended.")));
  }

  await readRoom();
}

void start();
