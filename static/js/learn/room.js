/** A lesson as a page that can be presented in a room: its scenes are its figures and questions. */

import { find } from "../lib/dom.js";
import { asksOf, wordingOf } from "./questions.js";
import { bindScenes } from "./presented-scenes.js";
import { scenesOf, topOf } from "./scenes.js";

/** @param {import("../pages/learn.js").Desk} desk @param {import("./live-figures.js").LiveFigures} figures */
export function bindLessonRoom({ page, api, lesson }, figures) {
  const root = find("#learn");
  if (root.dataset.screen === "yes") document.documentElement.toggleAttribute("data-projector", true);
  const scenes = new Map(scenesOf(find("#lesson")).flatMap((scene) => (scene.block ? [[scene.block, scene]] : [])));
  bindScenes({
    page,
    api,
    root,
    path: `/learn/${lesson}`,
    scenes: [...scenes.keys()],
    topOf: (block) => topOf(/** @type {import("./scenes.js").Scene} */ (scenes.get(block))),
    figures,
    says: (scene) => scene?.querySelector("figcaption > span, .asks")?.textContent ?? find("#lesson h1").textContent ?? "",
    wording: (id) => wordingOf(document.getElementById(id)),
    own: (scene) => (scene?.matches(".predict") ? asksOf(/** @type {HTMLElement} */ (scene)) : null),
  });
}
