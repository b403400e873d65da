/** Undo and redo for pages with their own state. */

const MOST = 200;

/** @template T @param {T} first */
export function createHistory(first) {
  let present = first;
  let last = "";
  /** @type {T[]} */
  let past = [];
  /** @type {T[]} */
  let future = [];
  return {
    present: () => present,
    /** @param {T} next @param {string} [what]  changes of the same thing in a row are one */
    change(next, what = "") {
      if (!what || what !== last) past = [...past, present].slice(-MOST);
      [present, last, future] = [next, what, []];
    },
    undo() {
      if (!past.length) return;
      future.push(present);
      present = /** @type {T} */ (past.pop());
      last = "";
    },
    redo() {
      if (!future.length) return;
      past.push(present);
      present = /** @type {T} */ (future.pop());
      last = "";
    },
    undoable: () => past.length > 0,
    redoable: () => future.length > 0,
  };
}
