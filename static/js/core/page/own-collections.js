/** The collections that this browser can edit: their keys, changes that are not saved yet, and a new one. */

import { keep, keptDocument, keptKeys } from "../../lib/browser.js";
import { whileBusy } from "../../lib/timing.js";
import { wording } from "../figure/problem-wording.js";
import { Problem, failure } from "../wire/reply.js";

/** @import { CollectionCreated } from "../wire/schemas.d.ts" */
/** @import { Document } from "../wire/requests-by-subject.js" */

/** @typedef {{version: number, document: Document}} Draft  a changed document, and the version that it was made from */

/** The address of a collection; the first group is its id. */
export const COLLECTION_ADDRESS = /^(?:https?:\/\/[^/]+)?(?:\/[^?#]*)?\/c\/(\w+)/;

const draftOf = (/** @type {string} */ id) => `collection-draft-${id}`;

const keys = keptKeys("collections");

/** The edit keys. */
export const collectionKeys = {
  ...keys,
  /** @param {string} id */
  forget(id) {
    keys.forget(id);
    keepDraft(id, null);
  },
};

/** @param {string} id @returns {Draft | null} */
export function readDraft(id) {
  const stored = keptDocument(draftOf(id));
  return stored?.version > 0 && Array.isArray(stored.document?.items) ? stored : null;
}

/** @param {string} id @param {Draft | null} unsaved  null: everything is saved */
export const keepDraft = (id, unsaved) => keep(draftOf(id), unsaved && JSON.stringify(unsaved));

/**
 * Add an item at the end: to what is saved, and to changes that are not saved yet.
 * @param {Pick<import("../wire/api.js").Api, "readCollection" | "changeCollection">} api
 * @param {import("../../lib/browser.js").Owned} to
 * @param {import("../wire/schemas.d.ts").KeptItem} item
 */
export async function append(api, { id, key }, item) {
  const collection = await api.readCollection(id, key);
  const changed = await api.changeCollection(id, { ...collection, items: [...collection.items, item] }, key, collection.version);
  keys.remember({ id, key, title: changed.title });
  const unsaved = readDraft(id);
  if (unsaved?.version !== collection.version) return;
  const { document } = unsaved;
  keepDraft(id, { version: changed.version, document: { ...document, items: [...document.items, item] } });
}

/** @param {Document} a @param {Document} b */
export const sameDocument = (a, b) => JSON.stringify(documentFields(a)) === JSON.stringify(documentFields(b));

/** What is sent and kept of a collection. @param {Document} document @returns {Document} */
export const documentFields = ({ title, note, items }) => ({ title, note, items: items.map(itemFields) });

/** What is sent and kept of an item; what is absent would stay as it was. @param {import("../wire/schemas.d.ts").KeptItem} item */
const itemFields = ({ link, title, note, private: privately = "", minutes = null, questions = [] }) => ({ link, title, note, private: privately, minutes, questions });

/** @template T @param {T[]} list @param {number} from @param {number} to @returns {T[]}  with one element at another place */
export function moveItem(list, from, to) {
  const remaining = list.filter((_, i) => i !== from);
  return [...remaining.slice(0, to), list[from], ...remaining.slice(to)];
}

// Make a collection of one's own, new or as a copy, and open it.

/**
 * @param {Pick<import("../figure/types.js").PageContext, "t">} page
 * @param {string} lang
 * @param {HTMLElement} problem  where a failure is shown
 */
export const createCollectionMaker = ({ t }, lang, problem) =>
  /** @param {() => Promise<CollectionCreated>} request @param {string} title @param {HTMLButtonElement} button */
  async function make(request, title, button) {
    const reply = await whileBusy(() => request().catch(failure), button);
    const failed = reply instanceof Problem ? reply : null;
    problem.hidden = !failed;
    problem.textContent = failed ? wording(t, failed) : "";
    if (reply instanceof Problem) return;
    collectionKeys.remember({ id: reply.id, title, key: reply.edit_key });
    window.location.assign(`/c/${reply.id}?lang=${lang}#edit`);
  };
