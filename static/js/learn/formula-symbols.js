/**
 * Highlight a symbol of a formula together with the part of a figure that it names: a matrix or a
 * step of the lab (`mix:1`: that of its second head), a panel of a worksheet, a symbol of a formula
 * to try, or the weights, the queries or the keys of an attention matrix.
 */

const LIT = "data-lit-symbol";
/** Parts of an attention matrix. @type {Record<string, string>} */
const OF_MATRIX = { weights: ".chart", q: ".labels.rows", k: ".labels.cols" };

/** @param {HTMLElement} root */
export function bindSymbols(root) {
  /** @param {string[]} parts */
  function light(parts) {
    root.querySelectorAll(`[${LIT}]`).forEach((element) => element.removeAttribute(LIT));
    for (const part of parts) root.querySelectorAll(placesOf(part)).forEach((element) => element.setAttribute(LIT, ""));
  }
  const named = (/** @type {string} */ part) => root.querySelector(symbolsOf(part)) !== null;
  root.addEventListener("pointerover", ({ target }) => light(partsAt(target, named)));
  root.addEventListener("focusin", ({ target }) => light(partsAt(target, named)));
  root.addEventListener("pointerleave", () => light([]));
}

/** Where a part is shown: in formulas and in figures. @param {string} part */
function placesOf(part) {
  const [name, head] = part.split(":").map((piece) => CSS.escape(piece));
  if (head) return [symbolsOf(part), `.lab-figure [data-of="${name}"] [data-head="${head}"]`].join();
  const places = [symbolsOf(part), `.lab-figure [data-of="${name}"]`, `.panel.${name}`, `.formula-figure [data-symbol="${name}"]`];
  return [...places, ...(OF_MATRIX[part] ? [`.live .matrix > ${OF_MATRIX[part]}`] : [])].join();
}

/** The symbols of a part in formulas. @param {string} part */
const symbolsOf = (part) => `math [data-part~="${CSS.escape(part)}"]`;

/**
 * The parts at a place: a cell of an attention matrix is a weight, of a query and a key.
 * @param {EventTarget | null} target
 * @param {(part: string) => boolean} named  whether a symbol names a part: that of one head goes
 *   before that of all
 */
function partsAt(target, named) {
  if (!(target instanceof Element)) return [];
  const place = target.closest("math [data-part], [data-of], [data-symbol], .panel:is(.q, .k, .v)");
  const attribute = ["data-part", "data-of", "data-symbol"].flatMap((name) => place?.getAttribute(name) ?? [])[0];
  const part = attribute ?? ["q", "k", "v"].find((name) => place?.classList.contains(name));
  const head = target.closest("[data-head]")?.getAttribute("data-head");
  if (part) return head && named(`${part}:${head}`) ? [`${part}:${head}`] : part.split(" ");
  const matrix = target.closest(".live .matrix");
  const within = (/** @type {string} */ selector) => Boolean(target.closest(selector));
  if (!matrix) return [];
  return within(OF_MATRIX.q) ? ["q"] : within(OF_MATRIX.k) ? ["k"] : Object.keys(OF_MATRIX);
}
