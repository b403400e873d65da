/** Values that this browser keeps across reloads. */

/** @type {Map<string, string>} */
const here = new Map();

/** @param {string} name @param {string | null} value  null: forget it */
export function keep(name, value) {
  if (value === null) here.delete(name);
  else here.set(name, value);
  try {
    if (value === null) window.localStorage.removeItem(name);
    else window.localStorage.setItem(name, value);
  } catch {
    // Without storage, values are remembered until the page is left.
  }
}

/** @param {string} name @returns {string | null} */
export function kept(name) {
  try {
    return window.localStorage.getItem(name) ?? here.get(name) ?? null;
  } catch {
    return here.get(name) ?? null;
  }
}

/** A value as JSON; null if there is none, or it cannot be read. @param {string} name @returns {any} */
export function keptDocument(name) {
  try {
    return JSON.parse(kept(name) ?? "null");
  } catch {
    return null;
  }
}
