/** Whether a reader has been inside: who has gets the instrument at once. `first-paint.js` reads the same. */

const KEY = "visited";

export function known() {
  try {
    window.localStorage.setItem(KEY, "1");
  } catch {
    // A browser that keeps nothing shows the opening each time.
  }
}
