/** Two runs, heads or layers side by side, and what changed between them. */

import { Problem } from "../../data/problem.js";
import { across, between, blockAt, place } from "../../data/attentions.js";
import { bothWays } from "../../data/model.js";
import { comparison, otherPlace, otherRun } from "../../state/comparison.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { choice, text, whole } from "../../state/options.js";
import { trio as trioOf } from "../../data/computed-tensors.js";
import { controls } from "../../parts/controls.js";
import { wording } from "../../parts/problem-wording.js";
import { changeList, headline } from "../../parts/comparison/largest-changes.js";
import { offered, otherPicker } from "./head-picker.js";
import { panels } from "../../parts/comparison/panels.js";
import { pointing } from "../../parts/comparison/pointing.js";
import { otherBox } from "./other-sentence.js";

/** @typedef {import("../../state/types.js").View} View */
/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../state/store.js").Page} Page */

/** @type {View} */
export const compare = {
  id: "compare",
  name: (t) => t("Compare"),
  about: (t) =>
    t(
      "A is the page's own sentence, head and layer; B differs from it in one thing. Equal tokens share a row and a " +
      "column; a token that only one of the two has leaves a gap in the other. The third picture is B minus " +
      "A: orange where B has more weight, blue where it has less.",
    ),
  frame: { rail: "both", inspector: false, caption: false, legend: "none", tells: true },
  options: {
    other: choice("sentence", "head", "layer", "direction"),
    b: text(),
    head_b: whole(0, 999),
    layer_b: whole(0, 999),
  },
  needs(page) {
    const places = [page.link, { ...page.link, ...otherPlace(page) }];
    const both = places.flatMap((at) => [place(page.model, at, "weights"), place(page.model, at, "mask")]);
    return [...both, ...offered(page)];
  },
  asks: (page) => [otherRun(page)].flatMap((question) => question ?? []),
  lights: (page) => [{ part: "attention", block: page.link.block, layer: otherPlace(page).layer }],
  settle,
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store } = context;
  const found = () => {
    const result = comparison(store.get());
    return result instanceof Problem ? null : result;
  };
  const light = () => trio.mark(points.marked());
  const points = pointing(context, found, light);
  const bar = controls(context, [differences(context)]);
  const picker = otherPicker(context);
  const box = otherBox(context);
  const { line: lead, inner } = context.finding();
  const hint = h("div", { className: "hint" });
  const trio = panels(context, points);
  const list = changeList(context, ({ row, col }) => points.onPick({ row, col }, "list"));
  bar.append(picker.element);
  trio.element.append(list.element);
  root.append(bar, box.element, inner, hint, trio.element);

  function draw() {
    const result = comparison(store.get());
    const wrong = result instanceof Problem ? result : null;
    const shown = found();
    bar.refresh();
    picker.refresh();
    box.refresh(store.get().link.options.other === "sentence", wrong);
    render(hint, hints(context, wrong));
    trio.element.hidden = !shown;
    render(lead, shown ? headline(context, shown) : []);
    if (!shown) return;
    points.forget();
    trio.draw(shown);
    list.draw(shown);
    light();
  }

  const numbers = () => {
    const shown = found();
    return shown && trioOf(shown);
  };
  return { draw, light, destroy: () => (points.stop(), trio.destroy()), picture: () => (found() ? trio.picture() : null), numbers };
}

/** Whether there is another direction to compare with. @param {Page} page */
const turns = ({ model }) => !model || bothWays(model);

/** @param {Context} context @returns {import("../../parts/controls.js").Control} */
const differences = ({ store, t }) => ({
  option: "other",
  label: t("B differs in"),
  values: () => {
    const always = { sentence: t("a word"), head: t("the head"), layer: t("the layer") };
    return turns(store.get()) ? { ...always, direction: t("the direction") } : always;
  },
});

/** @type {NonNullable<View["settle"]>} */
function settle(page) {
  const { link } = page;
  return link.options.other !== "direction" || turns(page) ? link : { ...link, options: { ...link.options, other: "sentence" } };
}

/**
 * Why the two directions cannot be compared.
 * @param {Context} context
 * @param {Problem | null} wrong  of B
 * @returns {import("../../lib/render.js").Described[]}
 */
function hints({ store, t }, wrong) {
  const { link } = store.get();
  if (link.options.other !== "direction") return [];
  if (wrong?.kind === "frozen") return [el("p", {}, wording(t, wrong))];
  if (between(blockAt(store.get())))
    return wrong
      ? [el("p", {}, t("The translation cannot be read back: the other direction has nothing to show."))]
      : [];
  const onclick = () => store.go({ block: across(store.get().model).id, query: null, key: null });
  const button = el("button", { type: "button", className: "button", onclick }, t("Show cross-attention"));
  const why = t("The two directions can be compared only in cross-attention, where one language looks at the other.");
  return [el("p", {}, why), button];
}
