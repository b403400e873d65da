/** The form of the editor of a collection, from its state. */

import { el } from "../lib/render.js";
import { wording } from "../core/figure/problem-wording.js";

/** @import { CollectionReply } from "../core/wire/schemas.d.ts" */
/** @import { Document } from "../core/wire/subject-requests.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Child } from "../lib/render.js" */
/**
 * @typedef {object} Sight  what is shown
 * @property {Document} document
 * @property {boolean} changed  whether it differs from what is saved
 * @property {CollectionReply | null} newer  saved by someone else meanwhile
 * @property {boolean} busy
 * @property {boolean} sure  whether a deletion is being confirmed
 * @property {string} says
 * @property {import("../core/wire/problem.js").Problem | null} problem
 * @property {string} link  for editing, with the key
 * @property {string} view  the page for readers
 */
/**
 * @typedef {object} Act
 * @property {(part: Partial<Document>) => void} change
 * @property {() => void} discard
 * @property {(version?: number) => void} save  version: the one that is replaced; absent: the one
 *   that the changes were made from
 * @property {() => void} remove
 * @property {(sure: boolean) => void} ask  before deleting
 */

const MOST_TITLE = 200;
const MOST_NOTE = 2000;
const MOST_ITEMS = 50;

/**
 * @param {Translate} t
 * @param {Sight} sight
 * @param {Act} act
 * @param {{rows: Child, adding: HTMLElement}} items
 * @returns {Child[]}
 */
export function formOf(t, sight, act, { rows, adding }) {
  const { document, newer } = sight;
  const typed = (/** @type {"title" | "note"} */ name) => (/** @type {Event} */ { target }) => act.change({ [name]: /** @type {HTMLInputElement} */ (target).value });
  return [
    el("header", { key: "head" }, el("h1", {}, t("Edit the collection")), el("p", { className: "meta" }, t("Everyone who has the edit link can change it. Readers see what was saved last."))),
    newer && conflict(t, newer, sight, act),
    el("label", { key: "title" }, el("span", {}, t("Title")), el("input", { type: "text", maxLength: MOST_TITLE, value: document.title, oninput: typed("title"), autocomplete: "off" })),
    el("label", { key: "note" }, el("span", {}, t("Note to the reader")), el("textarea", { rows: 3, maxLength: MOST_NOTE, value: document.note, oninput: typed("note") })),
    el("h2", { key: "items" }, t("Items"), " ", el("span", { className: "meta" }, t("{n} of at most {most}", { n: document.items.length, most: MOST_ITEMS }))),
    rows,
    document.items.length < MOST_ITEMS && adding,
    saving(t, sight, act),
    el("details", { key: "more", className: "more" }, el("summary", { className: "button quiet" }, t("Edit link, delete")), more(t, sight, act)),
  ];
}

/** @param {Translate} t @param {Sight} sight @param {Act} act */
function saving(t, { document, changed, newer, busy, says, problem, view }, act) {
  // Not `disabled`: once it is saved, the button would lose the focus.
  const [savable, discardable] = [changed && !busy && document.title.trim() && !newer, changed && !busy];
  return el(
    "footer",
    { key: "foot", className: "saving" },
    el("button", { key: "save", type: "button", className: "button strong", "aria-disabled": String(!savable), onclick: () => savable && act.save() }, t("Save")),
    el("button", { key: "discard", type: "button", className: "button quiet", "aria-disabled": String(!discardable), onclick: () => discardable && act.discard() }, t("Discard changes")),
    el("a", { key: "view", className: "button", href: view }, t("As readers see it")),
    el("p", { key: "says", className: "says", role: "status" }, says || (changed ? t("Not saved yet; kept in this browser.") : "")),
    problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
  );
}

/** @param {Translate} t @param {CollectionReply} newer @param {Sight} sight @param {Act} act */
function conflict(t, newer, { busy, view }, act) {
  const time = new Date(newer.changed).toLocaleTimeString(undefined, { timeStyle: "short" });
  return el(
    "div",
    { key: "conflict", className: "conflict", role: "alert" },
    el("p", {}, t("Someone else saved this collection at {time}. Nothing of yours is lost: choose which to keep.", { time })),
    el("button", { key: "mine", type: "button", className: "button", "aria-disabled": String(busy), onclick: () => act.save(newer.version) }, t("Save mine in its place")),
    el("button", { key: "theirs", type: "button", className: "button", "aria-disabled": String(busy), onclick: act.discard }, t("Discard mine and load theirs")),
    el("a", { key: "look", className: "button quiet", href: view, target: "_blank", rel: "noopener" }, t("Look at theirs")),
  );
}

/** @param {Translate} t @param {Sight} sight @param {Act} act */
function more(t, { link, sure, busy }, act) {
  const select = (/** @type {Event} */ { target }) => /** @type {HTMLInputElement} */ (target).select();
  return [
    el("label", { key: "link" }, el("span", {}, t("Edit link: whoever has it can change and delete the collection")), el("input", { type: "text", readOnly: true, value: link, onfocus: select })),
    sure
      ? el(
          "p",
          { key: "sure" },
          t("Delete the collection for everyone? The shares in it stay."),
          " ",
          el("button", { key: "yes", type: "button", className: "button", "aria-disabled": String(busy), onclick: act.remove }, t("Delete the collection")),
          " ",
          el("button", { key: "no", type: "button", className: "button quiet", onclick: () => act.ask(false) }, t("Cancel")),
        )
      : el("p", { key: "ask" }, el("button", { type: "button", className: "button", onclick: () => act.ask(true) }, t("Delete…"))),
  ];
}
