/**
 * What an element holds, as a description of its children. Those that are there already are kept and
 * changed as little as can be, so that focus, selection and scrolling outlast it.
 */

/**
 * @typedef {object} Described
 * @property {string} tag
 * @property {string | number} [key]  tells it from siblings of its tag; without one the order does
 * @property {Record<string, any>} props  as `set` takes them
 * @property {Child[]} children
 */
/** @typedef {Described | Node | string | null | undefined | false} Child  a node stands for itself */
/** @typedef {Element & Record<string, any>} Any */

const HTML = "http://www.w3.org/1999/xhtml";
/** What these elements and all in them are of. @type {Record<string, string>} */
const NAMESPACES = { svg: "http://www.w3.org/2000/svg", math: "http://www.w3.org/1998/Math/MathML" };
const TEXT = "#text";
/** Held to what it is, as a reader may have changed it; all else to what was described last. */
const LIVE = new Set(["value", "checked"]);

/** What nodes were made of. @type {WeakMap<Node, {name?: string, props: Record<string, any>}>} */
const known = new WeakMap();

/**
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Child | Child[])} children
 * @returns {Described}
 */
export const el = (tag, { key, ...props } = {}, ...children) => ({ tag, key, props, children: children.flat() });

/**
 * @param {ParentNode & Node} root
 * @param {...(Child | Child[])} children
 */
export function render(root, ...children) {
  const there = new Map([...root.childNodes].map((node) => [known.get(node)?.name ?? node, node]));
  /** @type {Record<string, number>} */
  const counts = {};
  const nodes = shown(children).map((child) => {
    if (typeof child === "object" && !("tag" in child)) return child;
    const { tag, key = "" } = typeof child === "object" ? child : { tag: TEXT };
    const kind = `${tag} ${key}`;
    counts[kind] = (counts[kind] ?? 0) + 1;
    const name = `${kind} ${counts[kind]}`;
    const node = there.get(name) ?? blank(tag, root);
    fill(node, child);
    known.set(node, { props: {}, ...known.get(node), name });
    return node;
  });
  arrange(root, nodes);
}

/** @param {(Child | Child[])[]} children */
const shown = (children) =>
  /** @type {(Described | Node | string)[]} */ (children.flat().filter((child) => child || child === ""));

/**
 * Makes an element anew.
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

/** @param {Node} node @param {Described | string} wanted */
function fill(node, wanted) {
  if (typeof wanted === "string") {
    if (node.nodeValue !== wanted) node.nodeValue = wanted;
    return;
  }
  const before = known.get(node);
  render(/** @type {Element} */ (node), ...wanted.children);
  set(/** @type {Any} */ (node), wanted.props, before?.props ?? {});
  known.set(node, { ...before, props: wanted.props });
}

/**
 * Sets properties; attributes where the name has a dash, in drawings and formulas, and of `role` and `for`; `style`
 * is several. A null is as if it were not there.
 * @param {Any} element  whose children are there: a menu's value is one of its options
 * @param {Record<string, any>} props
 * @param {Record<string, any>} before  what it was made of
 */
function set(element, { style = {}, ...props }, { style: worn = {}, ...before }) {
  for (const name of Object.keys({ ...worn, ...style }))
    if (style[name] !== worn[name]) element.style.setProperty(name, style[name] ?? "");
  for (const name of Object.keys({ ...before, ...props })) {
    const [value, old] = [props[name] ?? null, before[name] ?? null];
    if (value === (old !== null && LIVE.has(name) ? element[name] : old)) continue;
    const attribute = /-|^(role|for)$/.test(name) || (element.namespaceURI !== HTML && !name.startsWith("on"));
    if (value === null) clear(element, name, attribute);
    else if (attribute) element.setAttribute(name, String(value));
    else element[name] = value;
  }
}

/** @param {Any} element @param {string} name @param {boolean} attribute */
function clear(element, name, attribute) {
  element.removeAttribute(name === "className" ? "class" : name);
  const plain = /** @type {Any} */ (blank(element.localName, element));
  if (!attribute && element[name] !== plain[name]) element[name] = plain[name];
}

/**
 * Puts nodes in their order, and takes out all others.
 * @param {ParentNode & Node} root
 * @param {Node[]} nodes
 */
function arrange(root, nodes) {
  const kept = new Set(nodes);
  const focused = root.ownerDocument?.activeElement;
  for (const node of [...root.childNodes]) if (!kept.has(node)) node.remove();
  let next = root.firstChild;
  for (const node of nodes) {
    // Where the next but one is wanted, the next one is moved later: each other that is kept stays.
    if (next && (node === next || node === next.nextSibling)) next = node.nextSibling;
    else if (node.parentNode === root && root.moveBefore) root.moveBefore(node, next);
    else root.insertBefore(node, next);
  }
  if (focused !== root.ownerDocument?.activeElement && focused instanceof HTMLElement && root.contains(focused))
    focused.focus({ preventScroll: true });
}
