/**
 * "Check this cell": the complete calculation of one cell, stage by stage, compared with the
 * model's numbers.
 */

import { quoted } from "../../core/draw/token.js";
import { cellPicker, onSteps } from "../../core/figure/pointing.js";
import { wording } from "../../core/figure/problem-wording.js";
import { doubtSentence, headName } from "../../core/figure/row-wording.js";
import { waitingLine } from "../../core/figure/figure-status.js";
import { explainedPair } from "../../core/store/highlight.js";
import { isOff } from "../../core/store/interventions.js";
import { blockWord } from "../../core/store/model-part-names.js";
import { choiceOption } from "../../core/store/link-options.js";
import { answer, parameters } from "../../core/store/view-requests.js";
import { attentionAt, axes, blockAt, crossBlock, isBetweenTexts, place } from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { languages, plainStep } from "../../core/wire/tokens.js";
import { copyText } from "../../lib/browser.js";
import { h, render } from "../../lib/dom.js";
import { four, grouped } from "../../lib/numbers.js";
import { ONWARD } from "./stage-contents.js";
import { judgement, section } from "./stage-elements.js";
import { STEPS, overall, stages, transcript, verdict as verdictText } from "./stage-order.js";
import { names } from "./needed-tensors.js";
import { worksheet as calculate } from "./cell-stages.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Stage } from "./stage-contents.js" */

/** @type {View} */
export const worksheet = {
  id: "worksheet",
  name: (t) => t("Worksheet"),
  about: (t) =>
    t(
      "The complete calculation of one cell with the model's own numbers: from the two tokens' vectors through q, k " +
      "and v, the score, the softmax and the weighted sum to the output of the layer. Every stage is " +
      "recomputed in the browser and compared with what the model recorded.",
    ),
  capabilities: ["worksheet"],
  frame: { rail: "both", inspector: false, caption: false, legend: "none" },
  options: { step: choiceOption(...STEPS) },
  needs: (page) => named(page).tensors,
  asks: (page) => parameterQuestions(page),
  lights,
  mount,
};

/**
 * The parts of the layer that belong to the stages after the attention.
 * @type {Record<string, import("../../core/figure/types.js").ModelPart["part"][]>}
 */
const PARTS = {
  input: ["residual"],
  add: ["sum"],
  norm: ["sum"],
  norm2: ["network-sum"],
  hidden: ["network"],
  ffn: ["network"],
  ownnorm2: ["network"],
  close: ["network-sum"],
  all: ["sum", "network", "network-sum"],
};

/** @param {Page} page @returns {import("../../core/figure/types.js").ModelPart[]} */
function lights({ model, link }) {
  const attention = attentionAt(model, place(model, link));
  if (!attention) return [];
  const { stack, layer, kind } = attention;
  const { step } = link.options;
  if (step === "input" && layer === 0 && kind === "self") return [{ part: "embedding" }];
  return (PARTS[step] ?? []).map((part) => (part === "residual" ? { part, stack } : { part, stack, layer }));
}

/** @param {Page} page */
const named = ({ link, model }) => names(model, link);

/**
 * Parameters of the layer, those of the head, which are requested alone, and those of the network.
 * @param {Page} page
 */
function parameterQuestions(page) {
  const { parameters: shared, slices, fed } = named(page);
  return [shared, slices, fed].filter((some) => some.length).map((some) => parameters(page, some));
}

/**
 * @typedef {object} Work
 * @property {Stage[]} list
 * @property {number} weight  the model's weight
 * @property {boolean} masked
 * @property {"waits" | Problem | null} late  why the stages of the feed-forward network are missing
 * @property {import("../../core/wire/tokens.js").Step} query
 * @property {import("../../core/wire/tokens.js").Step} key
 */

/**
 * @param {Context} context
 * @returns {Work | Problem | null}  null: not loaded yet
 */
function work({ store, t }) {
  const page = store.get();
  const { trace, link } = page;
  const pinned = explainedPair(page);
  /** @type {(Record<string, import("../../core/wire/safetensors.js").Tensor> | Problem | undefined)[]} */
  const answers = parameterQuestions(page).map((question) => answer(page, question));
  const whole = named(page);
  // The attention is shown without the network's matrices, which are much larger.
  const last = whole.fed.length ? answers.at(-1) : null;
  const late = last === undefined ? "waits" : last instanceof Problem ? last : null;
  if (late) answers.pop();
  const list = late ? { ...whole, network: null } : whole;
  const failed = answers.find((reply) => reply instanceof Problem);
  if (failed) return failed;
  const learnt = /** @type {Record<string, import("../../core/wire/safetensors.js").Tensor>} */ (Object.assign({}, ...answers));
  if (!trace || !pinned || answers.includes(undefined) || list.tensors.some((name) => !trace.tensors[name])) return null;
  const cell = { block: link.block, layer: link.layer, head: link.head, ...pinned };
  const sheet = calculate((name) => trace.tensors[name] ?? learnt[name], cell, list);
  const { rows, cols } = axes(page.model, trace, link.block);
  const tokens = { query: rows[pinned.query], key: cols[pinned.key] };
  const { model, may } = sheet.softmax;
  return {
    list: stages({ t, sheet, named: list, cell, joins: isBetweenTexts(blockAt(page)), ...tokens, keys: cols }),
    weight: model[pinned.key],
    masked: !may[pinned.key],
    late,
    ...tokens,
  };
}

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const picker = cellPicker(context);
  const printed = h("p", { className: "printed" });
  const { line: title, inner } = context.finding();
  const verdict = h("div", {});
  const waiting = waitingLine(context, t("Fetching the vectors and the matrices …"));
  const contents = h("ol", { className: "contents", "aria-label": t("Stages") });
  const pages = h("div", { className: "sheets" });
  const body = h("div", { className: "worksheet-body" }, contents, pages);
  const bar = toolbar(context, { go, choose, text: () => (present ? worksheetText(context, present) : "") });
  const frame = h("div", { className: "worksheet" }, printed, picker, inner, verdict, bar.element, waiting.element, body);
  root.append(frame);
  const release = bindKeys(context, go);
  /** @type {Work | null} */
  let present = null;
  let shownKey = "";

  const ids = () => (present?.list ?? []).map(({ id }) => /** @type {string} */ (id));
  /** The current stage; one that this attention does not have is replaced by the last. */
  function step() {
    const { step } = store.get().link.options;
    return step === "all" || ids().includes(step) ? step : (ids().at(-1) ?? step);
  }
  /** @param {string} id */
  function choose(id) {
    const all = step() === "all" && id !== "all";
    if (all) return heading(id)?.scrollIntoView({ block: "start" });
    store.choose({ step: id });
    const index = ids().indexOf(id);
    context.announce(index < 0 ? t("All stages") : `${index + 1}. ${present?.list[index].title}`);
  }
  const heading = (/** @type {string} */ id) => pages.querySelector(`[data-stage="${id}"] h3`);
  /** @param {number} by  to a stage before or after; out of "all" to the first or the last */
  function go(by) {
    const index = step() === "all" ? (by > 0 ? -1 : ids().length) : ids().indexOf(step());
    const next = ids()[index + by];
    if (!next) return;
    store.choose({ step: next });
    context.announce(`${index + by + 1}. ${present?.list[index + by].title}`);
  }

  function draw() {
    picker.refresh();
    const { trace, link } = store.get();
    const key = JSON.stringify([trace?.id, link.block, link.layer, link.head, explainedPair(store.get())]);
    if (present && !present.late && key === shownKey) return turn();
    const current = work(context);
    const failed = current instanceof Problem;
    waiting.show(!current || failed || current.late !== null, missing(t, current));
    body.hidden = failed;
    if (failed || !current) return;
    [shownKey, present] = [key, current];
    build(current);
    turn();
  }

  /** @param {Work} current */
  function build(current) {
    const { list } = current;
    render(printed, sentence(store.get()));
    render(title, headline(context, current));
    const all = overall(list);
    const replaced = !all.agrees && store.get().link.interventions !== null;
    render(verdict, judgement(context, all), replaced && h("p", {}, intervened(t)));
    render(pages, list.map((stage, i) => section(context, stage, i + 1)));
    pages.querySelector(`[data-stage='${ONWARD}']`)?.append(onward(context));
    render(contents, list.map((stage, i) => entry(context, stage, i + 1, choose)));
    frame.dataset.drawn = shownKey;
  }

  /** Show the stage that the link names, or all of them. */
  function turn() {
    const now = step();
    const sections = /** @type {NodeListOf<HTMLElement>} */ (pages.querySelectorAll(".sheet"));
    for (const { classList, dataset } of sections)
      classList.toggle("elsewhere", now !== "all" && dataset.stage !== now);
    for (const button of contents.querySelectorAll("button")) {
      const isCurrent = button.dataset.stage === now;
      button.setAttribute("aria-current", isCurrent ? "step" : "false");
      if (isCurrent) contents.scrollLeft = (button.parentElement?.offsetLeft ?? 0) - 4;
    }
    bar.show(now, ids());
  }

  return { draw, light: draw, destroy: () => (release(), root.replaceChildren()) };
}

/** Whose size is not that of the sentence. @param {Context["t"]} t @param {Problem} problem  of its matrices */
function tooLarge(t, { kind, excess }) {
  if (kind !== "reply-too-large" || excess?.value === undefined) return undefined;
  const [value, limit] = [grouped(excess.value), grouped(excess.limit)];
  return t("The matrices of this layer have {value} numbers; this server sends at most {limit} at once.", { value, limit });
}

/** What the view waits for, if not for everything. @param {Context["t"]} t @param {Work | Problem | null} current */
function missing(t, current) {
  const problem = current instanceof Problem ? current : current?.late;
  if (problem instanceof Problem) return tooLarge(t, problem) ?? wording(t, problem);
  return problem ? t("Fetching the matrices of the feed-forward network …") : undefined;
}

/** The sentence and its translation, for printing. @param {Page} page */
function sentence({ link, trace }) {
  if (!trace) return [];
  const [from, to] = languages(trace.direction);
  return [h("span", { lang: from }, link.source), " → ", h("span", { lang: to }, trace.output.text)];
}

/** @param {Context} context @param {Work} found @returns {import("../../lib/dom.js").Child[]} */
function headline({ store, t, phrase }, { query, key, weight, masked }) {
  const page = store.get();
  const message = isOff(page)
    ? t("{place}: this head is off; it contributes nothing.")
    : masked
    ? t("{place}: {query} may not look at {key}; the weight is 0.")
    : t("{place}: {query} looks at {key} with weight {weight}.");
  const finding = phrase(message, {
    place: h("span", { className: "place" }, headName(t, page)),
    query: h("span", { className: "as-query" }, quoted(query.writes)),
    key: h("span", { className: "as-key" }, quoted(key.writes)),
    weight: four(weight),
  });
  const row = explainedPair(page)?.query;
  return [...finding, ...(isOff(page) || masked || row === undefined ? [] : doubtSentence({ phrase, t }, page, [row]))];
}

/** @param {Context["t"]} t */
const intervened = (t) =>
  t(
    "This run includes an intervention: the numbers that it replaced differ from those computed here.",
  );

/** The whole sheet as text. @param {Context} context @param {Work} found */
function worksheetText({ store, t }, { list, query, key, weight, masked }) {
  const { trace, link, model } = store.get();
  const lines = [
    link.source,
    ...(trace ? [trace.output.text] : []),
    t("{model}, {block}, layer {layer}, head {head}", {
      model: model?.name ?? "",
      block: blockWord(link.block, t),
      layer: link.layer + 1,
      head: link.head + 1,
    }),
    t("query {query}, key {key}: {weight}", {
      query: plainStep(query),
      key: plainStep(key),
      weight: masked ? t("masked") : four(weight),
    }),
    "",
    `${overall(list).agrees ? "✓" : "✗"} ${verdictText(t, overall(list))}`,
  ];
  return transcript(t, lines, list);
}

// Navigation through the stages (list, buttons, keys), printing and copying.

/** Elements that use arrows or Space themselves. */
const TAKES = "input, textarea, select, [contenteditable], [role='region'], [data-one-stop]";

/**
 * A stage in the list: its number, name and result, and whether it agrees.
 * @param {Context} context
 * @param {Stage} stage
 * @param {number} number
 * @param {(id: string) => void} choose
 */
function entry({ t }, { id, title, result, check }, number, choose) {
  const agrees = check && h("span", { className: check.agrees ? "tick" : "tick differs" }, check.agrees ? "✓" : "✗ " + t("differs"));
  if (check?.agrees) agrees?.append(h("span", { className: "hidden" }, t("agrees")));
  const button = h(
    "button",
    { type: "button" },
    h("span", { className: "nth" }, String(number)),
    h("span", { className: "title" }, title),
    h("span", { className: "out" }, result),
    agrees,
  );
  button.dataset.stage = id;
  button.addEventListener("click", () => choose(id));
  return h("li", {}, button);
}

/**
 * @param {Context} context
 * @param {{go: (by: number) => void, choose: (id: string) => void, text: () => string}} actions
 */
function toolbar({ t }, { go, choose, text }) {
  const button = (/** @type {string} */ label, /** @type {() => void} */ act, className = "button") => {
    const element = h("button", { type: "button", className }, label);
    element.addEventListener("click", act);
    return element;
  };
  const back = button("← " + t("Previous"), () => go(-1));
  const on = button(t("Next") + " →", () => go(1));
  const count = h("span", { className: "where" });
  let [now, first] = ["", "input"];
  const all = button(t("Show all"), () => choose(now === "all" ? first : "all"), "button quiet");
  const copied = h("span", { className: "copied", role: "status" });
  const copy = button(t("Copy as text"), async () => {
    copied.textContent = (await copyText(text())) ? t("Copied.") : t("This browser does not allow pages to copy.");
  }, "button quiet");
  const print = button(t("Print"), () => window.print(), "button quiet");
  const element = h(
    "div",
    { className: "turning", role: "group", "aria-label": t("Stages") },
    h("div", { className: "paging" }, back, count, on),
    all,
    h("div", { className: "take" }, copy, print, copied),
  );
  return {
    element,
    /** @param {string} step @param {string[]} ids */
    show(step, ids) {
      [now, first] = [step, ids[0]];
      const index = ids.indexOf(step);
      back.disabled = index === 0;
      on.disabled = index === ids.length - 1;
      count.textContent = index < 0 ? t("all {count}", { count: ids.length }) : t("{n} of {count}", { n: index + 1, count: ids.length });
      all.setAttribute("aria-pressed", String(step === "all"));
      copied.textContent = "";
    },
  };
}

/**
 * @param {Context} context
 * @param {(by: number) => void} go
 * @returns {() => void}  unbinds the keys
 */
const bindKeys = ({ store, keys }, go) =>
  onSteps(keys, {
    projector: () => store.get().link.options.projector === true,
    takes: { arrows: TAKES, space: TAKES },
    go,
    space: (back) => go(back ? -1 : 1),
  });

/** Go to the next attention of the same layer, for the same token. @param {Context} context */
function onward({ store, t }) {
  const button = h("button", { type: "button", className: "button" }, t("Continue with cross-attention") + " →");
  button.addEventListener("click", () => {
    const { link } = store.get();
    store.go({ block: crossBlock(store.get().model).id, query: explainedPair(store.get())?.query ?? null, key: null, options: { ...link.options, step: "input" } }, "chosen");
  });
  return button;
}
