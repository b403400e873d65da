/**
 * Keys of the runs that this browser started and of the models that it kept, stored across reloads.
 */

import { keep, readStored, keptDocument } from "../lib/browser.js";

/** @import { KeptReply } from "../core/wire/schemas.d.ts" */

const MODELS = "kept-models";
const name = (/** @type {string} */ id) => `run-${id}`;

/** @param {string} id @param {string} key */
export const remember = (id, key) => keep(name(id), key);

/** @param {string} id @returns {string | null}  null: somebody else started it */
export const keyOf = (id) => readStored(name(id));

/** @returns {KeptReply[]}  the newest first */
export function keptModels() {
  const found = keptDocument(MODELS);
  return Array.isArray(found) ? found.filter((one) => one?.id && one.key && one.url && one.name) : [];
}

/** @param {KeptReply[]} models */
export const setKeptModels = (models) => keep(MODELS, JSON.stringify(models));
