/** A worksheet: which tasks are printed, with the answer key or without. */

import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { createApi } from "../core/wire/api.js";
import { find } from "../lib/dom.js";

const root = find("#learn");
const { catalog = "" } = root.dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  document.querySelector("#print")?.addEventListener("click", () => window.print());
  const withKey = /** @type {HTMLInputElement | null} */ (document.querySelector("#with-key"));
  withKey?.addEventListener("change", () => root.toggleAttribute("data-no-key", !withKey.checked));
  for (const task of document.querySelectorAll("[data-task]")) {
    const printed = /** @type {HTMLInputElement} */ (find(".choice input", task));
    const answers = find(`[data-answers="${task.getAttribute("data-task")}"]`);
    const follow = () => [task, answers].forEach((element) => element.toggleAttribute("data-off", !printed.checked));
    printed.addEventListener("change", follow);
    follow(); // a reloaded page keeps its ticks
  }
}

void start();
