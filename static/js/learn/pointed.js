/**
 * What is pointed at in the figures of a page of scenes. A figure is named by its scene: it need not
 * be the presented one, and nobody's page is moved to it.
 */

/** @import { Pointer } from "../core/wire/subject-requests.js" */

/** The figure of a scene, which may be the scene itself. @param {Element | null | undefined} scene */
export const figureOf = (scene) => (scene?.matches(".live") ? scene : (scene?.querySelector(".live") ?? null));

/** @param {HTMLElement[]} scenes @param {import("./live-figures.js").LiveFigures} figures */
export function bindPointed(scenes, figures) {
  /** @type {Pointer | null} */
  let wanted = null;
  /** The figure in which something was highlighted. @type {import("../core/figure/pointing.js").Pointing | null} */
  let lit = null;

  function apply() {
    const figure = wanted && figures.of(figureOf(scenes.find(({ id }) => id === wanted?.figure)));
    const next = figure?.pointing ?? null;
    if (lit && lit !== next) lit.show(null);
    lit = next;
    if (wanted) next?.show({ query: wanted.query, key: wanted.key });
  }

  figures.onArrive((figure) => wanted && figureOf(scenes.find(({ id }) => id === wanted?.figure)) === figure && apply());
  return {
    /** @returns {Pointer | null} */
    pointer() {
      const found = figures.pointed();
      const scene = found && scenes.find((one) => one.contains(found.figure));
      return found && scene ? { figure: scene.id, ...found.lit } : null;
    },
    /** @param {Pointer | null} pointer */
    point(pointer) {
      wanted = pointer;
      apply();
    },
    onPoint: figures.onPoint,
  };
}
