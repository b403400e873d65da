/** A collection: its figures, each opened at a click; as a lecture; and, with its key, an editor. */

import { createShortLink } from "../core/page/short-link.js";
import { explainTerms } from "../core/page/glossary.js";
import { takeHandover } from "../room/bar.js";
import { Problem, failure } from "../core/wire/reply.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";
import { download } from "../lib/browser.js";
import { megabytes } from "../lib/numbers.js";
import { wording } from "../core/figure/problem-wording.js";
import { readFragment, writeFragment } from "../core/store/address.js";
import { served } from "../core/store/data-sources.js";
import { collectionKeys, createCollectionMaker } from "../core/page/own-collections.js";
import { createEditor } from "../collection/editor.js";
import { bindCollectionRoom, bindItems, bindSlides } from "../collection/items.js";
import { createLiveFigures } from "../learn/figures.js";

const { lang = "en", plotly = "", catalog = "", glossary = "", collection = "", url = "", title = "", listing = "" } = find("#learn").dataset;
const EDIT = "edit";
/** A link that opens a room at once. */
const PRESENT = "present";

async function start() {
  if (takeHandover(find("#learn").dataset)) return;
  const { api, page } = await openPage({ plotly, catalog });
  explainTerms(find("#learn"), () => api.glossary(glossary), lang);
  const figures = createLiveFigures();
  const items = bindItems({ page, api, source: served(api), lang }, figures);
  const key = collectionKeys.keyOf(collection);
  const owned = key ? await api.readCollection(collection, key).then((document) => document.items, () => []) : [];
  if (owned.some(({ questions = [] }) => questions.length)) find("#collection-assign").hidden = false;
  const slides = bindSlides(page, items, { title, owned });
  bindCollectionRoom({ page, api }, collection, items, slides, figures, owned);
  bindLink(page);
  bindHandout(page, api);
  bindEditing(page, api);
  const make = createCollectionMaker(page, lang, find("#collection-problem"));
  const copying = /** @type {HTMLButtonElement} */ (find("#collection-copy"));
  copying.addEventListener("click", () => void make(() => api.copyCollection(collection, lang, collectionKeys.keyOf(collection)), title, copying));
  if (readFragment(window) === PRESENT) {
    writeFragment(window, "");
    /** @type {HTMLElement | null} */ (document.querySelector("[data-present]"))?.click();
  }
}

/** @param {import("../core/figure/types.js").PageContext} page */
function bindLink(page) {
  const panel = createShortLink(page);
  const button = find("#collection-link");
  find("#collection-shared").append(panel.element);
  button.addEventListener("click", () => panel.show(url, page.t("Anyone with this link can read and present the collection."), { opener: button }));
}

/**
 * Save the handout and say its size. Without scripts the link downloads it.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 */
function bindHandout({ t }, api) {
  const link = /** @type {HTMLAnchorElement | null} */ (document.querySelector("#collection-handout"));
  const status = find("#collection-says");
  let busy = false;
  link?.addEventListener("click", async (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    status.textContent = t("Making the file …");
    const file = await api.file(link.getAttribute("href") ?? "").catch(failure);
    busy = false;
    if (file instanceof Problem) return void (status.textContent = wording(t, file));
    const name = `headlight-collection-${collection}.html`;
    download(file, name);
    status.textContent = t("Saved as {name}: one file of {size} MB that opens without a network.", { name, size: megabytes(file.size) });
  });
}

/**
 * The edit link has the key in its fragment, which no server sees. It is kept in this browser and
 * taken out of the address bar, so that an address that is copied from there does not give it away.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 */
function bindEditing(page, api) {
  const button = find("#collection-edit");
  const editor = createEditor({ page, api, lang, id: collection, url, root: find("#editor"), readersPage: find("#shown"), canList: listing === "yes", present });

  /** The page is loaded again, since what it shows may have been edited. */
  function present() {
    writeFragment(window, PRESENT);
    window.scrollTo(0, 0); // the loaded page would begin at the item that was edited
    window.location.reload();
  }

  function open() {
    writeFragment(window, EDIT);
    void editor.open();
  }

  function readAddress() {
    const fragment = readFragment(window);
    const [word, key = ""] = fragment.split("=");
    if (word === EDIT && key) collectionKeys.remember({ id: collection, title, key: decodeURIComponent(key) });
    button.hidden = !collectionKeys.keyOf(collection);
    if (word === EDIT) open();
  }

  button.addEventListener("click", open);
  window.addEventListener("hashchange", readAddress);
  readAddress();
}

void start();
