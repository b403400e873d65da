/** Compare two runs of the page's model: another word, head, layer or direction. */

import { trio as trioOf } from "../../core/compute/computed-tensors.js";
import { headThumbnail, thumbnailTensors } from "../../core/compute/head-thumbnails.js";
import { colourTable, drawThumbnail } from "../../core/draw/head-grid.js";
import { sequential } from "../../core/draw/colour-scales.js";
import { changeList, headline, panels, pointing } from "../../core/figure/matrix-difference.js";
import { wording } from "../../core/figure/problem-wording.js";
import { bindTyping, grow } from "../../core/figure/text-input.js";
import { comparison, otherPlace, otherRun, otherSentence } from "../../core/store/comparison.js";
import { isFixed } from "../../core/store/share-contents.js";
import { answer } from "../../core/store/view-requests.js";
import { crossBlock, isBetweenTexts, blockAt, extent } from "../../core/wire/attentions.js";
import { Problem } from "../../core/wire/problem.js";
import { languages } from "../../core/wire/tokens.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace } from "../../core/wire/wire.js" */

// B's picker of another head or layer, with thumbnails like those of the page.

/** @param {Page} page @returns {boolean}  whether B is another head or layer, and there are pictures to pick from */
const picks = ({ link }) => link.options.other === "head" || link.options.other === "layer";

/** @param {Page} page @returns {string[]}  addresses of what is offered */
export const offered = (page) => (picks(page) ? thumbnailTensors(page.model, page.link.block) : []);

/** @param {Context} context */
function otherPicker(context) {
  const { store, t, uniqueId } = context;
  const legend = h("legend", {});
  const list = h("div", { className: "others" });
  const element = h("fieldset", { className: "option other" }, legend, list);
  list.addEventListener("change", (event) => {
    const value = Number(/** @type {HTMLInputElement} */ (event.target).value);
    const name = store.get().link.options.other === "layer" ? "layer_b" : "head_b";
    store.choose({ [name]: value });
  });

  /** @param {"head" | "layer"} part @param {number} count @param {number} chosen */
  function build(part, count, chosen) {
    legend.textContent = part === "head" ? t("B's head") : t("B's layer");
    const labels = Array.from({ length: count }, (_, i) => {
      const name = part === "head" ? t("Head {n}", { n: i + 1 }) : t("Layer {n}", { n: i + 1 });
      return el(
        "label",
        { className: "thumb", title: name },
        el("input", { type: "radio", name: uniqueId("other"), value: String(i), className: "hidden", "aria-label": `B: ${name}`, checked: i === chosen }),
        el("canvas", { "aria-hidden": "true" }),
        el("span", { className: "number", "aria-hidden": "true" }, String(i + 1)),
      );
    });
    render(list, labels);
  }

  function refresh() {
    const page = store.get();
    const { link, model, trace } = page;
    const { other: by } = link.options;
    element.hidden = !model || !picks(page);
    if (!model || !trace || (by !== "head" && by !== "layer")) return;
    const { layers, heads } = extent(model, link.block);
    build(by, by === "head" ? heads : layers, otherPlace(page)[/** @type {"head" | "layer"} */ (by)]);
    const colours = colourTable(sequential(context.theme()));
    list.querySelectorAll("canvas").forEach((canvas, i) => {
      const thumbPlace = { ...link, [by]: i };
      const matrix = headThumbnail(model, trace, thumbPlace);
      if (matrix) drawThumbnail(canvas, matrix, colours);
    });
  }
  return { element, refresh };
}

// The second sentence, traced while typing; its errors are shown beside it.

/** @param {Context} context */
function otherBox({ store, t, uniqueId }) {
  const box = h("textarea", {
    id: uniqueId("source-b"),
    rows: 1,
    autocomplete: "off",
    spellcheck: false,
    "aria-describedby": uniqueId("problem-b"),
  });
  const output = h("p", { className: "output-b", "aria-live": "polite" });
  const problem = h("p", { className: "problem", id: uniqueId("problem-b"), role: "alert", hidden: true });
  const element = h(
    "div",
    { className: "box-b" },
    h("div", { className: "line-b" }, h("label", { for: uniqueId("source-b") }, h("b", {}, "B"), h("span", { className: "hidden" }, " ", t("the same sentence with a word changed"))), box, output),
    problem,
  );
  let empty = false;
  bindTyping(box, {
    submit() {
      empty = !box.value.trim();
      if (empty) refresh(true, new Problem("empty-text"));
      else store.choose({ b: box.value }, "typed");
    },
    onInput: () => grow(box),
  });

  /**
   * @param {boolean} isVisible
   * @param {Problem | null} wrong  of B
   */
  function refresh(isVisible, wrong) {
    element.hidden = !isVisible;
    if (!isVisible) return;
    const page = store.get();
    const sentence = otherSentence(page);
    box.readOnly = isFixed(page);
    if (document.activeElement !== box && box.value !== sentence) {
      box.value = sentence;
      empty = false;
    }
    grow(box);
    const question = otherRun(page);
    const reply = question && /** @type {Trace | Problem | undefined} */ (answer(page, question));
    const trouble = empty ? new Problem("empty-text") : wrong;
    problem.hidden = !trouble;
    problem.textContent = trouble ? wording(t, trouble) : "";
    box.setAttribute("aria-invalid", String(trouble !== null));
    if (reply && !(reply instanceof Problem)) {
      const [from, to] = languages(reply.direction);
      output.textContent = reply.output.text;
      [box.lang, output.lang] = [from, to];
    }
  }
  return { element, refresh };
}

/**
 * @param {Context} context
 * @param {HTMLElement} root
 * @param {HTMLElement} bar  with the options, to which it adds
 * @param {import("../../core/figure/types.js").Finding} finding
 */
export function mountRuns(context, root, bar, { line: lead, inner }) {
  const { store } = context;
  const currentComparison = () => {
    const result = comparison(store.get());
    return result instanceof Problem ? null : result;
  };
  const light = () => trio.mark(points.marked());
  const points = pointing(context, currentComparison, light);
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
    const current = currentComparison();
    picker.refresh();
    box.refresh(store.get().link.options.other === "sentence", wrong);
    render(hint, hints(context, wrong));
    trio.element.hidden = !current;
    render(lead, current ? headline(context, current) : []);
    if (!current) return;
    points.forget();
    box.element.style.setProperty("--second", `${trio.draw(current)}px`);
    list.draw(current);
    light();
  }

  return {
    draw,
    light,
    destroy: () => (points.stop(), trio.destroy(), picker.element.remove()),
    picture: () => (currentComparison() ? trio.picture() : null),
    numbers() {
      const current = currentComparison();
      return current && trioOf(current);
    },
  };
}

/**
 * Why the two directions cannot be compared.
 * @param {Context} context
 * @param {Problem | null} wrong  of B
 */
function hints({ store, t }, wrong) {
  const { link } = store.get();
  if (link.options.other !== "direction") return [];
  if (wrong?.kind === "frozen") return [el("p", {}, wording(t, wrong))];
  if (isBetweenTexts(blockAt(store.get())))
    return wrong
      ? [el("p", {}, t("The translation cannot be read back: the other direction has nothing to show."))]
      : [];
  const onclick = () => store.go({ block: crossBlock(store.get().model).id, query: null, key: null });
  const button = el("button", { type: "button", className: "button", onclick }, t("Show cross-attention"));
  const why = t("The two directions can be compared only in cross-attention, where one language looks at the other.");
  return [el("p", {}, why), button];
}
