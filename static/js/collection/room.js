/** A collection as a page that can be presented in a room: its scenes are its items. */

import { find } from "../lib/dom.js";
import { bindScenes, scrollTo } from "../learn/presented-scenes.js";

/**
 * @param {Pick<import("../pages/learn.js").Desk, "page" | "api">} desk
 * @param {string} id
 * @param {import("./items.js").Item[]} items
 * @param {ReturnType<typeof import("./slides.js").bindSlides>} slides
 * @param {import("../learn/live-figures.js").LiveFigures} figures
 */
export function bindCollectionRoom({ page, api }, id, items, slides, figures) {
  const root = find("#learn");
  const scenes = items.map(({ element }) => element);
  if (root.dataset.screen === "yes") slides.enter();

  /** @param {HTMLElement | null} scene */
  function turn(scene) {
    const at = scene ? scenes.indexOf(scene) : -1;
    if (slides.on()) return slides.go(at + 1);
    void items[at]?.open();
    scrollTo(scene);
  }

  bindScenes({
    page,
    api,
    root,
    path: `/c/${id}`,
    scenes,
    figures,
    // The title is a slide as well.
    turned: () => (slides.on() ? (scenes[slides.at() - 1] ?? root) : null),
    turn,
    onTurn: slides.onTurn,
    says: (scene) => (scene?.querySelector("h2") ?? find(".collection-head h1")).textContent?.trim() ?? "",
  });
}
