/** The shelf: a click makes a copy of one's own of a collection. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { createCollectionMaker } from "../core/page/own-collections.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";

const { lang = "en", catalog = "" } = find("#learn").dataset;

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  const make = createCollectionMaker(page, lang, find("#shelf-problem"));
  for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (document.querySelectorAll("[data-copy]"))) {
    const { copy = "", title = "" } = button.dataset;
    button.disabled = false; // until now a click would do nothing
    button.addEventListener("click", () => void make(() => api.copyCollection(copy, lang), title, button));
  }
}

void start();
