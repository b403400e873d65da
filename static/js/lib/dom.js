/** Create and find elements. */

import { el, make } from "./render.js";

/** @import { Child } from "./render.js" */

/**
 * Create an element. Its contents can later be rendered or set.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props]  as for `render`
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const h = (tag, props = {}, ...children) => make(el(tag, props, ...children));

/** Set the text of a node if it differs. @param {Text | Element} node @param {string} text */
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
  const element = root.querySelector(selector);
  if (!element) throw new Error(`nothing on the page matches ${selector}`);
  return /** @type {T} */ (element);
}

/**
 * Track the total height of elements. Measuring forces a layout, so it is done only the first time,
 * when the elements have just been filled; later values come from the last layout.
 * @param {...HTMLElement} elements
 * @returns {{now: () => number, stop: () => void}}
 */
export function heightOf(...elements) {
  const measure = () => elements.reduce((sum, { offsetHeight }) => sum + offsetHeight, 0);
  let height = 0;
  const observer = new ResizeObserver(() => (height &&= measure()));
  elements.forEach((element) => observer.observe(element));
  return { now: () => (height ||= measure()), stop: () => observer.disconnect() };
}

/** Create elements when they come into view, one after the other. */

const MARGIN = "240px 0px";

/** @param {Iterable<HTMLElement>} elements @param {(element: HTMLElement) => Promise<unknown>} make */
export function inSight(elements, make) {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  const observer = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        observer.unobserve(target);
        last = last.then(() => make(/** @type {HTMLElement} */ (target))).catch(reportError); // the next is made nevertheless
      }
    },
    { rootMargin: MARGIN },
  );
  for (const element of elements) observer.observe(element);
}
