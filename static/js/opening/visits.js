/**
 * Whether the reader has visited before; if so, the workspace opens at once. `first-paint.js` reads
 * the same key.
 */

const KEY = "visited";

export function known() {
  try {
    window.localStorage.setItem(KEY, "1");
  } catch {
    // Without storage, the opening is shown each time.
  }
}
