/** The lab's controls: everything that is chosen rather than typed into a matrix. */

import { radios } from "../../core/figure/controls.js";
import { isPlainKey, makeOneStop } from "../../core/figure/pointing.js";
import { el, h, render } from "../../lib/dom.js";
import { PRESETS, invalidCells, preset } from "../lab-link.js";
import { CHOICES, EXTRAS, MAX_SIZE, shuffled, sizes, transposedLab, unshuffled, withExtra, withSizes } from "../matrices.js";

/** @import { Lab } from "../matrices.js" */
/** @import { Translate } from "../../lib/i18n.js" */

/**
 * @typedef {object} LabEditor
 * @property {() => Lab} get
 * @property {(next: Lab, subject?: string) => void} change
 * @property {(step: "undo" | "redo") => void} step
 * @property {() => void} again  redraws everything
 * @property {HTMLElement} root  the element in which Ctrl+Z and Ctrl+Y apply to it
 * @property {string} idPrefix  of the names of radio buttons
 * @property {Beside | null} beside
 * @property {string[]} [only]  of the menus, and "shuffle"; absent: all controls
 */
/**
 * The page's own examples in the same menu: while one is shown, the figure is hidden.
 * @typedef {object} Beside
 * @property {string} label  of the group
 * @property {Record<string, string>} names  by id
 * @property {() => string} shown  the id of the one shown; "": none
 * @property {(id: string) => void} go
 */

/** @param {Translate} t @returns {Record<string, {label: string, values: Record<string, string>}>} */
const menus = (t) => ({
  scoring: { label: t("Scoring"), values: { scaled: "q · k / √dₖ", dot: "q · k", additive: "w · tanh(q + k)" } },
  mask: { label: t("Mask"), values: { none: t("no mask"), causal: t("causal"), window: t("window"), "causal-window": t("causal window") } },
  relative: { label: t("Positions"), values: { none: t("no positions"), sinusoidal: t("sinusoidal, added to X"), add: t("relative, added"), multiply: t("relative, as a factor") } },
  norm: { label: t("Residual and norm"), values: { none: t("neither"), residual: t("residual"), post: t("post-norm"), pre: t("pre-norm") } },
});

/** @param {Translate} t @returns {Record<string, string>} */
const extras = (t) => ({
  w_o: t("Output matrix"),
  biases: t("Biases"),
  memory: t("Memory"),
  padding: t("Padding"),
  affine: t("γ and β of the norm"),
  ffn: t("Feed-forward"),
  vocab: t("Vocabulary and loss"),
});

/**
 * Sizes with their largest values.
 * @param {Translate} t
 * @param {Lab} lab
 * @returns {[string, string, number][]}
 */
const counted = (t, lab) => [
  ["n", t("Tokens"), MAX_SIZE],
  ...(lab.matrices.memory ? [/** @type {[string, string, number]} */ (["m", t("Memory tokens"), MAX_SIZE])] : []),
  ["d", t("Features"), MAX_SIZE],
  ["heads", t("Heads"), 4],
  ["k", t("Channels per head"), MAX_SIZE],
  ...(lab.mask.includes("window") ? [/** @type {[string, string, number]} */ (["window", t("Window"), MAX_SIZE])] : []),
  ...(lab.matrices.w_1 ? [/** @type {[string, string, number]} */ (["f", t("Hidden units"), MAX_SIZE])] : []),
  ...(lab.matrices.w_vocab ? [/** @type {[string, string, number]} */ (["vocab", t("Vocabulary"), MAX_SIZE])] : []),
];

/** @param {import("../../core/figure/types.js").PageContext} page @param {LabEditor} editor */
export function createChoices({ t }, { get, change, step, again, root, idPrefix, beside, only }) {
  const element = h("div", { className: "options lab-choices" });
  const [menu, extra] = [menus(t), extras(t)];
  makeOneStop(element, ".stepper button");
  let open = false; // on a phone, mechanisms and sizes are closed at first
  element.addEventListener("change", ({ target }) => {
    const { name, value, checked } = /** @type {HTMLInputElement} */ (target);
    if (name === "preset") beside?.go(value in beside.names ? value : "");
    if (name === "preset" && beside && value in beside.names) return;
    const next = chosen(get(), { name: name.replace(`${idPrefix}-`, ""), value, checked });
    if (next) change(next);
  });
  element.addEventListener("click", ({ target }) => {
    const { by, size, go, words, more: moreButton } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
    if (go) step(go === "undo" ? "undo" : "redo");
    if (size) change(resized(get(), size, Number(by)));
    if (moreButton !== undefined) {
      open = !open;
      again();
    }
    if (words) change(words === "shuffle" ? shuffled(get()) : unshuffled(get()));
  });
  root.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (isPlainKey(event) || event.altKey || !(key === "z" || key === "y")) return;
    event.preventDefault();
    step(key === "y" || event.shiftKey ? "redo" : "undo");
  });
  let last = "";
  const conventions = { row: t("rows, x W"), column: t("columns, W x") };
  const numbers = { decimals: t("decimals"), fractions: t("fractions") };
  const words = (/** @type {Lab} */ lab) =>
    lab.order.length ? act("words", "back", t("Back to the order as written")) : act("words", "shuffle", t("Shuffle the words"), lab.tokens.length < 2);
  const mechanism = (/** @type {string} */ name, /** @type {Lab} */ lab) => option(name, menu[name].label, menu[name].values, lab[/** @type {"mask"} */ (name)]);

  /** Seldom needed: behind one word, which says how many are in use. @param {Lab} lab */
  function extraParts(lab) {
    const offered = Object.entries(extra).filter(([name]) => name !== "affine" || lab.norm === "post" || lab.norm === "pre");
    const used = (/** @type {string} */ name) => EXTRAS[name].some((matrix) => Boolean(lab.matrices[matrix]));
    const count = offered.filter(([name]) => used(name)).length;
    return el(
      "details",
      { key: "extras", className: "lab-extras" },
      el("summary", {}, count ? t("More parts ({count})", { count }) : t("More parts")),
      el("div", {}, offered.map(([name, label]) => toggle(`has-${name}`, label, used(name)))),
    );
  }

  /** @param {string[]} names @param {Lab} lab */
  const few = (names, lab) => [
    ...names.map((name) => (name === "shuffle" ? words(lab) : mechanism(name, lab))),
    ...counted(t, lab).filter(([name]) => name === "window" && names.includes("mask")).map(([name, label, limit]) => stepper(t, name, label, countOf(lab, name), limit)),
  ];

  return {
    element,
    /** @param {Lab} lab @param {{undoable: () => boolean, redoable: () => boolean}} past */
    show(lab, past) {
      if (only) return render(element, few(only, lab));
      const id = matching(lab);
      // It stays while numbers are changed: otherwise all below would move at the first key.
      last = id || last;
      const formulaId = beside?.shown() ?? "";
      const examples = { "": t("your own"), ...Object.fromEntries(Object.entries(PRESETS).map(([presetId, { name }]) => [presetId, name(t)])) };
      const menus = option("preset", t("Example"), examples, formulaId || id, beside ? { [beside.label]: beside.names } : {});
      if (formulaId) return render(element, menus);
      render(
        element,
        menus,
        act("go", "undo", t("Undo"), !past.undoable()),
        act("go", "redo", t("Redo"), !past.redoable()),
        either(`${idPrefix}-convention`, t("Convention"), conventions, lab.convention),
        either(`${idPrefix}-numbers`, t("Numbers"), numbers, lab.fractions ? "fractions" : "decimals"),
        words(lab),
        el("button", { key: "more", type: "button", className: "button lab-more", "aria-expanded": String(open), "data-more": "" }, t("Mechanisms and sizes")),
        el("hr", {}),
        last && el("p", { className: "about" }, t("The example: {says}", { says: PRESETS[last].about(t) })),
        el(
          "div",
          { className: `lab-parts${open ? " open" : ""}` },
          Object.keys(menu).map((name) => mechanism(name, lab)),
          extraParts(lab),
          lab.matrices.targets && toggle("shift", t("Predict the next token"), lab.shift),
          lab.matrices.targets && smoothing(t, lab),
          counted(t, lab).map(([name, label, limit]) => stepper(t, name, label, countOf(lab, name), limit)),
        ),
      );
    },
  };
}

/** @param {Lab} lab @param {{name: string, value: string, checked: boolean}} input */
function chosen(lab, { name, value, checked }) {
  if (name === "preset") return value ? { ...oriented(preset(value), lab.convention), fractions: lab.fractions } : null;
  if (name === "numbers") return { ...lab, fractions: value === "fractions" };
  if (name === "convention") return value === lab.convention ? null : transposedLab(lab);
  if (name === "shift") return { ...lab, shift: checked };
  if (name === "smoothing") return { ...lab, smoothing: value };
  if (name in CHOICES) return withSizes({ ...lab, [name]: value });
  return withExtra(lab, name.replace("has-", ""), checked);
}

/** @param {Lab} lab @param {string} convention */
const oriented = (lab, convention) => (lab.convention === convention ? lab : transposedLab(lab));

/** @param {Lab} lab @param {string} name */
const countOf = (lab, name) => (name === "heads" ? lab.heads : name === "window" ? lab.window : sizes(lab)[/** @type {"n"} */ (name)]);

/** @param {Lab} lab @param {string} size @param {number} by */
function resized(lab, size, by) {
  const count = countOf(lab, size) + by;
  return size === "window" ? { ...lab, window: count } : withSizes(lab, { [size]: count });
}

/** What identifies an example, regardless of its tokens and of how it is shown. @param {Lab} lab */
const essence = (lab) => JSON.stringify({ ...oriented(lab, "row"), tokens: 0, memoryTokens: 0, fractions: 0, hidden: 0 });

/** Examples by their identity. */
const presetIds = new Map(Object.keys(PRESETS).map((id) => [essence(preset(id)), id]));

/** The id of the matching example; "" if there is none. @param {Lab} lab */
const matching = (lab) => presetIds.get(essence(lab)) ?? "";

/** @param {Record<string, string>} values */
const options = (values) => Object.entries(values).map(([id, label]) => el("option", { value: id }, label));

/**
 * @param {string} name
 * @param {string} label
 * @param {Record<string, string>} values
 * @param {string} value
 * @param {Record<string, Record<string, string>>} [groups]  further values, in named groups
 */
const option = (name, label, values, value, groups = {}) =>
  el(
    "label",
    { key: name, className: "option menu" },
    el("span", {}, label),
    el(
      "select",
      { name, value, "aria-label": label },
      options(values),
      Object.entries(groups).map(([group, groupValues]) => el("optgroup", { key: group, label: group }, options(groupValues))),
    ),
  );

/** @param {string} name @param {string} label @param {Record<string, string>} values @param {string} value */
const either = (name, label, values, value) =>
  el("fieldset", { key: name, className: "option" }, el("legend", {}, label), el("div", { className: "choice" }, radios(name, values, value)));

/** @param {string} kind @param {string} value @param {string} label @param {boolean} [disabled] */
const act = (kind, value, label, disabled = false) =>
  el("button", { key: kind === "words" ? kind : value, type: "button", className: "button", [`data-${kind}`]: value, disabled }, label);

/** @param {Translate} t @param {Lab} lab */
function smoothing(t, lab) {
  const wrong = Boolean(invalidCells(lab).smoothing);
  const message = wrong ? t("A number from 0 to 1.") : "";
  return el(
    "label",
    { key: "smoothing", className: "option" },
    el("span", {}, t("Label smoothing")),
    el("input", { className: "short", name: "smoothing", inputMode: "decimal", autocomplete: "off", value: lab.smoothing, title: message, "aria-invalid": String(wrong) }),
    wrong && el("span", { className: "wrong-choice" }, message),
  );
}

/** @param {string} name @param {string} label @param {boolean} checked */
const toggle = (name, label, checked) =>
  el("label", { key: name, className: "option toggle" }, el("input", { type: "checkbox", name, checked }), el("span", {}, label));

/** @param {Translate} t @param {string} name @param {string} label @param {number} count @param {number} limit */
const stepper = (t, name, label, count, limit) =>
  el(
    "div",
    { key: name, className: "option stepper", role: "group", "aria-label": label },
    el("span", {}, label),
    el("button", { key: "less", type: "button", className: "button", "data-size": name, "data-by": "-1", disabled: count <= 1, "aria-label": t("One less") }, "−"),
    el("output", {}, String(count)),
    el("button", { key: "more", type: "button", className: "button", "data-size": name, "data-by": "1", disabled: count >= limit, "aria-label": t("One more") }, "+"),
  );
