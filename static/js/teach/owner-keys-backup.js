/**
 * What this browser owns, as one file: the keys of collections, assignments, studies, rooms and
 * models. A file is added to what is there; of the same thing, what is there stays.
 */

/** What is stored by name, and what identifies an entry of it. @type {Record<string, string>} */
export const OWNED = { collections: "id", assignments: "id", studies: "id", rooms: "code", "kept-models": "id" };

const FORMAT = "headlight-keys";

/** @typedef {Record<string, Record<string, unknown>[]>} OwnedThings  by name */
/** @typedef {(name: string) => unknown} ReadStored  a stored value, parsed */

/** @param {ReadStored} read @returns {OwnedThings} */
export function ownedThings(read) {
  return Object.fromEntries(Object.entries(OWNED).map(([name, id]) => [name, entriesOf(read(name), id)]));
}

/** @param {unknown} value @param {string} id @returns {Record<string, unknown>[]} */
const entriesOf = (value, id) => (Array.isArray(value) ? value.filter((entry) => typeof entry?.[id] === "string" && typeof entry.key === "string") : []);

/** The file. @param {OwnedThings} things */
export const backup = (things) => JSON.stringify({ format: FORMAT, version: 1, ...things }, null, 1);

/**
 * What is stored after a file was opened; null: it is no such file.
 * @param {OwnedThings} things  that are stored
 * @param {string} text  of the file
 * @returns {{things: OwnedThings, added: number} | null}
 */
export function restored(things, text) {
  /** @type {any} */
  let file;
  try {
    file = JSON.parse(text);
  } catch {
    return null;
  }
  if (file?.format !== FORMAT) return null;
  let added = 0;
  const merged = Object.entries(OWNED).map(([name, id]) => {
    const stored = things[name] ?? [];
    const fresh = entriesOf(file[name], id).filter((entry) => !stored.some((storedEntry) => storedEntry[id] === entry[id]));
    added += fresh.length;
    return [name, [...stored, ...fresh]];
  });
  return { things: Object.fromEntries(merged), added };
}
