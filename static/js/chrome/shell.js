/** What frames the page: the other language at the same place, keys that work everywhere, the title. */

import { find } from "../lib/dom.js";

/** @typedef {import("../state/contract.js").Context} Context */

/** @param {Context} context */
export function bindChrome({ store, format }) {
  const other = /** @type {HTMLAnchorElement} */ (find("#language"));
  const name = document.title;
  function show() {
    const { link } = store.get();
    other.href = "?" + format({ ...link, lang: other.hreflang });
    document.title = link.source.trim() ? `${link.source.trim().slice(0, 60)} · ${name}` : name;
  }
  // Not a place of its own in the address bar: that holds what is seen.
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing) return;
    store.hover(null);
    store.go({ query: null, key: null });
  });
  store.subscribe(({ link }) => link, show);
  show();
}
