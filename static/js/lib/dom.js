/** Making and finding elements. */

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props]  properties, or attributes where the name has a dash
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null) continue;
    if (name.includes("-") || name === "role" || name === "for")
      element.setAttribute(name, String(value));
    else Object.assign(element, { [name]: value });
  }
  element.append(...shown(children.flat()));
  return element;
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function shown(children) {
  return /** @type {(Node | string)[]} */ (children.filter((child) => child || child === ""));
}

/**
 * Makes an element hold just these, by the least change: what is the same stays where it is, and so
 * does the layout around it. For what listens to nothing: an element that is kept is the old one.
 * @param {Element} parent
 * @param {...(Node | string)} children
 */
export function refill(parent, ...children) {
  const wanted = children.map((child) => (typeof child === "string" ? new Text(child) : child));
  const present = [...parent.childNodes];
  for (const surplus of present.slice(wanted.length)) surplus.remove();
  wanted.forEach((next, i) => {
    const old = present[i];
    if (!old) parent.append(next);
    else if (old instanceof Text && next instanceof Text) write(old, next.data);
    else if (old instanceof Element && old.cloneNode().isEqualNode(next.cloneNode())) refill(old, ...next.childNodes);
    else old.replaceWith(next);
  });
}

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
