/** What the keyed renderer is put through, in a page; each returns what went wrong. */

const LETTERS = [..."abcdefgh"];

/** The same numbers every time. @param {number} seed */
const random = (seed) => () => (seed = (seed * 48271) % 2147483647) / 2147483647;

/** Any children: keyed and not, text, elements within elements. */
function anything(el, next, svg, depth = 0) {
  const pick = (...from) => from[Math.floor(next() * from.length)];
  const tags = svg ? ["g", "text"] : ["p", "input", "div"];
  const props = () => ({
    ...(next() < 0.5 && { [svg ? "class" : "className"]: pick("", "lit", "far") }),
    ...(next() < 0.3 && { lang: pick("", "en", "zh") }),
    ...(next() < 0.3 && { "aria-label": pick("one", null, undefined) }),
    ...(next() < 0.3 && { style: { width: pick("1px", "2px"), [pick("color", "top")]: pick("inherit", null) } }),
    ...(next() < 0.3 && !svg && { hidden: pick(true, false) }),
    ...(next() < 0.3 && !svg && { tabIndex: pick(0, -1) }),
  });
  const keys = LETTERS.filter(() => next() < 0.6).sort(() => next() - 0.5);
  const keyed = keys.map((key) => el(pick(...tags), { key, ...props() }, ...inside()));
  const loose = () => pick("", "words", null, false, undefined, el(pick(...tags), props(), ...inside()));
  function inside() {
    return depth < 2 && next() < 0.4 ? anything(el, next, svg, depth + 1) : [pick("", "x", "y")];
  }
  return keyed.flatMap((one) => (next() < 0.3 ? [loose(), one] : [one]));
}

/** From any children to any others: the same as rendered anew, with what has kept its key the same element. */
export function transitions({ el, render }, root, times) {
  const next = random(7);
  const svg = root.namespaceURI?.endsWith("svg");
  const wrong = [];
  for (let n = 0; n < times; n++) {
    const wanted = anything(el, next, svg);
    const before = new Map([...root.children].map((child) => [child.named, child]));
    const after = wanted.filter((one) => one?.tag);
    render(root, ...wanted);
    const fresh = root.cloneNode(false);
    render(fresh, ...wanted);
    if (seen(root) !== seen(fresh)) wrong.push([n, "differs", seen(root), seen(fresh)]);
    after.forEach(({ tag, key }, i) => {
      const child = root.children[i];
      const name = key && `${tag} ${key}`;
      if (name && before.has(name) && before.get(name) !== child) wrong.push([n, "another element", name]);
      child.named = name;
    });
  }
  return wrong;
}

/** All that is to be seen of it: in which order attributes and styles were said is not. */
function seen({ nodeValue, nodeName, style = [], attributes = [], childNodes }) {
  if (nodeValue !== null) return `'${nodeValue}'`;
  const worn = [...style].map((name) => `${name}:${style.getPropertyValue(name)}`);
  const said = [...attributes].filter(({ name }) => name !== "style").map(({ name, value }) => `${name}=${value}`);
  return `${nodeName}[${[...worn, ...said].sort()}](${[...childNodes].map(seen)})`;
}

/** All orders of four. */
function* orders(list) {
  if (!list.length) yield [];
  for (const one of list) for (const rest of orders(list.filter((other) => other !== one))) yield [one, ...rest];
}

/**
 * One is written in, one is scrolled: they stay so wherever they are moved. Where a browser cannot move
 * elements as they are, only those that are not moved stay scrolled.
 */
export function lasting({ el, render }, root, old) {
  if (old) delete Element.prototype.moveBefore;
  const box = () => el("input", { key: "box" });
  const long = () => el("div", { key: "long", style: { height: "40px", overflow: "auto" } }, el("p", { style: { height: "900px" } }));
  const row = (key) => (key === "b" ? box() : key === "l" ? long() : el("p", { key }, key));
  const wrong = [];
  for (const from of orders([..."blxy"]))
    for (const to of orders([..."blxyz"].filter((key) => key !== "x"))) {
      root.replaceChildren();
      render(root, ...from.map(row));
      const [input, scroller] = [root.querySelector("input"), root.querySelector("div")];
      input.value = "some words";
      input.focus();
      input.setSelectionRange(2, 6);
      scroller.scrollTop = 300;
      render(root, ...to.map(row));
      if (old) scroller.scrollTop = 300;
      const now = [document.activeElement === input, input.value, input.selectionStart, input.selectionEnd, scroller.scrollTop];
      if (String(now) !== "true,some words,2,6,300") wrong.push([from.join(""), to.join(""), ...now]);
    }
  return wrong;
}

/** What is rendered again as it was is not touched at all. */
export async function untouched({ el, render }, root) {
  const seen = [];
  const child = document.createElement("b");
  const description = () => [
    el("ul", { className: "all" }, ...["a", "b"].map((key) => el("li", { key, style: { top: "1px" }, "data-key": key, hidden: false, onclick: () => {} }, key, el("i", {}, "…")))),
    child,
    "and text",
  ];
  render(root, ...description());
  const observer = new MutationObserver((records) => seen.push(...records.map(({ type }) => type)));
  observer.observe(root, { subtree: true, childList: true, attributes: true, characterData: true });
  render(root, ...description());
  await null;
  observer.disconnect();
  return seen;
}

/** Who is moved where one goes from an end to the other. */
export function moved({ el, render }, root) {
  const list = (keys) => render(root, ...[...keys].map((key) => el("p", { key }, key)));
  const observer = new MutationObserver(() => {});
  observer.observe(root, { childList: true });
  return [["abcd", "bcda"], ["abcd", "dabc"], ["abcd", "bd"], ["bd", "abcd"]].map(([from, to]) => {
    list(from);
    observer.takeRecords();
    list(to);
    const touched = observer.takeRecords().flatMap(({ addedNodes, removedNodes }) => [...addedNodes, ...removedNodes]);
    return [...new Set(touched.map(({ textContent }) => textContent))].join("");
  });
}

/** What is asked of single elements. */
export function details({ el, render }, root) {
  const seen = [];
  const button = (onclick) => render(root, el("button", { onclick }, "go"));
  button(() => seen.push("first"));
  root.firstChild.click();
  button(() => seen.push("second"));
  root.firstChild.click();
  button(null);
  root.firstChild.click();
  const menu = (values, value) => render(root, el("select", { value }, ...values.map((one) => el("option", { value: one }, one))));
  menu(["a", "b"], "b");
  seen.push(root.firstChild.value);
  menu(["c", "d", "e"], "e");
  seen.push(root.firstChild.value);
  const box = (props) => render(root, el("input", { type: "checkbox", ...props }));
  box({ checked: true });
  root.firstChild.checked = false; // by hand
  box({ checked: true });
  seen.push(root.firstChild.checked);
  box({});
  seen.push(root.firstChild.checked);
  const own = document.createElement("p");
  render(root, "before", own, el("p", {}, "described"));
  render(root, own, el("p", {}, "described"), "after");
  seen.push(root.firstChild === own, root.textContent);
  render(root, el("svg", {}, el("foreignObject", {}, el("p", {})), el("g", { class: "marks" })));
  seen.push([...root.querySelectorAll("*")].map(({ namespaceURI, localName }) => `${localName} ${namespaceURI.slice(-4)}`).join());
  return seen;
}

/** Words from right to left in a text. */
export function isolated({ el, render }, root) {
  const text = "looks at \u2068ات\u2069 (0.62), \u2068مي\u2069";
  render(root, el("p", { title: text }, text), el("select", {}, el("option", {}, text)), el("svg", {}, el("text", {}, text)));
  const before = root.querySelector("bdi");
  render(root, el("p", { title: text }, text), el("select", {}, el("option", {}, text)), el("svg", {}, el("text", {}, text)));
  return [root.innerHTML, root.querySelector("bdi") === before];
}
