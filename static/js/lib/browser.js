/** Values that this browser keeps across reloads. */

import { h } from "./dom.js";

/** @type {Map<string, string>} */
const inMemory = new Map();

/** @param {string} name @param {string | null} value  null: forget it */
export function keep(name, value) {
  if (value === null) inMemory.delete(name);
  else inMemory.set(name, value);
  try {
    if (value === null) window.localStorage.removeItem(name);
    else window.localStorage.setItem(name, value);
  } catch {
    // Without storage, values are remembered until the page is left.
  }
}

/** @param {string} name @returns {string | null} */
export function readStored(name) {
  try {
    return window.localStorage.getItem(name) ?? inMemory.get(name) ?? null;
  } catch {
    return inMemory.get(name) ?? null;
  }
}

/** A value as JSON; null if there is none, or it cannot be read. @param {string} name @returns {any} */
export function keptDocument(name) {
  try {
    return JSON.parse(readStored(name) ?? "null");
  } catch {
    return null;
  }
}

// What this browser created on a server: ids and titles with the keys that change or delete it.

/** @typedef {{id: string, title: string, key: string}} Owned */

/** @param {string} name  of the list in this browser */
export function keptKeys(name) {
  /** @returns {Owned[]}  the one that was used last first */
  function all() {
    const stored = keptDocument(name);
    return Array.isArray(stored) ? stored.filter((entry) => entry?.id && entry.key) : [];
  }
  const allBut = (/** @type {string} */ id) => all().filter((entry) => entry.id !== id);
  return {
    all,
    /** @param {string} id @returns {string}  "": not known here */
    keyOf: (id) => all().find((entry) => entry.id === id)?.key ?? "",
    /** @param {Owned} entry */
    remember: (entry) => keep(name, JSON.stringify([entry, ...allBut(entry.id)])),
    /** @param {string} id */
    forget: (id) => keep(name, JSON.stringify(allBut(id))),
  };
}

// Copy text to the clipboard, also over plain http.

/**
 * @param {string} text
 * @returns {Promise<boolean>}  whether the text was copied
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOld(text);
  }
}

/**
 * Copy with `execCommand`: without https there is no asynchronous clipboard.
 * @param {string} text
 */
function copyOld(text) {
  const focused = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = h("textarea", { value: text, readOnly: true, className: "hidden", "aria-hidden": "true" });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return done;
}

// Save a file on the reader's disk.

/** @param {Blob} file @param {string} name */
export function download(file, name) {
  const url = URL.createObjectURL(file);
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

// A random name of letters and digits that nobody guesses, also over plain http.

/** @returns {string}  28 characters with 128 random bits */
export const randomToken = () => [...crypto.getRandomValues(new Uint32Array(4))].map((word) => word.toString(36).padStart(7, "0")).join("");
