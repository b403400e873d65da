/** The controls of a lesson's figure: the sentence, the layer and the head. */

import { step } from "../workspace/head-pickers.js";
import { extent } from "../core/wire/attentions.js";
import { h } from "../lib/dom.js";
import { view } from "../views/index.js";

/**
 * A field for a sentence of the reader's own.
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {string} value
 * @param {(source: string) => void} run  called with what is not blank
 */
export function createSentence({ t }, value, run) {
  const field = h("input", { type: "text", autocomplete: "off", spellcheck: false, enterKeyHint: "go", value, "aria-label": t("Sentence") });
  const form = h("form", { className: "own-sentence" }, field, h("button", { type: "submit", className: "button" }, t("Run")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim()) run(field.value);
  });
  return { form, field };
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/store/store.js").Store} store
 * @param {import("../core/store/link.js").State} first  the initial state
 * @param {HTMLElement} [link]  the button that makes a link to what is shown
 */
export function createFigureBar({ t }, store, first, link = undefined) {
  const { form, field } = createSentence({ t }, first.source, (source) => {
    if (source !== store.get().link.source) store.go({ source, target: null, direction: null, query: null, key: null }, "typed");
  });
  const steppers = /** @type {const} */ (["layer", "head"]).map((which) => stepper(which, { layer: t("Layer"), head: t("Head") }[which]));
  const back = h("button", { type: "button", className: "button quiet", onclick: reset }, t("Reset"));
  const element = h("div", { className: "figure-bar" }, form, ...steppers.map(({ bar }) => bar), ...(link ? [link] : []), back);

  function reset() {
    field.value = first.source;
    store.go(first, "chosen");
  }

  /** @param {"layer" | "head"} which @param {string} name */
  function stepper(which, name) {
    const output = h("output", {});
    const button = (/** @type {number} */ by, /** @type {string} */ sign, /** @type {string} */ says) =>
      h("button", { type: "button", className: "button quiet", "aria-label": says, onclick: () => step(store, which, by) }, sign);
    const says = { layer: [t("Previous layer"), t("Next layer")], head: [t("Previous head"), t("Next head")] }[which];
    const bar = h("div", { className: "step-by", role: "group", "aria-label": name }, h("span", {}, name), button(-1, "‹", says[0]), output, button(1, "›", says[1]));
    return { which, bar, output };
  }

  function show() {
    const { link, model } = store.get();
    const { frame: { rail }, subject } = view(link.view);
    form.hidden = Boolean(subject); // it shows another run than the link's sentence
    const offered = { layer: rail !== "none", head: rail === "both" };
    for (const { which, bar, output } of steppers) {
      bar.hidden = !offered[which] || Boolean(model && extent(model, link.block)[`${which}s`] < 2);
      output.textContent = String(link[which] + 1);
    }
    back.hidden = link === first || sameLink(link, first);
  }

  store.subscribe(({ link, model }) => [link, model], show);
  show();
  return element;
}

/** @param {import("../core/store/link.js").State} a @param {import("../core/store/link.js").State} b */
const sameLink = (a, b) => JSON.stringify(a) === JSON.stringify(b);
