/** What frames the page: the other language at the same place, the title. */

import { find } from "../lib/dom.js";

/** @typedef {import("./types.js").Desk} Desk */

/** @param {Desk} context */
export function bindTitleAndLanguage({ store, format }) {
  const other = /** @type {HTMLAnchorElement} */ (find("#language"));
  const name = document.title;
  const titled = document.querySelector(".about h2") !== null; // the author's title stays
  function show() {
    const { link } = store.get();
    const sentence = link.source.trim().slice(0, 60);
    other.href = "?" + format({ ...link, lang: other.hreflang });
    document.title = titled || !sentence ? name : `${sentence} · Headlight`;
  }
  // Not a place of its own in the address bar: that holds what is seen.
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
  store.subscribe(({ link }) => link, show);
  show();
}
