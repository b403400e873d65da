/** Everything about the lab that is chosen rather than typed into a matrix. */

import { find } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { number } from "../../lib/cells.js";
import { alone } from "../../parts/arrow-keys.js";
import { radios } from "../../parts/controls.js";
import { CHOICES, EXTRAS, MOST, fitted, sizes, switched, turned } from "../../state/lab-matrices.js";
import { PRESETS, preset } from "../../state/lab-presets.js";

/** @typedef {import("../../state/lab-matrices.js").Lab} Lab */
/** @typedef {import("../../lib/i18n.js").Translate} Translate */
/**
 * @typedef {object} Desk
 * @property {() => Lab} get
 * @property {(next: Lab, what?: string) => void} change
 * @property {() => void} undo
 * @property {() => void} redo
 * @property {() => void} show
 */

/** @param {Translate} t @returns {Record<string, {label: string, values: Record<string, string>}>} */
const menus = (t) => ({
  scoring: { label: t("Scoring"), values: { scaled: "q · k / √d_k", dot: "q · k", additive: "w · tanh(q + k)" } },
  mask: { label: t("Mask"), values: { none: t("no mask"), causal: t("causal"), window: t("window"), "causal-window": t("causal window") } },
  relative: { label: t("Positions"), values: { none: t("no term"), add: t("relative, added"), multiply: t("relative, as a factor") } },
  norm: { label: t("Residual and norm"), values: { none: t("neither"), residual: t("residual"), post: t("post-norm"), pre: t("pre-norm") } },
});

/** @param {Translate} t @returns {Record<string, string>} */
const extras = (t) => ({
  w_o: t("Output matrix"),
  biases: t("Biases"),
  memory: t("Memory"),
  ffn: t("Feed-forward"),
  vocab: t("Vocabulary and loss"),
});

/** What has a size, and how large it is at most. @param {Translate} t @param {Lab} lab @returns {[string, string, number][]} */
const counted = (t, lab) => [
  ["n", t("Tokens"), MOST],
  ...(lab.matrices.memory ? [/** @type {[string, string, number]} */ (["m", t("Memory tokens"), MOST])] : []),
  ["d", t("Features"), MOST],
  ["heads", t("Heads"), 4],
  ["k", t("Channels a head"), MOST],
  ...(lab.mask.includes("window") ? [/** @type {[string, string, number]} */ (["window", t("Window"), MOST])] : []),
  ...(lab.matrices.w_1 ? [/** @type {[string, string, number]} */ (["f", t("Hidden units"), MOST])] : []),
  ...(lab.matrices.w_vocab ? [/** @type {[string, string, number]} */ (["vocab", t("Vocabulary"), MOST])] : []),
];

/**
 * @param {import("../../state/types.js").PageContext} page
 * @param {Desk} desk
 */
export function bindChoices({ t }, desk) {
  const root = find("#choices");
  const [menu, extra] = [menus(t), extras(t)];
  root.addEventListener("change", ({ target }) => {
    const next = chosen(desk.get(), /** @type {HTMLInputElement} */ (target));
    if (next) desk.change(next);
  });
  root.addEventListener("click", ({ target }) => {
    const { by, size, go } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
    if (go) (go === "undo" ? desk.undo : desk.redo)();
    if (go) desk.show();
    if (size) desk.change(resized(desk.get(), size, Number(by)));
  });
  find("#lab").addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (alone(event) || event.altKey || !(key === "z" || key === "y")) return;
    event.preventDefault();
    (key === "y" || event.shiftKey ? desk.redo : desk.undo)();
    desk.show();
  });
  return {
    /** @param {Lab} lab @param {{undoable: () => boolean, redoable: () => boolean}} past */
    show(lab, past) {
      render(
        root,
        option("preset", t("Example"), { "": t("your own"), ...Object.fromEntries(Object.entries(PRESETS).map(([id, { name }]) => [id, name(t)])) }, matching(lab)),
        el(
          "fieldset",
          { className: "option" },
          el("legend", {}, t("Convention")),
          el("div", { className: "choice" }, radios("convention", { row: t("rows, x W"), column: t("columns, W x") }, lab.convention)),
        ),
        Object.entries(menu).map(([name, { label, values }]) => option(name, label, values, lab[/** @type {"mask"} */ (name)])),
        counted(t, lab).map(([name, label, most]) => stepper(t, name, label, countOf(lab, name), most)),
        Object.entries(extra).map(([name, label]) => toggle(`has-${name}`, label, EXTRAS[name].some((one) => Boolean(lab.matrices[one])))),
        lab.matrices.targets && toggle("shift", t("Predict the next token"), lab.shift),
        lab.matrices.targets &&
          el("label", { className: "option" }, el("span", {}, t("Label smoothing")), el("input", { className: "short", name: "smoothing", inputMode: "decimal", value: lab.smoothing })),
        el("button", { key: "undo", type: "button", className: "button quiet", "data-go": "undo", disabled: !past.undoable() }, t("Undo")),
        el("button", { key: "redo", type: "button", className: "button quiet", "data-go": "redo", disabled: !past.redoable() }, t("Redo")),
      );
    },
  };
}

/** @param {Lab} lab @param {HTMLInputElement} input @returns {Lab | null} */
function chosen(lab, { name, value, checked }) {
  if (name === "preset") return value ? oriented(preset(value), lab.convention) : null;
  if (name === "convention") return value === lab.convention ? null : turned(lab);
  if (name === "shift") return { ...lab, shift: checked };
  if (name === "smoothing") return number(value).value === null ? null : { ...lab, smoothing: value };
  if (name in CHOICES) return fitted({ ...lab, [name]: value });
  return switched(lab, name.replace("has-", ""), checked);
}

/** @param {Lab} lab @param {string} convention */
const oriented = (lab, convention) => (lab.convention === convention ? lab : turned(lab));

/** @param {Lab} lab @param {string} name @returns {number} */
const countOf = (lab, name) => (name === "heads" ? lab.heads : name === "window" ? lab.window : sizes(lab)[/** @type {"n"} */ (name)]);

/** @param {Lab} lab @param {string} size @param {number} by */
function resized(lab, size, by) {
  const count = countOf(lab, size) + by;
  return size === "window" ? { ...lab, window: count } : fitted(lab, { [size]: count });
}

/** The example that this is, whatever the tokens are called; "" for none. @param {Lab} lab */
function matching(lab) {
  const plain = (/** @type {Lab} */ one) => JSON.stringify({ ...oriented(one, "row"), tokens: 0, memoryTokens: 0 });
  return Object.keys(PRESETS).find((id) => plain(preset(id)) === plain(lab)) ?? "";
}

/** @param {string} name @param {string} label @param {Record<string, string>} values @param {string} value */
const option = (name, label, values, value) =>
  el(
    "label",
    { key: name, className: "option menu" },
    el("span", {}, label),
    el("select", { name, value, "aria-label": label }, Object.entries(values).map(([id, says]) => el("option", { value: id }, says))),
  );

/** @param {string} name @param {string} label @param {boolean} checked */
const toggle = (name, label, checked) =>
  el("label", { key: name, className: "option toggle" }, el("input", { type: "checkbox", name, checked }), el("span", {}, label));

/** @param {Translate} t @param {string} name @param {string} label @param {number} count @param {number} most */
const stepper = (t, name, label, count, most) =>
  el(
    "div",
    { key: name, className: "option stepper", role: "group", "aria-label": label },
    el("span", {}, label),
    el("button", { key: "less", type: "button", className: "button", "data-size": name, "data-by": "-1", disabled: count <= 1, "aria-label": t("One less") }, "−"),
    el("output", {}, String(count)),
    el("button", { key: "more", type: "button", className: "button", "data-size": name, "data-by": "1", disabled: count >= most, "aria-label": t("One more") }, "+"),
  );
