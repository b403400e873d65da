/** Two runs, heads, layers or models side by side, and what changed between them. */

import { mountModels } from "../../compare-models/comparison-view.js";
import { otherModels, placed, runB } from "../../compare-models/model-comparison.js";
import { headThumbnail, thumbnailTensors, trio as trioOf } from "../../core/compute/computed-tensors.js";
import { sequential } from "../../core/draw/colour-scales.js";
import { colourTable, drawThumbnail } from "../../core/draw/head-grid.js";
import { bindTyping, controls, grow } from "../../core/figure/controls.js";
import { changeList, headline, panels, pointing } from "../../core/figure/matrix-difference.js";
import { wording } from "../../core/figure/problem-wording.js";
import { comparison, otherPlace, otherRun, otherSentence } from "../../core/store/comparison.js";
import { modelOfLink } from "../../core/store/link.js";
import { choiceOption, integerOption, nameOption, textOption } from "../../core/store/link-options.js";
import { hasRun, isFixed } from "../../core/store/share-contents.js";
import { answer } from "../../core/store/view-requests.js";
import { blockAt, blocks, bothWays, crossBlock, extent, isBetweenTexts, place } from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { languages } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";

/** @import { View, Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */

/** @type {View} */
export const compare = {
  id: "compare",
  name: (t) => t("Compare"),
  about: (t) =>
    t(
      "A is the page's own sentence, head and layer; B differs from it in one thing. Equal tokens share a row and a " +
      "column; a token that only one of the two has leaves a gap in the other. The third picture is B minus " +
      "A: orange where B has more weight, blue where it has less. Two models have their own tokens: pointing at some " +
      "characters in one highlights them in the other, and B minus A shows the tokens that are equal.",
    ),
  frame: { rail: "both", inspector: false, caption: false, legend: "none", tells: true },
  options: {
    other: choiceOption("sentence", "head", "layer", "direction", "model"),
    b: textOption(),
    head_b: integerOption(0, 999),
    layer_b: integerOption(0, 999),
    model_b: nameOption(),
    block_b: nameOption(),
  },
  needs(page) {
    const places = [page.link, { ...page.link, ...otherPlace(page) }];
    const tensors = places.flatMap((head) => [place(page.model, head, "weights"), place(page.model, head, "mask")]);
    return [...tensors, ...offered(page)];
  },
  asks: (page) => questionsFor(page, differs(page)),
  keeps: (page) => questionsFor(page, differs(page)).map((question) => everywhere(page, question)),
  lights: (page) => [{ part: "attention", block: page.link.block, layer: otherPlace(page).layer }],
  settle,
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store } = context;
  const bar = controls(context, [choices(context)]);
  const finding = context.finding();
  const currentKind = () => (store.get().link.options.other === "model" ? "model" : "run");
  let kind = currentKind();
  root.append(bar);
  let mounted = begin();

  function begin() {
    for (const element of [...root.children]) if (element !== bar) element.remove();
    return kind === "model" ? mountModels(context, root, bar, finding) : mountRuns(context, root, bar, finding);
  }

  return {
    draw() {
      if (currentKind() !== kind) {
        mounted.destroy();
        kind = currentKind();
        mounted = begin();
      }
      bar.refresh();
      mounted.draw();
    },
    light: () => mounted.light(),
    destroy: () => mounted.destroy(),
    picture: () => mounted.picture(),
    numbers: () => mounted.numbers(),
  };
}

/** Whether there is another model to compare with. @param {Page} page */
const hasOthers = (page) => !page.models.length || otherModels(page).length > 0;

/** @param {Page} page @param {string} aspect  in what B differs @returns {import("../../core/store/view-requests.js").Question[]} */
function questionsFor(page, aspect) {
  const otherPage = { ...page, link: { ...page.link, options: { ...page.link.options, other: aspect } } };
  return [aspect === "model" ? runB(otherPage) : otherRun(otherPage)].flatMap((question) => question ?? []);
}

/**
 * What B can differ in: of the model, and of what a share without its model contains.
 * @param {Page} page
 */
function differences(page) {
  const { model } = page;
  const some = ["sentence", "head", "layer", ...(!model || bothWays(model) ? ["direction"] : []), ...(hasOthers(page) ? ["model"] : [])];
  return some.filter((aspect) => questionsFor(page, aspect).every((question) => hasRun(page, question)));
}

/** What B differs in: as the link says, if it can. @param {Page} page */
function differs(page) {
  const { other: aspect } = page.link.options;
  const some = differences(page);
  return some.includes(aspect) ? aspect : some[0];
}

/** The most numbers of a second run that a share contains beyond what is shown. */
const MOST = 2 ** 20;

/**
 * The question about a run, for all its attention: then each of its heads can be shown without its model.
 * @param {Page} page
 * @param {import("../../core/store/view-requests.js").Question} question
 */
function everywhere(page, question) {
  const trace = /** @type {{model?: string}} */ ("trace" in question ? question.trace : {});
  const model = page.models.find(({ id }) => id === trace.model) ?? page.model;
  const rows = blocks(model).flatMap((block) => block.rows.map(({ place }) => place));
  const tokens = Math.max(...Object.values(page.trace?.tokens ?? {}).map(({ length }) => length));
  const numbers = blocks(model).reduce((sum, { id, rows }) => sum + rows.length * extent(model, id).heads * tokens ** 2, 0);
  if (numbers > MOST) return question;
  return { trace: { ...trace, select: rows.flatMap((place) => [`${place}.weights`, `${place}.mask`]) } };
}

/** @param {Context} context @returns {import("../../core/figure/controls.js").Control} */
const choices = ({ store, t }) => ({
  option: "other",
  label: t("B differs in"),
  values() {
    /** @type {Record<string, string>} */
    const names = { sentence: t("a word"), head: t("the head"), layer: t("the layer"), direction: t("the direction"), model: t("the model") };
    return Object.fromEntries(differences(store.get()).map((aspect) => [aspect, names[aspect]]));
  },
});

/** @type {NonNullable<View["settle"]>} */
function settle(page) {
  if (!modelOfLink(page)) return page.link;
  const aspect = differs(page);
  if (aspect === "model" && hasOthers(page)) return placed(page);
  return aspect === page.link.options.other ? page.link : { ...page.link, options: { ...page.link.options, other: aspect } };
}

// Compare two runs of the page's model: another word, head, layer or direction.

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
