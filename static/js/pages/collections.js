/** The collections that this browser can edit, and a new one. */

import { createApi } from "../core/wire/api.js";
import { Problem, failure } from "../core/wire/problem.js";
import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { whileBusy } from "../lib/timing.js";
import { wording } from "../core/figure/problem-wording.js";
import { forget, keptCollections, remember } from "../core/store/kept-collections.js";

const { lang = "en", catalog = "" } = find("#learn").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const { t, restyle } = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), restyle);
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
    remember({ id: reply.id, title, key: reply.edit_key });
    draw();
    /** @type {HTMLAnchorElement | null} */ (document.querySelector("#mine-list a"))?.click();
  });

  function draw() {
    const mine = keptCollections();
    render(
      find("#mine-list"),
      mine.length ? mine.map(item) : el("li", { key: "none", className: "empty" }, t("None yet. Create one, or open an edit link that you were given.")),
    );
  }

  /** @param {import("../core/store/kept-collections.js").Kept} one */
  const item = ({ id, title }) =>
    el("li", { key: id }, el("a", { key: "edit", className: "name", href: `/c/${id}?lang=${lang}#edit` }, title || id), el("span", { className: "together" }, el("a", { key: "view", className: "button quiet", href: `/c/${id}?lang=${lang}` }, t("As readers see it")), el("a", { key: "present", className: "button quiet", href: `/c/${id}?lang=${lang}#present` }, t("Present"))));

  draw();
  // Collections that were deleted elsewhere are no longer listed.
  for (const { id } of keptCollections()) {
    const reply = await api.readCollection(id).catch(failure);
    if (reply instanceof Problem && reply.kind === "unknown-collection") forget(id);
    else if (!(reply instanceof Problem)) rename(id, reply.title);
  }
  draw();
}

/** Keep a title that was changed elsewhere. @param {string} id @param {string} title */
function rename(id, title) {
  const stored = keptCollections().find((collection) => collection.id === id);
  if (stored && stored.title !== title) remember({ ...stored, title });
}

void start();
