/**
 * Edit a collection: its title, its note and its items. What is typed is kept in this browser until
 * it is saved; if someone else has saved meanwhile, nothing is overwritten without asking.
 */

import { wording } from "../core/figure/problem-wording.js";
import { collectionKeys, documentFields, keepDraft, readDraft, sameDocument } from "../core/page/own-collections.js";
import { createRequestLock } from "../core/wire/connection.js";
import { Problem, failure } from "../core/wire/reply.js";
import { download } from "../lib/browser.js";
import { el, h, render } from "../lib/dom.js";
import { whileBusy } from "../lib/timing.js";
import { createItemList } from "./item-list.js";

/** @import { CollectionReply, Listing } from "../core/wire/schemas.d.ts" */
/** @import { Document } from "../core/wire/requests-by-subject.js" */
/** @import { Child } from "../lib/dom.js" */
/** @import { Translate } from "../lib/i18n.js" */

/**
 * @typedef {object} EditorState
 * @property {Document} document
 * @property {boolean} changed  whether it differs from what is saved
 * @property {CollectionReply | null} newer  saved by someone else meanwhile
 * @property {boolean} busy
 * @property {boolean} sure  whether a deletion is being confirmed
 * @property {string} message
 * @property {import("../core/wire/reply.js").Problem | null} problem
 * @property {string} link  for editing, with the key
 * @property {string} view  the page for readers
 */
/**
 * @typedef {object} EditorActions
 * @property {(part: Partial<Document>) => void} change
 * @property {() => void} discard
 * @property {(version?: number) => void} save  version: the one that is replaced; absent: the one
 *   that the changes were made from
 * @property {() => void} remove
 * @property {() => void} present  what is saved
 * @property {() => void} saveQuestions  those that are saved, as a file
 * @property {(sure: boolean) => void} ask  before deleting
 */

const MOST_TITLE = 200;
const MOST_NOTE = 2000;
const MOST_ITEMS = 50;

/**
 * @param {Translate} t
 * @param {EditorState} state
 * @param {EditorActions} actions
 * @param {{rows: Child, adding: HTMLElement, listing: HTMLElement | null}} items  listing: null where nothing can be listed
 * @returns {Child[]}
 */
function formOf(t, state, actions, { rows, adding, listing }) {
  const { document, newer } = state;
  const typed = (/** @type {"title" | "note"} */ name) => (/** @type {Event} */ { target }) => actions.change({ [name]: /** @type {HTMLInputElement} */ (target).value });
  return [
    el("header", { key: "head" }, el("h1", {}, t("Edit the collection")), el("p", { className: "meta" }, t("Everyone who has the edit link can change it. Readers see what was saved last."))),
    newer && conflict(t, newer, state, actions),
    el("label", { key: "title" }, el("span", {}, t("Title")), el("input", { type: "text", maxLength: MOST_TITLE, value: document.title, oninput: typed("title"), autocomplete: "off" })),
    el("label", { key: "note" }, el("span", {}, t("Note to the reader")), el("textarea", { rows: 3, maxLength: MOST_NOTE, value: document.note, oninput: typed("note") })),
    el("h2", { key: "items" }, t("Items"), " ", el("span", { className: "meta" }, t("{n} of at most {most}", { n: document.items.length, most: MOST_ITEMS }))),
    rows,
    document.items.length < MOST_ITEMS && adding,
    saving(t, state, actions),
    listing,
    el("details", { key: "more", className: "more" }, el("summary", { className: "button quiet" }, t("Edit link, questions, delete")), linkAndDeletion(t, state, actions)),
  ];
}

/** @param {Translate} t @param {EditorState} state @param {EditorActions} actions */
function saving(t, { document, changed, newer, busy, message, problem, view }, actions) {
  // Not `disabled`: once it is saved, the button would lose the focus.
  const [savable, discardable] = [changed && !busy && document.title.trim() && !newer, changed && !busy];
  return el(
    "footer",
    { key: "foot", className: "saving" },
    el("button", { key: "save", type: "button", className: "button strong", "aria-disabled": String(!savable), onclick: () => savable && actions.save() }, t("Save")),
    el("button", { key: "discard", type: "button", className: "button quiet", "aria-disabled": String(!discardable), onclick: () => discardable && actions.discard() }, t("Discard changes")),
    document.items.length > 0 && !changed && el("button", { key: "present", type: "button", className: "button", onclick: actions.present }, t("Present")),
    el("a", { key: "view", className: "button", href: view }, t("As readers see it")),
    el("p", { key: "says", className: "says", role: "status" }, message || (changed ? t("Not saved yet; kept in this browser.") : "")),
    problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
  );
}

/** @param {Translate} t @param {CollectionReply} newer @param {EditorState} state @param {EditorActions} actions */
function conflict(t, newer, { busy, view }, actions) {
  const time = new Date(newer.changed).toLocaleTimeString(undefined, { timeStyle: "short" });
  return el(
    "div",
    { key: "conflict", className: "conflict", role: "alert" },
    el("p", {}, t("Someone else saved this collection at {time}. Nothing of yours is lost: choose which to keep.", { time })),
    el("button", { key: "mine", type: "button", className: "button", "aria-disabled": String(busy), onclick: () => actions.save(newer.version) }, t("Save mine in its place")),
    el("button", { key: "theirs", type: "button", className: "button", "aria-disabled": String(busy), onclick: actions.discard }, t("Discard mine and load theirs")),
    el("a", { key: "look", className: "button quiet", href: view, target: "_blank", rel: "noopener" }, t("Look at theirs")),
  );
}

/** @param {Translate} t @param {EditorState} state @param {EditorActions} actions */
function linkAndDeletion(t, { document, changed, link, sure, busy }, actions) {
  const select = (/** @type {Event} */ { target }) => /** @type {HTMLInputElement} */ (target).select();
  return [
    document.items.some(({ questions = [] }) => questions.length > 0) && el("p", { key: "qti" }, el("button", { type: "button", className: "button", "aria-disabled": String(changed), onclick: () => !changed && actions.saveQuestions() }, t("Questions for a learning platform (QTI)")), " ", changed && el("span", { className: "meta" }, t("Save first."))),
    el("label", { key: "link" }, el("span", {}, t("Edit link: whoever has it can change and delete the collection")), el("input", { type: "text", readOnly: true, value: link, onfocus: select })),
    sure
      ? el(
          "p",
          { key: "sure" },
          t("Delete the collection for everyone? The shares in it stay."),
          " ",
          el("button", { key: "yes", type: "button", className: "button", "aria-disabled": String(busy), onclick: actions.remove }, t("Delete the collection")),
          " ",
          el("button", { key: "no", type: "button", className: "button quiet", onclick: () => actions.ask(false) }, t("Cancel")),
        )
      : el("p", { key: "ask" }, el("button", { type: "button", className: "button", onclick: () => actions.ask(true) }, t("Delete…"))),
  ];
}

/**
 * @param {Pick<Plan, "page" | "api" | "lang">} plan
 * @param {(link: import("../core/wire/schemas.d.ts").LinkReply) => void} add
 */
function createLinkField({ page: { t }, api, lang }, add) {
  const field = h("input", { type: "text", inputMode: "url", autocomplete: "off", spellcheck: false, maxLength: 8000, placeholder: "/learn/masks#figure-1" });
  const button = h("button", { type: "submit", className: "button" }, t("Add link"));
  const problem = h("p", { className: "problem", role: "alert", hidden: true });
  const hint = h("p", { className: "meta" }, t("The link of a sentence, of attention by hand, of a share, or of a lesson or one of its figures. A share keeps its numbers; anything else is computed whenever it is opened, by the model of that day."));
  const label = h("label", {}, h("span", {}, t("Paste a link of this server")), h("span", { className: "together" }, field, button));
  const element = h("form", { className: "adding" }, label, problem, hint);

  element.addEventListener("submit", async (event) => {
    event.preventDefault();
    const reply = await whileBusy(() => api.link(field.value, lang).catch(failure), button);
    const failed = reply instanceof Problem ? reply : reply.fits ? null : new Problem("not-a-state", { field: "shows" });
    problem.hidden = !failed;
    problem.textContent = failed ? wording(t, failed) : "";
    field.focus();
    if (failed || reply instanceof Problem) return field.select();
    field.value = "";
    add(reply);
  });
  return { element };
}

/**
 * @typedef {object} Plan
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("../core/wire/api.js").Api} api
 * @property {string} lang
 * @property {string} id
 * @property {string} url
 * @property {HTMLElement} root
 * @property {() => void} present  what is saved, in a room
 * @property {boolean} canList  whether the server lists collections
 * @property {HTMLElement} readersPage  the page for readers, hidden while editing
 */

/**
 * @param {import("../core/wire/api.js").Api} api @param {string} id  of a collection @param {string} lang
 * @returns {Promise<Problem | null>} why there is no file
 */
async function downloadQuestions(api, id, lang) {
  const file = await api.collectionQuestions(id, collectionKeys.keyOf(id), lang).catch(failure);
  if (file instanceof Problem) return file;
  download(file, `questions-${id}.zip`);
  return null;
}

/** @param {Plan} plan */
export function createEditor({ page, api, lang, id, url, root, readersPage, canList, present }) {
  const { t, announce } = page;
  /** As saved, when it was last read. @type {CollectionReply | null} */
  let base = null;
  /** @type {Document} */
  let document = { title: "", note: "", items: [] };
  /** The version that the document was made from. */
  let from = 0;
  /** Saved by someone else since. @type {CollectionReply | null} */
  let newer = null;
  let [busy, sure, message, problem] = [false, false, "", /** @type {Problem | null} */ (null)];
  const askServer = createRequestLock((now) => ((busy = now), now && draw()));
  const list = createItemList({ page, api, lang }, (items, words) => change({ items }, words), draw);
  const listing = canList ? createListing({ page, api, lang, id }) : null;
  const field = createLinkField({ page, api, lang }, (link) => {
    list.know(link);
    change({ items: [...document.items, { link: link.link, title: "", note: "" }] }, t("Added."));
  });

  async function open() {
    readersPage.hidden = true;
    root.hidden = false;
    const reply = await api.readCollection(id, collectionKeys.keyOf(id)).catch(failure);
    if (reply instanceof Problem) problem = reply;
    else begin(reply);
    draw();
    root.querySelector("input")?.focus();
  }

  /** @param {CollectionReply} collection */
  function begin(collection) {
    base = collection;
    listing?.show(collection.listed);
    const unsaved = readDraft(id);
    document = documentFields(unsaved?.document ?? collection);
    from = unsaved?.version ?? collection.version;
    message = unsaved ? t("Your changes from last time were kept in this browser. They are not saved yet.") : "";
    // The unsaved changes were made from another version.
    newer = from !== collection.version ? collection : null;
  }

  /** @param {Partial<Document>} part @param {string} [words]  for screen readers */
  function change(part, words = "") {
    document = { ...document, ...part };
    if (base) keepDraft(id, sameDocument(document, base) ? null : { version: from, document });
    [message, problem, sure] = ["", null, false];
    if (words) announce(words);
    draw();
  }

  /** @param {number} version */
  async function save(version, sent = document) {
    const done = await askServer(() => api.changeCollection(id, sent, collectionKeys.keyOf(id), version));
    if (!done) return;
    problem = null;
    if (!(done instanceof Problem)) saved(done, sent);
    else if (done.kind === "collection-changed") {
      const reply = await api.readCollection(id, collectionKeys.keyOf(id)).catch(failure);
      if (reply instanceof Problem) problem = reply;
      else newer = reply;
    } else problem = done;
    draw();
  }

  /** @param {CollectionReply} collection  which the document is now */
  function settle(collection) {
    base = collection;
    from = collection.version;
    newer = null;
    keepDraft(id, null);
  }

  /** @param {CollectionReply} done @param {Document} sent  the server fills in what its questions leave out */
  function saved(done, sent) {
    settle({ ...done, ...documentFields(sent) });
    collectionKeys.remember({ id, title: done.title, key: collectionKeys.keyOf(id) });
    message = t("Saved.");
  }

  function discard() {
    if (!base || busy) return;
    settle(newer ?? base);
    document = documentFields(base);
    message = t("This is what is saved.");
    draw();
  }

  async function remove() {
    const done = await askServer(() => api.deleteCollection(id, collectionKeys.keyOf(id)));
    if (done === null) return;
    problem = done instanceof Problem ? done : null;
    if (problem) return draw();
    collectionKeys.forget(id);
    base = null;
    render(root, el("p", { role: "status" }, t("The collection was deleted. Its links no longer open."), " ", el("a", { href: `/c?lang=${lang}` }, t("Your collections"))));
  }

  async function saveQuestions() {
    problem = await downloadQuestions(api, id, lang);
    draw();
  }

  function draw() {
    if (root.hidden) return;
    if (!base) return render(root, problem && el("p", { className: "problem", role: "alert" }, wording(t, problem)));
    const state = { document, changed: !sameDocument(document, base), newer, busy, sure, message, problem, link: `${url}#edit=${collectionKeys.keyOf(id)}`, view: `/c/${id}?lang=${lang}` };
    render(root, formOf(t, state, actions, { rows: list.show(document.items), adding: field.element, listing: listing?.element ?? null }));
  }

  /** @type {EditorActions} */
  const actions = {
    change, discard, present,
    saveQuestions: () => void saveQuestions(),
    save: (version) => void save(version ?? from),
    remove: () => void remove(),
    ask: (confirming) => ((sure = confirming), draw()),
  };

  return { open };
}

// Whether a collection is on the shelf of its server; its owner decides.

/**
 * @param {Pick<Plan, "page" | "api" | "lang" | "id">} plan
 */
function createListing({ page: { t }, api, lang, id }) {
  const element = h("section", { className: "listing" });
  /** @type {Listing["languages"]} */
  let listed = [];
  let choice = lang === "zh" ? "zh" : "en";
  let [busy, message] = [false, ""];
  /** @type {Problem | null} */
  let problem = null;
  const askServer = createRequestLock((now) => ((busy = now), draw()));

  /** @param {Listing["languages"]} languages  none: take it off the shelf */
  async function list(languages) {
    const done = await askServer(() => api.listCollection(id, languages, collectionKeys.keyOf(id)));
    if (done === null) return;
    problem = done instanceof Problem ? done : null;
    if (!problem) {
      listed = languages;
      message = listed.length ? t("It is on the shelf.") : t("It is off the shelf. Copies stay with those who made them.");
    }
    draw();
  }

  function draw() {
    const option = (/** @type {string} */ value, /** @type {string} */ words) => el("option", { key: value, value, selected: choice === value }, words);
    render(
      element,
      el("h2", { key: "title" }, t("On the shelf")),
      el("p", { key: "what", className: "meta" }, t("Anyone can then find and copy it, with its minutes and its questions and their answers. Private notes stay private."), " ", el("a", { href: `/collections?lang=${lang}`, target: "_blank", rel: "noopener" }, t("See the shelf"))),
      listed.length
        ? el("p", { key: "off" }, el("button", { type: "button", className: "button", "aria-disabled": String(busy), onclick: () => !busy && void list([]) }, t("Take it off the shelf")))
        : el(
            "p",
            { key: "on", className: "together" },
            el("select", { "aria-label": t("Its language"), onchange: (/** @type {any} */ { target }) => (choice = target.value) }, option("en", "English"), option("zh", "中文"), option("en zh", t("Both"))),
            el("button", { type: "button", className: "button", "aria-disabled": String(busy), onclick: () => !busy && void list(/** @type {Listing["languages"]} */ (choice.split(" "))) }, t("Put it on the shelf")),
          ),
      el("p", { key: "says", className: "meta", role: "status" }, message),
      problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
    );
  }

  return {
    element,
    /** @param {Listing["languages"]} [languages]  for which it is listed */
    show(languages = []) {
      [listed, message, problem] = [languages, "", null];
      draw();
    },
  };
}
