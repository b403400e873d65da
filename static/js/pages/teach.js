/** Where a teacher begins: choose, prepare, present, hand out, read the results. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { assignmentKeys, studyKeys } from "../assignment/owned-pages.js";
import { collectionKeys, createCollectionMaker } from "../core/page/own-collections.js";
import { worksheetOf } from "../core/page/disclosure.js";
import { openPage } from "../core/page/served-page.js";
import { Problem, failure } from "../core/wire/reply.js";
import { download, keep, keptDocument } from "../lib/browser.js";
import { el, find, render } from "../lib/dom.js";
import { spelledCode } from "../room/bar.js";
import { forgetRoom, ownRooms } from "../room/room-storage.js";
import { OWNED, backup, ownedThings, restored } from "../teach/owner-keys-backup.js";

const { lang = "en", catalog = "" } = find("#learn").dataset;

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  bindChoosing(page, api);
  bindOwned(page, api);
}

/** @param {import("../core/figure/types.js").PageContext} page @param {import("../core/wire/api.js").Api} api */
function bindChoosing({ t }, api) {
  const make = createCollectionMaker({ t }, lang, find("#teach-problem"));
  /** @param {import("../core/wire/requests-by-subject.js").Document} document @param {HTMLButtonElement} button */
  const create = (document, button) => make(() => api.createCollection(document), document.title, button);

  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-plan]"))) {
    button.disabled = false; // until now a click would do nothing
    button.addEventListener("click", () => {
      const { title, items } = JSON.parse(button.dataset.plan ?? "{}");
      void create({ title, note: "", items }, button);
    });
  }
  const form = /** @type {HTMLFormElement} */ (find("#new-collection"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const title = /** @type {HTMLInputElement} */ (find("#new-title")).value.trim();
    if (title) void create({ title, note: "", items: [] }, /** @type {HTMLButtonElement} */ (find("button", form)));
  });
}

/** @param {import("../core/figure/types.js").PageContext} page */
function showCollections({ t }) {
  const link = (/** @type {string} */ key, /** @type {string} */ href, /** @type {string} */ words, /** @type {string} */ title) => el("a", { key, className: "button quiet", href, "aria-label": `${words}: ${title}` }, words);
  const row = (/** @type {{id: string, title: string}} */ { id, title }) =>
    el(
      "li",
      { key: id },
      el("a", { key: "name", className: "name", href: `/c/${id}?lang=${lang}` }, title || id),
      el(
        "span",
        { className: "together" },
        link("prepare", `/c/${id}?lang=${lang}#edit`, t("Prepare"), title),
        link("present", `/c/${id}?lang=${lang}#present`, t("Present"), title),
        link("handout", `/c/${id}/handout.html?lang=${lang}`, t("Handout"), title),
        link("worksheet", worksheetOf(`/c/${id}`, lang), t("Worksheet to print"), title),
        link("assign", `/a?of=/c/${id}&lang=${lang}`, t("Assignment"), title),
      ),
    );
  const collections = collectionKeys.all();
  render(find("#teach-collections"), collections.length ? collections.map(row) : el("li", { key: "none", className: "empty" }, t("Nothing yet: choose a plan above, and it appears here.")));
}

/** @param {import("../core/figure/types.js").PageContext} page */
function showAssignments({ t }) {
  const row = (/** @type {{id: string, title: string}} */ { id, title }) => el("li", { key: id }, el("a", { className: "name", href: `/a/${id}?lang=${lang}#answers` }, title || id), el("span", { className: "together" }, el("span", { className: "meta" }, t("Assignment"))));
  render(find("#teach-assignments"), assignmentKeys.all().map(row));
  const study = (/** @type {{id: string, title: string}} */ { id, title }) => el("li", { key: id }, el("a", { className: "name", href: `/study/${id}?lang=${lang}#results` }, title || id), el("span", { className: "meta" }, t("Study")));
  render(find("#teach-studies"), studyKeys.all().map(study));
}

/** The rooms that have not ended. @param {import("../core/figure/types.js").PageContext} page @param {import("../core/wire/api.js").Api} api */
async function showRooms({ t }, api) {
  const states = await Promise.all(ownRooms().map(async (room) => ({ room, counts: await api.classCounts(room).catch(failure) })));
  for (const { room, counts } of states) if (counts instanceof Problem && counts.kind === "unknown-room") forgetRoom(room.code);
  const open = states.filter(({ counts }) => !(counts instanceof Problem)).map(({ room }) => room);
  const row = (/** @type {{code: string}} */ { code }) =>
    el("li", { key: code }, el("a", { className: "name", href: `/room?lang=${lang}` }, t("Room {code}", { code: spelledCode(code) })), el("span", { className: "together" }, el("a", { className: "button quiet", href: `/teach/results?lang=${lang}#${code}` }, t("Results"))));
  render(find("#teach-rooms"), open.length ? open.map(row) : el("li", { key: "none", className: "empty" }, t("No room is open. Present something, and students join with its code.")));
}

/** @param {import("../core/figure/types.js").PageContext} page @param {import("../core/wire/api.js").Api} api */
function bindOwned(page, api) {
  const { t } = page;
  const status = find("#owned-says");
  const names = { collections: t("Collections"), assignments: t("Assignments"), studies: t("Studies"), rooms: t("Rooms"), "kept-models": t("Kept models") };

  /** @param {File | undefined} file */
  async function open(file) {
    const done = file && restored(ownedThings(keptDocument), await file.text());
    if (!done) return void (status.textContent = t("This is not a file that was saved here."));
    for (const [name, entries] of Object.entries(done.things)) keep(name, JSON.stringify(entries));
    status.textContent = t("{n} added.", { n: done.added });
    draw();
  }

  function draw() {
    const things = ownedThings(keptDocument);
    const counts = Object.keys(OWNED).flatMap((name) => (things[name].length ? [`${names[/** @type {keyof typeof names} */ (name)]}: ${things[name].length}`] : []));
    render(find("#owned-counts"), counts.join(" · ") || t("Nothing yet."));
    render(
      find("#owned-actions"),
      el("button", { key: "save", type: "button", className: "button", onclick: () => download(new Blob([backup(things)], { type: "application/json" }), "headlight-keys.json") }, t("Back up as one file")),
      el("label", { key: "open", className: "button quiet" }, t("Open a backup"), el("input", { type: "file", accept: ".json,application/json", className: "hidden", onchange: (/** @type {any} */ { target }) => void open(target.files[0]) })),
    );
    showCollections(page);
    showAssignments(page);
    void showRooms(page, api);
  }

  draw();
}

void start();
