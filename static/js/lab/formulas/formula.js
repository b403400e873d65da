/**
 * A formula to try with other numbers, in any element: its symbols, a field for each number, and
 * the result. Pointing at a field or a column highlights its symbol, and vice versa.
 */

import { fraction, mathml, plain, raised } from "../../core/compute/formula.js";
import { encoding } from "../../core/compute/positions.js";
import { numberTable } from "../../core/draw/colour-scales.js";
import { createPointing } from "../../core/figure/pointing.js";
import { el, h, render } from "../../lib/dom.js";
import { CACHE, COSTS, RATE } from "./costs.js";
import { createFields } from "./fields.js";
import { ONE_WEIGHT, SCALING } from "./gradients.js";

/** @import { Api } from "../../core/wire/api.js" */
/** @import { PageContext as Page } from "../../core/figure/types.js" */

// The sinusoidal encoding of a position: Vaswani et al. 2017, section 3.5.

/** @param {string} index @param {string} wave @returns {import("../../core/compute/formula.js").Formula} */
const pe = (index, wave) => ["PE", plain("("), "pos", ",", plain(index), plain(")"), "=", wave, fraction("pos", raised(plain("10000"), fraction(plain("2i"), "d")))];

/** @type {TriedFormula} */
const POSITION = {
  title: (t) => t("Positional encoding"),
  written: [pe("2i", "sin"), pe("2i+1", "cos")],
  fields: () => [
    { name: "pos", label: "pos", value: 1, limits: [0, 1e6], stops: [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 50, 100, 1000] },
    { name: "width", label: "d", symbol: "d", value: 8, limits: [1, 64] },
  ],
  mount({ page, root }) {
    return {
      show({ pos, width }) {
        const row = encoding(pos, width);
        const cols = row.map((_, i) => String(i));
        render(
          root,
          numberTable({ title: "", values: [row], rows: [""], cols, scale: "signed" }, page.theme(), page.t),
          el("p", { className: "aside" }, page.t("A well-known note prints sin(1/10000) = 0.0001 as the third number of PE(1, 8), and another halves the exponent. The third number is sin(1/10) = 0.0998.")),
        );
      },
    };
  },
};

/**
 * @typedef {object} FormulaContext  what a formula draws with
 * @property {Page} page
 * @property {Pick<Api, "scaling">} api
 * @property {HTMLElement} root  for its result
 * @property {(name: string, value: string) => void} type  fills in a field
 */
/**
 * @typedef {object} TriedFormula
 * @property {(t: Page["t"]) => string} title
 * @property {import("../../core/compute/formula.js").Formula[]} [written]
 * @property {boolean} [isOneFormula]  whether those are the parts of one formula, which may be broken there
 * @property {(t: Page["t"]) => import("./fields.js").Field[]} fields
 * @property {(context: FormulaContext) => {show: (values: Record<string, number>) => void, stop?: () => void}} mount
 */
/** @typedef {ReturnType<typeof createFormula>} FormulaFigure */

/** By their name in a link. @type {Record<string, TriedFormula>} */
export const FORMULAS = { why: SCALING, encoding: POSITION, "warm-up": RATE, "layer-costs": COSTS, cache: CACHE, "one-weight": ONE_WEIGHT };

/** Prefix of fields in a link, to separate them from the lab's own keys. */
const PREFIX = "f_";
const LIT = "data-lit"; // unlike that of a lesson, which clears its own in all of the page

/**
 * @param {object} plan
 * @param {HTMLElement} plan.root  the container to fill
 * @param {Page} plan.page
 * @param {Pick<Api, "scaling">} plan.api
 * @param {string} plan.id  a key of `FORMULAS`
 * @param {URLSearchParams} [plan.link]  the link, which may have fields
 * @param {() => void} [plan.onChange]  called when a field is changed
 */
export function createFormula({ root, page, api, id, link = new URLSearchParams(), onChange = () => {} }) {
  const formula = FORMULAS[id];
  const result = h("div", { className: "result" });
  const initialText = (/** @type {string} */ name) => link.get(PREFIX + name);
  const fields = createFields(page.t, formula.fields(page.t), initialText, () => {
    draw();
    onChange();
  });
  const written = (formula.written ?? []).map((part) => named(mathml(document, part)));
  const line = h("p", { className: formula.isOneFormula ? "written one" : "written", tabindex: 0 }, ...written.flatMap((part) => [part, " "]));
  const element = h("div", { className: "formula-figure", "data-formula": id }, ...(written.length ? [line] : []), fields.element, result);
  const { show, stop = () => {} } = formula.mount({ page, api, root: result, type: fields.type });
  const pointing = bindSymbols(element);
  root.replaceChildren(element);

  function draw() {
    const values = fields.values();
    if (values) show(values);
  }

  const untheme = page.onTheme(() => element.offsetParent && draw());
  return {
    pointing,
    /** Draw with the present numbers; it draws nothing before. */
    draw,
    /** The changed fields as parts of a link. @returns {[string, string][]} */
    query: () => fields.changed().map(([name, value]) => [PREFIX + name, value]),
    /**
     * Show other numbers. Nothing is called.
     * @param {URLSearchParams} link  with the parts of `query`
     * @returns {boolean}  false: they are not those of this formula, and nothing has changed
     */
    go(link) {
      const changedFields = [...link].filter(([name]) => name.startsWith(PREFIX)).map(([name, value]) => [name.slice(PREFIX.length), value]);
      if (!fields.fill(Object.fromEntries(changedFields))) return false;
      draw();
      return true;
    },
    /** Remove it from the page with all listeners. */
    destroy() {
      untheme();
      stop();
      element.remove();
    },
  };
}

/** Give each symbol its name: letters with their subscript. @param {Element} math */
function named(math) {
  for (const symbol of math.querySelectorAll("msub, mi"))
    if (!symbol.parentElement?.closest("msub")) symbol.setAttribute("data-symbol", (symbol.tagName === "msub" ? [...symbol.children].map(({ textContent }) => textContent).join("_") : symbol.textContent) ?? "");
  return math;
}

/** @param {HTMLElement} root */
function bindSymbols(root) {
  const symbolOf = (/** @type {EventTarget | null} */ target) => (target instanceof Element && target.closest("[data-symbol]")?.getAttribute("data-symbol")) || null;

  /** @param {string | null} symbol */
  function light(symbol) {
    root.querySelectorAll(`[${LIT}]`).forEach((element) => element.removeAttribute(LIT));
    if (symbol) root.querySelectorAll(`[data-symbol="${CSS.escape(symbol)}"]`).forEach((element) => element.setAttribute(LIT, ""));
  }
  const { move, pointing } = createPointing({ light, write: (symbol) => ({ query: { side: symbol, index: 0 }, key: null }), read: ({ query }) => query?.side ?? null });
  root.addEventListener("pointerover", ({ target }) => move(symbolOf(target)));
  root.addEventListener("focusin", ({ target }) => move(symbolOf(target)));
  root.addEventListener("pointerleave", () => move(null));
  return pointing;
}
