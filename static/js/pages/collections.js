/** The collections that this browser can edit, and a new one. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { Problem, failure } from "../core/wire/reply.js";
import { openPage } from "../core/page/served-page.js";
import { el, find, render } from "../lib/dom.js";
import { whileBusy } from "../lib/timing.js";
import { wording } from "../core/figure/problem-wording.js";
import { collectionKeys } from "../core/page/own-collections.js";

const { lang = "en", catalog = "" } = find("#learn").dataset;

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page: { t } } = opened;
  const form = /** @type {HTMLFormElement} */ (find("#new-collection"));
  const problem = find(".problem", form);

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const title = /** @type {HTMLInputElement} */ (find("#new-title")).value.trim();
    const button = /** @type {HTMLButtonElement} */ (find("button", form));
    if (!title) return;
    const reply = await whileBusy(() => api.createCollection({ title, note: "", items: [] }).catch(failure), button);
    const failed = reply instanceof Problem ? reply : null;
    problem.hidden = !failed;
    problem.textContent = failed ? wording(t, failed) : "";
    if (reply instanceof Problem) return;
    collectionKeys.remember({ id: reply.id, title, key: reply.edit_key });
    draw();
    /** @type {HTMLAnchorElement | null} */ (document.querySelector("#mine-list a"))?.click();
  });

  function draw() {
    const mine = collectionKeys.all();
    render(
      find("#mine-list"),
      mine.length ? mine.map(item) : el("li", { key: "none", className: "empty" }, t("None yet. Create one, or open an edit link that you were given.")),
    );
  }

  /** @param {import("../lib/browser.js").Owned} one */
  const item = ({ id, title }) =>
    el("li", { key: id }, el("a", { key: "edit", className: "name", href: `/c/${id}?lang=${lang}#edit` }, title || id), el("span", { className: "together" }, el("a", { key: "view", className: "button quiet", href: `/c/${id}?lang=${lang}` }, t("As readers see it")), el("a", { key: "present", className: "button quiet", href: `/c/${id}?lang=${lang}#present` }, t("Present"))));

  draw();
  // Collections that were deleted elsewhere are no longer listed.
  for (const { id } of collectionKeys.all()) {
    const reply = await api.readCollection(id).catch(failure);
    if (reply instanceof Problem && reply.kind === "unknown-collection") collectionKeys.forget(id);
    else if (!(reply instanceof Problem)) rename(id, reply.title);
  }
  draw();
}

/** Keep a title that was changed elsewhere. @param {string} id @param {string} title */
function rename(id, title) {
  const stored = collectionKeys.all().find((collection) => collection.id === id);
  if (stored && stored.title !== title) collectionKeys.remember({ ...stored, title });
}

void start();
