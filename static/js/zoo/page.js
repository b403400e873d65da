/** The zoo's page: what its models are given, and a panel for each model. */

import { bindTyping, radios } from "../core/figure/controls.js";
import { wording } from "../core/figure/problem-wording.js";
import { WHO_IS_IT, changedName, taskDoes, taskName, taskTakes, unitName } from "../core/store/examples-and-tasks.js";
import { blockName } from "../core/store/model-part-names.js";
import { attention, attentionAt, blockOf, isBetweenTexts, placeOf, typedText } from "../core/wire/model-description.js";
import { el, find, h, render } from "../lib/dom.js";
import { createFigure, linkTo, storeOf } from "../views/create-figure.js";
import { bestHead, headInLink, headShares, workspaceLink } from "./zoo-link.js";

/** @import { PageContext } from "../core/figure/types.js" */
/** @import { ZooExampleReply } from "../core/wire/schemas.d.ts" */
/** @import { HeadPlace, Zoo, ZooModel, ZooState } from "./zoo-link.js" */

// What the zoo's models are given: the task, and a typed text or a drawn example.

/**
 * The first input of each task: a given sentence, or an example of a length.
 * @type {Record<string, {source?: string, length?: number, seed?: number}>}
 */
const FIRST = {
  who: { source: WHO_IS_IT },
  addition: { source: "27+58" },
};
const USUAL = { length: 6, seed: 1 };

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {import("./zoo-link.js").Zoo} zoo
 * @param {{draw: (length: number) => void, ask: (source: string) => void}} listener
 */
export function bindInput({ t }, zoo, { draw, ask }) {
  const form = /** @type {HTMLFormElement} */ (find("#ask"));
  const box = /** @type {HTMLInputElement} */ (find("#source"));
  const length = /** @type {HTMLSelectElement} */ (find("#length"));
  const message = find("#source-says");
  let task = "";
  bindTyping(box, { submit: () => box.value.trim() && ask(box.value) });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    draw(Number(length.value));
  });

  /** @param {string} next @param {number} chosen  length */
  function lengths(next, chosen) {
    task = next;
    const models = zoo.models.filter((model) => model.task === task);
    const tested = [...new Set(models.flatMap(({ seeds }) => seeds.flatMap(({ accuracy }) => Object.keys(accuracy).map(Number))))];
    const longest = Math.max(...models.map(({ trained }) => trained[1]));
    const named = (/** @type {number} */ n) => (n > longest ? t("{n} (longer than trained)", { n }) : String(n));
    const unit = find("#unit");
    unit.textContent = unitName(t, zoo.tasks.find(({ id }) => id === task)?.unit ?? "");
    render(length, tested.sort((a, b) => a - b).map((n) => el("option", { key: n, value: String(n) }, named(n))));
    length.value = String(tested.includes(chosen) ? chosen : longest);
  }

  return {
    /** @param {string} task */
    first: (task) => FIRST[task] ?? USUAL,
    /** Start with the text of a link. @param {string} task @param {string} source */
    open(task, source) {
      form.hidden = false;
      box.value = source;
      lengths(task, USUAL.length);
    },
    waits: () => form.setAttribute("aria-busy", "true"),
    /** @param {import("../core/wire/reply.js").Problem} problem */
    fails(problem) {
      form.removeAttribute("aria-busy");
      box.setAttribute("aria-invalid", "true");
      const typed = problem.kind === "not-of-task" || problem.kind === "too-long";
      render(message, el("span", { className: "wrong" }, typed ? taskTakes(t, task) : wording(t, problem)));
    },
    /** @param {ZooExampleReply} example */
    show(example) {
      form.removeAttribute("aria-busy");
      box.removeAttribute("aria-invalid");
      // Do not interfere with typing: replace the text only if it differs.
      if (plain(box.value) !== plain(example.source) || document.activeElement !== box) box.value = example.source;
      if (task !== example.task) lengths(example.task, USUAL.length);
      const heldOut = example.held_out ? t("No model was trained on this input.") : t("A model may have been trained on this input.");
      render(message, t("Right answer:"), " ", el("b", { lang: "en", className: "answer" }, example.target), " ", el("span", { className: "note" }, heldOut));
    },
  };
}

/** @param {string} text */
const plain = (text) => text.replace(/\s/g, "").toLowerCase();

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {Zoo} zoo
 * @param {{get: () => ZooState, change: (next: ZooState) => void}} listener
 */
export function bindChoices({ t }, zoo, { get, change }) {
  const root = find("#choices");
  const tasks = zoo.tasks.map(({ id }) => id).filter((id) => zoo.models.some(({ task }) => task === id));
  root.addEventListener("change", ({ target }) => {
    const { name, value, checked } = /** @type {HTMLInputElement} */ (target);
    const state = get();
    if (name === "task") return change({ ...state, task: value });
    const models = checked ? [...state.models, value] : state.models.filter((name) => name !== value);
    if (models.length) change({ ...state, models: ordered(zoo, models) });
    else show();
  });

  function show() {
    const { task, models } = get();
    const names = Object.fromEntries(tasks.map((id) => [id, taskName(t, id)]));
    const boxes = zoo.models.filter((model) => model.task === task).map(({ name, changed }) =>
      el(
        "label",
        { key: name },
        el("input", { type: "checkbox", className: "hidden", name: "model", value: name, checked: models.includes(name) }),
        el("span", {}, changedName(t, changed)),
      ),
    );
    render(
      root,
      group("task", t("Task"), radios("task", names, task)),
      group("model", t("Models"), boxes),
    );
    find("#does").textContent = taskDoes(t, task);
  }
  return { show };
}

/** Sort models in the order of the zoo. @param {Zoo} zoo @param {string[]} models */
const ordered = (zoo, models) => zoo.models.map(({ name }) => name).filter((name) => models.includes(name));

/** @param {string} key @param {string} label @param {import("../lib/dom.js").Described[]} list */
const group = (key, label, list) =>
  el("fieldset", { key, className: "option" }, el("legend", {}, label), el("div", { className: "choice" }, ...list));

// One panel per model: its answer, and the attention of one of its heads.

/** @typedef {{lang: string, pick: (headsByModel: Record<string, HeadPlace>) => void}} ZooPage  pick: heads by model */
/** @typedef {ReturnType<typeof createPanel>} Panel */

/** @param {PageContext} page @param {import("../core/store/data-sources.js").Source} source @param {ZooPage} zooPage */
export function createPanels(page, source, zooPage) {
  const root = find("#panels");
  /** @type {Map<string, Panel>} */
  const panels = new Map();
  return {
    /** @param {ZooModel[]} models @param {Record<string, HeadPlace>} places @param {ZooExampleReply} example */
    show(models, places, example) {
      for (const [name, panel] of panels) {
        if (models.some((model) => model.name === name)) continue;
        panel.destroy();
        panels.delete(name);
      }
      const picked = (/** @type {string} */ name) => (/** @type {HeadPlace | null} */ head) => {
        const { [name]: _, ...otherPlaces } = places;
        zooPage.pick(head ? { ...otherPlaces, [name]: head } : otherPlaces);
      };
      for (const model of models) {
        const { name } = model;
        const panel = panels.get(name) ?? createPanel(page, source, model, zooPage.lang);
        panels.set(name, panel);
        root.append(panel.element); // in the order of the models
        panel.show(places[name] ?? null, example, picked(name));
      }
    },
  };
}

/**
 * @param {PageContext} page
 * @param {import("../core/store/data-sources.js").Source} source
 * @param {ZooModel} model
 * @param {string} lang
 */
function createPanel(page, source, model, lang) {
  const { t } = page;
  const id = `zoo-${model.name}`;
  const open = h("a", { className: "open" }, t("Open in the workspace"));
  const answer = h("p", { className: "says", role: "status" });
  const select = h("select", {});
  const caption = h("p", { className: "caption" });
  const note = h("p", { className: "note" });
  const view = h("div", {});
  const element = h(
    "article",
    { className: "one-model", "aria-labelledby": id },
    h("div", { className: "model-head" }, h("h2", { id }, changedName(t, model.changed)), open),
    answer,
    h("label", { className: "option menu" }, h("span", {}, t("Head")), select),
    caption,
    view,
    note,
  );
  const store = storeOf(linkTo({ model: model.id, lang, view: "attention" }));
  /** @type {ZooExampleReply | null} */
  let example = null;
  /** @type {(head: HeadPlace | null) => void} */
  let picked = () => {};
  /** @type {ReturnType<typeof createFigure> | null} */
  let figure = null;
  select.addEventListener("change", () => picked(headOf(select.value)));

  function judge() {
    const { trace, status, link } = store.get();
    if (!example || !trace || status !== "ready" || link.source !== example.source) return;
    const right = trace.output.text === example.target;
    answer.dataset.right = String(right);
    render(
      answer,
      el("span", { className: "verdict", "aria-hidden": "true" }, right ? "✓" : "✗"),
      el("b", { lang: "en", className: "answer" }, trace.output.text || "–"),
      el("span", {}, right ? t("correct") : t("wrong")),
    );
    render(note, right && hitSentence(store.get(), example, t));
  }
  store.subscribe(({ trace, status, link }) => [trace, trace?.tensors, status, link], judge);

  return {
    element,
    /** @param {HeadPlace | null} place @param {ZooExampleReply} newExample @param {(head: HeadPlace | null) => void} pick */
    show(place, newExample, pick) {
      [example, picked] = [newExample, pick];
      const head = place ?? bestHead(model);
      render(select, options(model, t));
      select.value = place ? `${place.place}.${place.head}` : "";
      open.setAttribute("href", workspaceLink(model, newExample.source, head, lang));
      store.go({ source: newExample.source, ...headInLink(model, head), ...pinned(model, head, newExample) });
      // Only after it is in the page and has a width.
      if (!figure) {
        figure = createFigure({ root: view, store, source, page, caption, measure });
        void figure.run();
      }
      judge();
    },
    destroy() {
      figure?.destroy();
      element.remove();
    },
  };
}

/**
 * Nearly square, for self-attention over a sentence.
 * @type {import("../core/figure/types.js").Measure}
 */
const measure = (element) => {
  const width = Math.floor(element.getBoundingClientRect().width);
  return { width, height: Math.min(Math.max(width * 0.8, 420), 620), wide: true };
};

/**
 * For self-attention, pin the row that the task is about, such as "it".
 * @param {ZooModel} model
 * @param {HeadPlace} head
 * @param {ZooExampleReply} example
 */
function pinned({ info }, { place }, { looks: lookedAt }) {
  const sides = attentionAt(info, place);
  const [row] = sides && !isBetweenTexts(sides) ? Object.keys(lookedAt[sides.query] ?? {}) : [];
  return { query: row === undefined ? null : Number(row), key: null };
}

/** @param {string} value  "decoder.0.cross.2" @returns {HeadPlace | null} */
function headOf(value) {
  const end = value.lastIndexOf(".");
  return end < 0 ? null : { place: value.slice(0, end), head: Number(value.slice(end + 1)) };
}

/**
 * The best head, then all heads by attention, each with how often it looks at the right token.
 * @param {ZooModel} model
 * @param {PageContext["t"]} t
 */
function options(model, t) {
  const all = headShares(model);
  const top = bestHead(model);
  const named = (/** @type {{head: number, share: number | null}} */ { head, share }) =>
    share === null ? t("head {n}", { n: head + 1 }) : t("head {n}: {percent} % at the right token", { n: head + 1, percent: Math.round(share * 100) });
  const groups = model.info.attentions.map(({ place, layer }) =>
    el(
      "optgroup",
      { key: place, label: t("{block}, layer {n}", { block: blockName(placeOf(model.info, place)?.block ?? place, t), n: layer + 1 }) },
      all.filter((entry) => entry.place === place).map((entry) => el("option", { key: entry.head, value: `${place}.${entry.head}` }, named(entry))),
    ),
  );
  const { block, layer } = headInLink(model, top);
  const words = { block: blockName(block, t), layer: layer + 1, head: top.head + 1, percent: Math.round((top.share ?? 0) * 100) };
  return [el("option", { key: "best", value: "" }, t("the best: {block}, layer {layer}, head {head} ({percent} %)", words)), ...groups];
}

/**
 * How often the shown head's largest weight is on a token that determines the answer.
 * @param {import("../core/store/store.js").Page} page
 * @param {ZooExampleReply} example
 * @param {PageContext["t"]} t
 */
function hitSentence({ trace, model, link }, example, t) {
  const matrix = trace && attention(model, trace, link);
  const { query, key } = blockOf(model, link.block);
  const rows = Object.entries((key === typedText(model) && example.looks[query]) || {});
  const measuredRows = rows.filter(([row]) => Number(row) < (matrix?.rows ?? 0));
  if (!matrix || !measuredRows.length) return "";
  const hits = measuredRows.filter(([row, keys]) => keys.includes(strongest(matrix, Number(row))));
  if (measuredRows.length === 1) return hits.length ? t("It looks most at the right token.") : t("It does not look most at the right token.");
  return t("It looks most at the right token in {hits} of {rows} rows.", { hits: hits.length, rows: measuredRows.length });
}

/** @param {import("../core/wire/safetensors.js").Matrix} matrix @param {number} row */
function strongest({ values, cols }, row) {
  let largest = 0;
  for (let col = 1; col < cols; col++)
    if (!(values[row * cols + col] <= values[row * cols + largest])) largest = col;
  return largest;
}
