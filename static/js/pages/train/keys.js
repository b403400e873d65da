/** The keys of runs that were started here: a reload of the page does not lose one. */

const name = (/** @type {string} */ id) => `run-${id}`;

/** @param {string} id @param {string} key */
export function remember(id, key) {
  try {
    window.localStorage.setItem(name(id), key);
  } catch {
    // A browser that keeps nothing controls the run until the page is left.
  }
  here.set(id, key);
}

/** @param {string} id @returns {string | null}  null: somebody else started it */
export function keyOf(id) {
  try {
    return here.get(id) ?? window.localStorage.getItem(name(id));
  } catch {
    return here.get(id) ?? null;
  }
}

/** @type {Map<string, string>} */
const here = new Map();
