/**
 * The scenes of a lesson: its title, each figure or question with the prose before it, and the
 * sections at the end.
 */

/** Pixels above a scene, and by which the page may miss one. */
export const GAP = 12;
const BLOCK = ".live, .predict";
/** The part of a window below which prose is no stop of its own. */
const LINE = 0.15;

/** @typedef {{parts: HTMLElement[], block: HTMLElement | null}} Scene  block: its figure or question */

/** @param {HTMLElement} article @returns {Scene[]} */
export function scenesOf(article) {
  /** @type {Scene[]} */
  const scenes = [{ parts: [], block: null }];
  for (const element of /** @type {HTMLElement[]} */ ([...article.children])) {
    if (element.matches("nav.beside")) continue;
    const block = element.matches(BLOCK);
    const last = scenes[scenes.length - 1];
    const begins = last.block || element.matches("h2") || (block && scenes.length === 1);
    const scene = begins ? { parts: [], block: null } : last;
    if (begins) scenes.push(scene);
    scene.parts.push(element);
    if (block) scene.block = element;
  }
  return scenes;
}

/**
 * Where a remote stops in a scene: at its beginning, and at its figure if the window cannot show both.
 * @param {Scene} scene
 * @param {number} height  of the window
 * @returns {HTMLElement[]}
 */
export function stopsOf({ parts, block }, height) {
  const [first, last] = [parts[0], parts[parts.length - 1]];
  const top = first.getBoundingClientRect().top;
  const whole = last.getBoundingClientRect().bottom - top + 2 * GAP <= height;
  const near = block && block.getBoundingClientRect().top - top < LINE * height;
  return whole || near || !block ? [first] : [first, block];
}

/**
 * Where a scene is in the window: its beginning, or its figure if it begins above.
 * @param {Scene} scene
 */
export function topOf({ parts, block }) {
  const top = parts[0].getBoundingClientRect().top;
  return top < 0 && block ? block.getBoundingClientRect().top : top;
}
