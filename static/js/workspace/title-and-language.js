/** The page's title, and the link to the same place in the other language. */

import { find } from "../lib/dom.js";

/** @import { Desk } from "./types.js" */

/** @param {Desk} context */
export function bindTitleAndLanguage({ store, format }) {
  const other = /** @type {HTMLAnchorElement} */ (find("#language"));
  const name = document.title;
  const titled = document.querySelector(".about h2") !== null; // keep the author's title
  function show() {
    const { link } = store.get();
    const sentence = link.source.trim().slice(0, 60);
    other.href = "?" + format({ ...link, lang: other.hreflang });
    document.title = titled || !sentence ? name : `${sentence} · Headlight`;
  }
  // Do not write a fragment into the address, which describes what is on the screen.
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
  store.subscribe(({ link }) => link, show);
  show();
}
