/** Compare two runs of the page's model: another word, head, layer or direction. */

import { Problem } from "../../core/wire/problem.js";
import { across, between, blockAt } from "../../core/wire/attentions.js";
import { comparison } from "../../core/store/comparison.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { trio as trioOf } from "../../core/compute/computed-tensors.js";
import { wording } from "../../core/figure/problem-wording.js";
import { changeList, headline } from "../../core/figure/comparison/largest-changes.js";
import { otherPicker } from "./head-picker.js";
import { panels } from "../../core/figure/comparison/panels.js";
import { pointing } from "../../core/figure/comparison/pointing.js";
import { otherBox } from "./other-sentence.js";

/** @import { Context } from "../../core/figure/types.js" */

/**
 * @param {Context} context
 * @param {HTMLElement} root
 * @param {HTMLElement} bar  with the options, to which it adds
 * @param {import("../../core/figure/types.js").Finding} finding
 */
export function mountRuns(context, root, bar, { line: lead, inner }) {
  const { store } = context;
  const found = () => {
    const result = comparison(store.get());
    return result instanceof Problem ? null : result;
  };
  const light = () => trio.mark(points.marked());
  const points = pointing(context, found, light);
  const picker = otherPicker(context);
  const box = otherBox(context);
  const hint = h("div", { className: "hint" });
  const trio = panels(context, points);
  const list = changeList(context, ({ row, col }) => points.onPick({ row, col }, "list"));
  bar.append(picker.element);
  trio.element.append(list.element);
  root.append(box.element, inner, hint, trio.element);

  function draw() {
    const result = comparison(store.get());
    const wrong = result instanceof Problem ? result : null;
    const shown = found();
    picker.refresh();
    box.refresh(store.get().link.options.other === "sentence", wrong);
    render(hint, hints(context, wrong));
    trio.element.hidden = !shown;
    render(lead, shown ? headline(context, shown) : []);
    if (!shown) return;
    points.forget();
    box.element.style.setProperty("--second", `${trio.draw(shown)}px`);
    list.draw(shown);
    light();
  }

  return {
    draw,
    light,
    destroy: () => (points.stop(), trio.destroy(), picker.element.remove()),
    picture: () => (found() ? trio.picture() : null),
    numbers() {
      const shown = found();
      return shown && trioOf(shown);
    },
  };
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
