/** A worksheet: which tasks are printed, with the answer key or without. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { openPage } from "../core/page/served-page.js";
import { solution, task } from "../collection/prepared-tasks.js";
import { COLLECTION_ADDRESS, collectionKeys } from "../core/store/kept-collections.js";
import { find, h, render } from "../lib/dom.js";

const root = find("#learn");
const { catalog = "", link = "" } = root.dataset;

/**
 * Add the questions that this browser's owner of the collection prepared.
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("../lib/i18n.js").Translate} t
 */
async function addPrepared(api, t) {
  const [, id = ""] = link.match(COLLECTION_ADDRESS) ?? [];
  const [tasks, answers] = ["#sheet > .tasks", "#key > .tasks"].map((name) => document.querySelector(name));
  if (!collectionKeys.keyOf(id) || !tasks || !answers) return;
  const collection = await api.readCollection(id, collectionKeys.keyOf(id)).catch(() => null);
  for (const { title, questions = [] } of collection?.items ?? [])
    for (const [i, question] of questions.entries()) {
      const number = String(tasks.children.length + 1);
      const body = h("div", {});
      render(body, task(t, question));
      const printed = h("label", { className: "choice" }, h("input", { type: "checkbox", checked: true }), ` ${t("print")}`);
      tasks.append(h("li", { className: "task", "data-task": number }, ...(title && i === 0 ? [h("h3", {}, title)] : []), printed, body));
      const key = h("li", { "data-answers": number });
      render(key, solution(t, question));
      answers.append(key);
    }
  root.toggleAttribute("data-empty", !tasks.children.length);
}

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  document.querySelector("#print")?.addEventListener("click", () => window.print());
  const withKey = /** @type {HTMLInputElement | null} */ (document.querySelector("#with-key"));
  withKey?.addEventListener("change", () => root.toggleAttribute("data-no-key", !withKey.checked));
  await addPrepared(api, page.t);
  for (const listed of document.querySelectorAll("[data-task]")) {
    const printed = /** @type {HTMLInputElement} */ (find(".choice input", listed));
    const answers = find(`[data-answers="${listed.getAttribute("data-task")}"]`);
    const follow = () => [listed, answers].forEach((element) => element.toggleAttribute("data-off", !printed.checked));
    printed.addEventListener("change", follow);
    follow(); // a reloaded page keeps its ticks
  }
}

void start();
