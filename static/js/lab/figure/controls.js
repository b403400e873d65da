/** The lab's controls: everything that is chosen rather than typed into a matrix. */

import { formulaText } from "../../core/compute/formula.js";
import { radios } from "../../core/figure/controls.js";
import { isPlainKey, makeOneStop } from "../../core/figure/pointing.js";
import { el, h, render, write } from "../../lib/dom.js";
import { PRESETS, invalidCells, preset } from "../lab-link.js";
import {
  CHOICES, EXTRAS, MAX_SIZE, NAMES, enlarged, shuffled, sizes, transposedLab, unshuffled, withExtra, withSizes,
} from "../matrices.js";
import { numberGrid } from "./number-grid.js";

/** @import { PageContext as Page } from "../../core/figure/types.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Lab } from "../matrices.js" */

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

// The editable matrices, each in its grid.

/** @typedef {{get: () => Lab, change: (next: Lab, subject?: string) => void, fixed: boolean, idPrefix: string, offered: (name: string) => boolean}} InputEditor  idPrefix: what ids begin with */

/** Their printed names. @type {Record<string, string>} */
const PRINTED = {
  x: "X", memory: "E", padding: "padding", w: "w", pi: "π", w_vocab: "W_vocab", targets: "y",
  gamma: "γ", beta: "β", ffn_gamma: "γ_2", ffn_beta: "β_2",
};
const HEADED = new Set(["w_q", "w_k", "w_v", "b_q", "b_k", "b_v"]);
const OFFSETS = ["≤ −2", "−1", "0", "1", "≥ 2"];

/** @param {string} name */
export const matrixSymbol = (name) => PRINTED[name] ?? name.toUpperCase().replace(/^B/, "b");

/** @param {Page} page @param {InputEditor} editor */
export function createMatrices(page, { get, change, fixed, idPrefix, offered }) {
  const { t, announce } = page;
  const element = h("div", { className: "lab-matrices", role: "group", "aria-label": t("Matrices") });
  /** @type {Map<string, ReturnType<typeof boxed>>} */
  const boxes = new Map();
  /**
   * What each grid currently shows.
   * @type {Map<string, {cells: string[][], depends: string, theme: object}>}
   */
  const drawn = new Map();

  /** @param {string} name */
  function boxed(name) {
    const grid = numberGrid({
      id: `${idPrefix}-${name}`,
      name: formulaText(matrixSymbol(name)),
      t,
      announce,
      onEdit: (cells, place) => change({ ...get(), matrices: { ...get().matrices, [name]: cells } }, `${name} ${place}`),
      onGrow: (rows, cols) => {
        const larger = enlarged(get(), name, rows, cols);
        if (larger) change(larger);
      },
      onName(index, text) {
        const key = name === "memory" ? "memoryTokens" : "tokens";
        change({ ...get(), [key]: get()[key].map((token, i) => (i === index ? text : token)) }, `${key} ${index}`);
      },
    });
    const called = name === "padding" ? [t("Padding")] : subscript(matrixSymbol(name));
    const [title, size] = [h("h2", {}, ...called), h("span", { className: "size" })];
    const box = h("div", { className: `matrix-box is-${name}`, "data-of": name }, h("div", { className: "box-head" }, title, size), h("div", { className: "scrolled" }, grid.element), ...grid.notes);
    return { element: box, size, grid };
  }

  return {
    element,
    /** @param {Lab} lab @param {ReturnType<typeof import("../lab-link.js").invalidCells>} wrong */
    show(lab, wrong) {
      const names = NAMES.filter((name) => lab.matrices[name] && offered(name));
      const column = lab.convention === "column";
      const messages = reasons(t, lab);
      for (const name of names) {
        const box = boxes.get(name) ?? boxed(name);
        boxes.set(name, box);
        const cells = lab.matrices[name];
        // A matrix that was not edited is not redrawn with each key.
        const depends = JSON.stringify([wrong[name], lab.tokens, lab.memoryTokens, lab.heads, lab.convention, messages.id]);
        const before = drawn.get(name);
        drawn.set(name, { cells, depends, theme: page.theme() });
        if (before && before.cells === cells && before.depends === depends && before.theme === page.theme()) continue;
        const places = named(t, lab, name, cells);
        const [first, second] = [places.rows, places.cols];
        const typed = name === "x" || name === "memory" ? (column ? "cols" : "rows") : null;
        write(box.size, `${cells.length} × ${cells[0].length}`);
        const room = `${60 * cells[0].length + (first.length > 1 ? 70 : 10)}px ${34 * cells.length + 60}px`;
        box.element.style.setProperty("contain-intrinsic-size", room); // approximate size
        box.grid.show({
          cells,
          rows: column ? second : first,
          cols: column ? first : second,
          named: typed,
          ...(HEADED.has(name) ? { heads: lab.heads, shared: column ? "rows" : "cols" } : {}),
          ...(name === "w_o" ? { heads: lab.heads, shared: column ? "cols" : "rows" } : {}),
          why: (i, j) => messages[wrong[name]?.[`${i},${j}`] ?? ""] ?? "",
          theme: page.theme(),
          fixed,
        });
      }
      render(element, ...names.map((name) => /** @type {ReturnType<typeof boxed>} */ (boxes.get(name)).element));
    },
  };
}

/**
 * The labels of a matrix's rows and columns in the row convention.
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {Lab} lab
 * @param {string} name
 * @param {string[][]} cells
 */
function named(t, lab, name, cells) {
  const [rows, cols] = lab.convention === "column" ? [cells[0].length, cells.length] : [cells.length, cells[0].length];
  const counted = (/** @type {number} */ count, first = 1) => Array.from({ length: count }, (_, i) => String(i + first));
  if (name === "x") return { rows: lab.tokens, cols: counted(cols) };
  if (name === "memory") return { rows: lab.memoryTokens, cols: counted(cols) };
  if (name === "pi") return { rows: [""], cols: OFFSETS };
  if (name === "padding") return { rows: [""], cols: lab.matrices.memory ? lab.memoryTokens : lab.tokens };
  if ((name === "w" || name === "b") && rows > 1) return { rows: counted(rows).map((n) => t("Head {n}", { n })), cols: counted(cols) };
  if (name === "targets") return { rows: [""], cols: lab.tokens };
  return { rows: rows === 1 ? [""] : counted(rows), cols: counted(cols, name === "w_vocab" ? 0 : 1) };
}

/** @param {import("../../lib/i18n.js").Translate} t @param {Lab} lab @returns {Record<string, string>} */
function reasons(t, lab) {
  const vocab = lab.matrices.w_vocab;
  const last = (lab.convention === "column" ? vocab?.length : vocab?.[0].length) ?? 1;
  return {
    empty: t("Type a number."),
    text: t("Not a number. Write 0.5, −2 or 1/3."),
    flag: t("1 for padding, 0 for a token."),
    large: t("At most 1,000,000 in size."),
    id: t("A whole number from 0 to {last}.", { last: last - 1 }),
  };
}

/** "W_Q" with Q as a subscript. @param {string} name */
function subscript(name) {
  const [body, sub] = name.split("_");
  return sub ? [body, h("sub", {}, sub)] : [body];
}
