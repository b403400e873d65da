/** Two runs, heads, layers or models side by side, and what changed between them. */

import { blocks, extent, place } from "../../core/wire/attentions.js";
import { bothWays } from "../../core/wire/model.js";
import { otherPlace, otherRun } from "../../core/store/comparison.js";
import { otherModels, placed, runB } from "../../compare-models/model-comparison.js";
import { hasRun } from "../../core/store/share-contents.js";
import { choiceOption, nameOption, textOption, integerOption } from "../../core/store/options.js";
import { modelOfLink } from "../../core/store/link.js";
import { controls } from "../../core/figure/controls.js";
import { mountRuns, offered } from "./run-comparison.js";
import { mountModels } from "../../compare-models/comparison-view.js";

/** @import { View, Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */

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
