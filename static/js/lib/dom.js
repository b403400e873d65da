/**
 * Elements: created, found, and rendered from a description of their children. Existing children are kept
 * and changed as little as possible, so that focus, selection and scroll position survive.
 */

/**
 * @typedef {object} Described
 * @property {string} tag
 * @property {string | number} [key]  identifies it among siblings of the same tag; without a key,
 *   its order does
 * @property {Record<string, any>} props  properties, or attributes (see `set`); `style` is an
 *   object of several
 * @property {Child[]} children
 */
/** @typedef {Described | Node | string | null | undefined | false} Child  a node stands for itself */
/** @typedef {Element & Record<string, any>} Any */

const HTML = "http://www.w3.org/1999/xhtml";
/** Namespaces of these elements and their descendants. @type {Record<string, string>} */
const NAMESPACES = { svg: "http://www.w3.org/2000/svg", math: "http://www.w3.org/1998/Math/MathML" };
const TEXT = "#text";
/**
 * Compared with the element's current value, which the reader may have changed; everything else is
 * compared with the last description.
 */
const LIVE = new Set(["value", "checked"]);

/**
 * The description that each node was made from.
 * @type {WeakMap<Node, {name?: string | Node, props?: Record<string, any>}>}
 */
const descriptions = new WeakMap();

/**
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Child | Child[])} children
 * @returns {Described}
 */
export const el = (tag, { key, ...props } = {}, ...children) => ({ tag, key, props, children: children.flat() });

/** @param {ParentNode & Node} root @param {...(Child | Child[])} children */
export function render(root, ...children) {
  const described = isolated(root, withoutGaps(children));
  const names = namesOf(described);
  const old = childrenOf(root);
  const unchanged = old.length === names.length && old.every((node, i) => nameOf(node) === names[i]);
  const nodeByName = unchanged ? null : new Map(old.map((node) => [nameOf(node), node]));
  const nodes = described.map((child, i) => {
    if (typeof child === "object" && !("tag" in child)) return child;
    const node = (nodeByName ? nodeByName.get(names[i]) : old[i]) ?? blank(typeof child === "object" ? child.tag : TEXT, root);
    fill(node, child, names[i]);
    return node;
  });
  if (!unchanged) arrange(root, nodes);
}

/** @param {(Child | Child[])[]} children */
const withoutGaps = (children) =>
  /** @type {(Described | Node | string)[]} */ (children.flat().filter((child) => child || child === ""));

/** A word from right to left in a text, with the marks that isolate it where there are no elements, as in attributes. */
const ISOLATED = /(\u2068[^\u2069]*\u2069)/;
/** Elements of HTML that have no elements in them. */
const TEXT_ONLY = new Set(["option", "textarea", "title", "script", "style"]);

/**
 * Put words between the marks into <bdi> elements.
 * @param {ParentNode & Node & {namespaceURI?: string | null, localName?: string}} root
 * @param {(Described | Node | string)[]} children
 */
function isolated({ namespaceURI, localName = "" }, children) {
  if ((namespaceURI ?? HTML) !== HTML || TEXT_ONLY.has(localName)) return children;
  if (!children.some((child) => typeof child === "string" && ISOLATED.test(child))) return children;
  /** @param {Described | Node | string} child @returns {(Described | Node | string)[]} */
  function split(child) {
    if (typeof child !== "string") return [child];
    return child.split(ISOLATED).filter(Boolean).map((part) => (ISOLATED.test(part) ? el("bdi", {}, part.slice(1, -1)) : part));
  }
  return children.flatMap(split);
}

/**
 * Names that identify siblings: tag, key and how often these occurred; for a node, the node itself.
 * @param {(Described | Node | string)[]} children
 */
function namesOf(children) {
  /** @type {Record<string, number>} */
  const counts = {};
  return children.map((child) => {
    if (typeof child === "object" && !("tag" in child)) return child;
    const kind = typeof child === "object" ? `${child.tag} ${child.key ?? ""}` : TEXT;
    counts[kind] = (counts[kind] ?? 0) + 1;
    return `${kind} ${counts[kind]}`;
  });
}

/** @param {Node} node */
const nameOf = (node) => descriptions.get(node)?.name ?? node;

/** @param {Node} root */
function childrenOf(root) {
  const children = [];
  for (let node = root.firstChild; node; node = node.nextSibling) children.push(node);
  return children;
}

/**
 * Create a new element.
 * @param {Described} description
 * @returns {any}  the element
 */
export function make(description) {
  const element = blank(description.tag, document);
  fill(element, description);
  return element;
}

/** @param {string} tag @param {Node & {namespaceURI?: string | null}} parent */
function blank(tag, parent) {
  const page = parent.ownerDocument ?? document;
  if (tag === TEXT) return page.createTextNode("");
  const inherited = parent.nodeName === "foreignObject" ? HTML : (parent.namespaceURI ?? HTML);
  return page.createElementNS(NAMESPACES[tag] ?? inherited, tag);
}

/** @param {Node} node @param {Described | string} description @param {string | Node} [name] */
function fill(node, description, name) {
  const { props: before = {} } = descriptions.get(node) ?? {};
  if (typeof description === "string") {
    if (node.nodeValue !== description) node.nodeValue = description;
    return void descriptions.set(node, { name });
  }
  render(/** @type {Element} */ (node), description.children);
  // After its children, because the value of a <select> must be one of its options.
  const element = /** @type {Any} */ (node);
  compare(description.props.style ?? {}, before.style ?? {}, (side, value) => element.style.setProperty(side, value ?? ""));
  compare(description.props, before, (property, value, old) => set(element, property, value, old));
  descriptions.set(node, { name, props: description.props });
}

/**
 * @param {Record<string, any>} now
 * @param {Record<string, any>} before
 * @param {(name: string, value: any, old: any) => void} change  called if they differ or may
 *   differ; a missing value is null
 */
function compare(now, before, change) {
  for (const name in now)
    if (now[name] !== before[name] || LIVE.has(name)) change(name, now[name] ?? null, before[name] ?? null);
  for (const name in before) if (!(name in now)) change(name, null, before[name] ?? null);
}

/**
 * Set a property, or an attribute if the name has a dash, in SVG and MathML, and for `role` and
 * `for`.
 * @param {Any} element
 * @param {string} name
 * @param {any} value
 * @param {any} old
 */
function set(element, name, value, old) {
  const live = old !== null && LIVE.has(name) ? element[name] : old;
  if (name === "style" || value === live) return;
  const attribute = /-|^(role|for)$/.test(name) || (element.namespaceURI !== HTML && !name.startsWith("on"));
  if (value === null) clear(element, name, attribute);
  else if (attribute) element.setAttribute(name, String(value));
  else element[name] = value;
}

/** @param {Any} element @param {string} name @param {boolean} attribute */
function clear(element, name, attribute) {
  element.removeAttribute(name === "className" ? "class" : name);
  const plain = /** @type {Any} */ (blank(element.localName, element));
  if (!attribute && element[name] !== plain[name]) element[name] = plain[name];
}

/**
 * Put nodes in order, and remove all others.
 * @param {ParentNode & Node} root
 * @param {Node[]} nodes
 */
function arrange(root, nodes) {
  const remaining = new Set(nodes);
  const focused = root.ownerDocument?.activeElement;
  for (const node of childrenOf(root)) if (!remaining.has(node)) node.remove();
  let next = root.firstChild;
  for (const node of nodes) {
    // If the node after the next is wanted, the next one is moved later; all others stay in place.
    if (next && (node === next || node === next.nextSibling)) next = node.nextSibling;
    else if (node.parentNode === root && root.moveBefore) root.moveBefore(node, next);
    else root.insertBefore(node, next);
  }
  const lost = focused && focused !== root.ownerDocument?.activeElement && root.contains(focused);
  if (lost) /** @type {HTMLElement} */ (focused).focus({ preventScroll: true });
}

// Create and find elements.

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
