/**
 * Formulas as small trees, rendered as MathML, as plain text, and as LaTeX.
 *
 * A string is a name with its subscript after "_" ("W_q", "score_ij"), or an operator; a number is
 * printed with four decimals, or as a power of ten if those would all be zero; a list is a row of
 * these.
 */

import { four, parts } from "../../lib/numbers.js";

/**
 * @typedef {string | number | Formula[]
 *   | {over: Formula, under: Formula}
 *   | {root: Formula}
 *   | {base: Formula, power: Formula}
 *   | {sum: Formula, of: Formula}
 *   | {plain: string}} Formula
 */

const OPERATORS = new Set([..."=+−·/(),|…∈", "≈", "→"]);
const MATHML = "http://www.w3.org/1998/Math/MathML";

/** @param {Formula} over @param {Formula} under @returns {Formula} */
export const fraction = (over, under) => ({ over, under });
/** @param {Formula} root @returns {Formula} */
export const root = (root) => ({ root });
/** @param {Formula} base @param {Formula} power @returns {Formula} */
export const raised = (base, power) => ({ base, power });
/** @param {Formula} sum  its index @param {Formula} of @returns {Formula} */
export const total = (sum, of) => ({ sum, of });
/** Text as is, such as an integer. @param {string | number} words @returns {Formula} */
export const plain = (words) => ({ plain: String(words) });
/** A factor: in parentheses if it is negative. @param {number} value @returns {Formula} */
export const factor = (value) => (value < 0 ? ["(", value, ")"] : value);

/**
 * Render as one line of text.
 * @param {Formula} formula
 * @returns {string}
 */
export function formulaText(formula) {
  if (typeof formula === "number") return four(formula);
  if (typeof formula === "string") return lowered(formula);
  if (Array.isArray(formula)) return formula.map(formulaText).join(" ").replace(/\( | (?=[),])/g, (gap) => gap.trim());
  if ("plain" in formula) return formula.plain;
  if ("over" in formula) return `${bound(formula.over)} / ${bound(formula.under)}`;
  if ("root" in formula) return `√${bound(formula.root)}`;
  if ("base" in formula) return `${formulaText(formula.base)}^${bound(formula.power)}`;
  return `${lowered(`Σ_${formulaText(formula.sum)}`)} ${formulaText(formula.of)}`;
}

/** The characters that exist as subscripts, and those subscripts. */
const [LINE, LOWERED] = ["0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ"];

/** A name with its subscript as one, if all its characters exist as such. @param {string} words */
function lowered(words) {
  const [name, sub = ""] = words.split("_");
  return sub && [...sub].every((letter) => LINE.includes(letter)) ? name + [...sub].map((letter) => LOWERED[LINE.indexOf(letter)]).join("") : words;
}

/** Add parentheses if it has more than one part. @param {Formula} formula */
function bound(formula) {
  const words = formulaText(formula);
  return Array.isArray(formula) && formula.length > 1 ? `(${words})` : words;
}

/**
 * @param {Document} document
 * @param {Formula} formula
 * @param {boolean} [display]  as a block
 * @returns {Element}  a math element, labelled with its text for screen readers
 */
export function mathml(document, formula, display = false) {
  const math = make(document, "math", tree(document, formula));
  // The letters of a formula are not Chinese, whatever the language of the page.
  math.setAttribute("lang", "en");
  if (display) math.setAttribute("display", "block");
  return math;
}

/** @param {Document} document @param {Formula} formula @returns {Element} */
function tree(document, formula) {
  /** @param {string} tag @param {...Formula} parts */
  const with_ = (tag, ...parts) => make(document, tag, ...parts.map((part) => tree(document, part)));
  if (typeof formula === "number") return amount(document, formula);
  if (typeof formula === "string") return word(document, formula);
  if (Array.isArray(formula)) return make(document, "mrow", ...apart(document, formula));
  if ("plain" in formula) return number(document, formula.plain);
  if ("over" in formula) return with_("mfrac", formula.over, formula.under);
  if ("root" in formula) return with_("msqrt", formula.root);
  if ("base" in formula) return with_("msup", formula.base, formula.power);
  const sign = make(document, "munder", make(document, "mo", "∑"), tree(document, formula.sum));
  return make(document, "mrow", sign, tree(document, formula.of));
}

/**
 * A product has no sign, only a small space between its factors.
 * @param {Document} document
 * @param {Formula[]} parts
 */
function apart(document, parts) {
  const named = (/** @type {Formula} */ part) => typeof part === "string" && !OPERATORS.has(part);
  return parts.flatMap((part, i) => {
    const element = tree(document, part);
    if (!i || !named(part) || !named(parts[i - 1]) || parts[i - 1] === "max") return [element];
    const space = make(document, "mspace");
    space.setAttribute("width", "0.2em");
    return [space, element];
  });
}

/** @param {Document} document @param {number} value */
function amount(document, value) {
  const { digits, ten } = parts(value, 4);
  if (ten === null) return number(document, digits);
  const power = make(document, "msup", number(document, "10"), number(document, `${ten}`.replace("-", "−")));
  return make(document, "mrow", number(document, digits), make(document, "mo", "·"), power);
}

/** @param {Document} document @param {string} digits */
function number(document, digits) {
  if (!digits.startsWith("−")) return make(document, "mn", digits);
  const minus = make(document, "mo", "−");
  minus.setAttribute("form", "prefix");
  return make(document, "mrow", minus, make(document, "mn", digits.slice(1)));
}

/** @param {Document} document @param {string} words */
function word(document, words) {
  if (OPERATORS.has(words)) return make(document, "mo", words);
  const [name, sub] = words.split("_");
  const body = make(document, "mi", name);
  if (!sub) return body;
  // Short subscripts are separate indices; a longer one is one name.
  const letters = (sub.length > 3 ? [sub] : [...sub]).map((letter) => make(document, /\d/.test(letter) ? "mn" : "mi", letter));
  return make(document, "msub", body, make(document, "mrow", ...letters));
}

/** @param {Document} document @param {string} tag @param {...(Element | string)} children */
function make(document, tag, ...children) {
  const element = document.createElementNS(MATHML, tag);
  element.append(...children);
  return element;
}

/** LaTeX commands for names and operators. @type {Record<string, string>} */
const COMMANDS = {
  "·": "\\cdot", "−": "-", "∈": "\\in", "…": "\\dots", "≈": "\\approx", "→": "\\to",
  "Π": "\\Pi", "π": "\\pi", "ε": "\\varepsilon", "γ": "\\gamma", "β": "\\beta", "ℓ": "\\ell", "|V|": "\\lvert V\\rvert",
  tanh: "\\tanh", max: "\\max", sin: "\\sin", log: "\\log",
};

/**
 * Render as LaTeX (amsmath).
 * @param {Formula} formula
 * @returns {string}
 */
export function latex(formula) {
  if (typeof formula === "number") return latexNumber(four(formula));
  if (typeof formula === "string") return latexWord(formula);
  if (Array.isArray(formula)) return formula.map(latex).join(" ");
  if ("plain" in formula) return latexNumber(formula.plain);
  if ("over" in formula) return `\\frac{${latex(formula.over)}}{${latex(formula.under)}}`;
  if ("root" in formula) return `\\sqrt{${latex(formula.root)}}`;
  if ("base" in formula) return `${latex(formula.base)}^{${/^[A-Z]$/.test(String(formula.power)) ? `\\top` : latex(formula.power)}}`;
  return `\\sum_{${latex(formula.sum)}} ${latex(formula.of)}`;
}

/** @param {string} words */
function latexWord(words) {
  if (COMMANDS[words] ?? OPERATORS.has(words)) return COMMANDS[words] ?? words;
  const [name, sub] = words.split("_");
  const body = COMMANDS[name] ?? (name.length > 1 && /^[A-Za-z]+$/.test(name) ? `\\mathrm{${name}}` : name);
  if (!sub) return body;
  const plainSub = COMMANDS[sub] ?? sub.replace("−", "-");
  return `${body}_{${/^[a-z]{4,}$/i.test(sub) ? `\\mathrm{${sub}}` : plainSub}}`;
}

/**
 * LaTeX for numbers as printed by `numbers` (1/3, −2, 1.2 · 10⁵) or for signs such as braces.
 * @param {string} digits
 * @returns {string}
 */
export function latexNumber(digits) {
  const [, sign, over, under] = /^(−?)(\d+)\/(\d+)$/.exec(digits) ?? [];
  if (under) return `${sign ? "-" : ""}\\frac{${over}}{${under}}`;
  const power = /^(.*) · 10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)$/.exec(digits);
  if (power) return `${latexNumber(power[1])} \\cdot 10^{${[...power[2]].map((sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(sign)).map((digit) => "-0123456789"[digit]).join("")}}`;
  return digits.replaceAll("−", "-").replace("∞", String.raw`\infty`).replace(/[{}]/g, "\\$&");
}
