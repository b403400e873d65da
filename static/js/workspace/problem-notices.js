/** Notices outside the figure: at the sentence box, for an empty sentence, and for the network. */

import { troubleOf } from "../core/figure/status.js";
import { find } from "../lib/dom.js";

/** @type {() => import("../core/figure/status.js").Places} */
export const notices = () => ({
  root: document.documentElement,
  busy: find("#stage"),
  says: find("#problem-text"),
  line: find("#problem"),
  retry: find("#retry"),
});

/** @param {import("./types.js").Desk} desk */
export function bindProblems({ store, figure }) {
  function show() {
    const { status, problem } = store.get();
    find("#empty").hidden = status !== "empty";
    find("#source").setAttribute("aria-invalid", String(status === "failed" && problem?.kind !== "stopped"));
  }
  // The sentence box, when it loses the focus, folds and would move the button away.
  find("#retry").addEventListener("mousedown", (event) => event.preventDefault());
  window.addEventListener("online", () => troubleOf(store.get())?.kind === "offline" && figure.retry());
  store.subscribe(({ status, problem }) => [status, problem], show);
  show();
}
