/**
 * Keys of the runs that this browser started and of the models that it kept, stored across reloads.
 */

/** @typedef {import("../../data/training-runs.js").Kept} Kept */

const MODELS = "kept-models";
const name = (/** @type {string} */ id) => `run-${id}`;

/** @type {Map<string, string>} */
const here = new Map();

/** @param {string} item @param {string} value */
function write(item, value) {
  here.set(item, value);
  try {
    window.localStorage.setItem(item, value);
  } catch {
    // Without storage, they are remembered until the page is left.
  }
}

/** @param {string} item @returns {string | null} */
function read(item) {
  try {
    return here.get(item) ?? window.localStorage.getItem(item);
  } catch {
    return here.get(item) ?? null;
  }
}

/** @param {string} id @param {string} key */
export const remember = (id, key) => write(name(id), key);

/** @param {string} id @returns {string | null}  null: somebody else started it */
export const keyOf = (id) => read(name(id));

/** @returns {Kept[]}  the newest first */
export function keptModels() {
  try {
    const found = JSON.parse(read(MODELS) ?? "[]");
    return Array.isArray(found) ? found.filter((one) => one?.id && one.key && one.url && one.name) : [];
  } catch {
    return [];
  }
}

/** @param {Kept[]} models */
export const setKeptModels = (models) => write(MODELS, JSON.stringify(models));
