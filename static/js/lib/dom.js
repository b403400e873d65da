/** Making and finding elements. */

import { el, make } from "./render.js";

/** @typedef {import("./render.js").Child} Child */

/**
 * An element that stays: what changes in it is rendered or set.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props]  as `render` takes them
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const h = (tag, props = {}, ...children) => make(el(tag, props, ...children));

/** Sets a text where it is another. @param {Text | Element} node @param {string} text */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} [root]
 * @returns {T}
 */
export function find(selector, root = document) {
  const found = root.querySelector(selector);
  if (!found) throw new Error(`nothing on the page matches ${selector}`);
  return /** @type {T} */ (found);
}

/**
 * How high elements are together. Asking them makes the browser lay the page out at once, so that is
 * done the first time, when they have just been filled; what is said later is from the last layout.
 * @param {...HTMLElement} elements
 * @returns {{now: () => number, stop: () => void}}
 */
export function heightOf(...elements) {
  const measure = () => elements.reduce((sum, { offsetHeight }) => sum + offsetHeight, 0);
  let known = 0;
  const observer = new ResizeObserver(() => (known &&= measure()));
  elements.forEach((element) => observer.observe(element));
  return { now: () => (known ||= measure()), stop: () => observer.disconnect() };
}
