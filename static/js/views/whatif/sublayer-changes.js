/**
 * Changes to a sublayer (an attention or a feed-forward network): off, scaled, without its residual
 * connection; and to one hidden unit of a network.
 */

import { swapped } from "../../core/compute/token-diff.js";
import { wording } from "../../core/figure/problem-wording.js";
import {
  FACTOR, FACTORS, PLAIN, amount, createUnitChanges, editModel, onOff, restricted, rowChoice,
} from "../../core/figure/change-controls.js";
import { bindTyping } from "../../core/figure/controls.js";
import { blockName, hasSublayers, networks, sublayerName } from "../../core/store/model-part-names.js";
import { runQuestion } from "../../core/store/view-requests.js";
import { attentionAt, axes, blocksOfStack, place, placeOf, selfBlock, typedText } from "../../core/wire/model-description.js";
import { createAsker } from "../../core/wire/connection.js";
import { Problem } from "../../core/wire/reply.js";
import { labels, languages, plainLabel } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";

/** @import { Change } from "../../core/store/interventions.js" */
/** @import { Context } from "../../core/figure/types.js" */
/** @import { Label } from "../../core/wire/tokens.js" */

/** @param {Context} context */
export function sublayerChanges(context) {
  const { store, t } = context;
  const { put, remove, replace, currentChange, on, toggle, fixed } = editModel(context);
  const select = h("select", { "aria-label": t("Sublayer") });
  /** @type {string | null} */
  let chosen = null;
  const output = (/** @type {any} */ effect) => ({ at: `${select.value}.output`, ...rows.named(), do: effect });
  const residual = () => ({ at: `${select.value}.residual`, do: "drop" });
  const off = onOff(t("switched off: adds nothing"), (value) => (value ? put(output("zero")) : remove(output("zero"))));
  const scale = amount(t("Scale of its output"), FACTORS, FACTOR, (value, origin) => {
    if (value === 1) remove(output({ scale: 1 }), origin);
    else put(output({ scale: value }), origin);
  });
  const drop = onOff(t("residual connection dropped"), () => toggle(residual()));
  const unit = createUnitChanges(context, { network: () => select.value, rows: () => rows.named() });
  const rows = rowChoice(context, (before, after) => {
    const old = [output("zero"), unit.change("zero")].flatMap((candidate) => currentChange(restricted(candidate, before)) ?? []);
    if (old.length) replace(old, (previous) => restricted(previous, after));
    refresh();
  });
  select.addEventListener("change", () => {
    chosen = select.value;
    refresh();
  });
  const element = h("section", { className: "of-sublayer" }, h("h3", {}, t("A sublayer")), h("div", { className: "option residual" }, select), rows.element, off.element, scale.element, unit.element, drop.element);

  function refresh() {
    const { model, link, trace } = store.get();
    if (!model) return;
    element.hidden = !hasSublayers(model);
    const still = fixed();
    const places = networks(model).flatMap(({ place, stack, layer }) => [...blocksOfStack(model, stack).map(({ rows }) => rows[layer].place), place]);
    const current = chosen !== null && places.includes(chosen) ? chosen : place(model, link);
    render(select, places.map((sublayer) => el("option", { value: sublayer }, sublayerName(model, sublayer, t))));
    select.value = current;
    const stack = select.value.split(".")[0];
    const block = attentionAt(model, select.value) ? placeOf(model, select.value)?.block : blocksOfStack(model, stack)[0]?.id;
    rows.refresh(trace && block ? axes(model, trace, block).rows : [], still);
    const present = currentChange(output("zero"));
    off.show(present?.do === "zero", still);
    scale.show(Number(present?.do?.scale ?? 1), still || present?.do === "zero");
    drop.show(on(residual()), still);
    // Of a Hugging Face model, the networks whose units are recorded are listed.
    const units = model.networks?.length ? model.networks.some((network) => network.place === current) : networks(model).some(({ place }) => place === current);
    unit.refresh(units, still);
  }
  return { element, refresh };
}

// Add a vector: what the model has at one place for a token of one sentence, minus what it has there
// for a token of another (activation addition, Turner et al. 2023).

/** @typedef {{source: string | null, row: number | null}} End  null: as it is at first */
/** @typedef {{at: string, rows: number[] | null, from: End, to: End, times: number}} Step */

const TIMES = { min: -5, max: 5, step: 0.5 };

/** @param {Context} context */
export function vectorChanges(context) {
  const { store, t } = context;
  const { list, put, replace, fixed } = editModel(context);
  /** What is shown: the last such change of the link, else what it would be. @type {Step} */
  let step = { at: "", rows: null, from: { source: null, row: null }, to: { source: null, row: null }, times: 1 };

  const place = h("select", { "aria-label": t("Where the vector is added") });
  const from = stepEnd(context, { word: t("from the token"), token: t("Token that the step begins at"), sentence: t("Sentence that the step begins in") }, (end) => edit({ from: { ...step.from, ...end } }), refresh);
  const to = stepEnd(context, { word: t("to the token"), token: t("Token that the step ends at"), sentence: t("Sentence that the step ends in") }, (end) => edit({ to: { ...step.to, ...end } }), refresh);
  const rows = rowChoice(context, (_, after) => edit({ rows: after }), () => ends().from.row);
  const times = amount(t("Times"), TIMES, PLAIN, (value, origin) => edit({ times: value }, origin));
  const on = onOff(t("add this vector"), (value) => {
    const present = inLink();
    if (value) put(change());
    else if (present) replace([present], () => null);
  });
  const wrong = h("p", { className: "bad", role: "alert", hidden: true });
  const element = h(
    "details",
    { className: "of-vector" },
    h("summary", {}, h("h3", {}, t("A vector"))),
    h("p", { className: "hint-line" }, t("The step from one token to another, as the model has them at one place.")),
    h("div", { className: "step-end" }, h("span", {}, t("at the place")), place),
    from.element,
    to.element,
    wrong,
    rows.element,
    times.element,
    on.element,
  );
  place.addEventListener("change", () => edit({ at: place.value, rows: null }));
  element.addEventListener("toggle", () => (from.retry(), to.retry(), refresh()));

  /** Where vectors can be added: in what reads the typed text, before and after each layer. */
  function places() {
    const { model } = store.get();
    const { id, stack } = selfBlock(model, typedText(model));
    const part = model?.norm === "post" ? "norm" : "residual";
    const layers = networks(model).filter((stackNetwork) => stackNetwork.stack === stack);
    const block = blockName(id, t);
    return [
      { at: `${typedText(model)}.input`, name: t("{block}, input", { block }) },
      ...layers.map(({ place, layer }) => ({ at: `${place}.${part}`, name: t("{block}, after layer {n}", { block, n: layer + 1 }) })),
    ];
  }

  const inLink = () => list().findLast((candidate) => candidate?.do?.add?.to && places().some(({ at: address }) => address === candidate.at)) ?? null;

  /** @param {Partial<Step>} edited @param {import("../../core/store/store.js").Origin} [origin] */
  function edit(edited, origin) {
    const present = inLink();
    step = { ...step, ...edited };
    if (present) replace([present], change, origin);
    refresh();
  }

  /** Both ends, with what they are at first: the first token that differs. */
  function ends() {
    const { source } = store.get().link;
    const [fromTokens, toTokens] = [from.tokens(), to.tokens()];
    const first = Math.max(0, toTokens.findIndex((label, i) => !fromTokens[i] || plainLabel(label) !== plainLabel(fromTokens[i])));
    const sources = { from: step.from.source ?? source, to: step.to.source ?? swapped(source) };
    return { from: { source: sources.from, row: step.from.row ?? first }, to: { source: sources.to, row: step.to.row ?? first } };
  }

  /** @returns {Change} */
  function change() {
    const { direction } = store.get().link;
    const language = direction ? { direction } : {};
    const { from: minus, to: end } = ends();
    const scaled = step.times === 1 ? {} : { times: step.times };
    return { at: step.at, ...(step.rows ? { rows: step.rows } : {}), do: { add: { to: { ...language, ...end }, minus: { ...language, ...minus }, ...scaled } } };
  }

  /** @param {Change} present @returns {Step} */
  const readFrom = ({ at: address, rows: only = null, do: { add: { to: end, minus, times: by = 1 } } }) => ({ at: address, rows: only, to: end, from: minus ?? step.from, times: by });

  function refresh() {
    const { model, trace } = store.get();
    const { id } = selfBlock(model, typedText(model));
    element.hidden = !model || !trace || !id || !hasSublayers(model);
    if (element.hidden || !trace) return;
    const [present, all, still] = [inLink(), places(), fixed()];
    if (present) step = readFrom(present);
    if (!all.some(({ at: address }) => address === step.at)) step = { ...step, at: all[0].at };
    if (!element.open) return;
    const { from: begin, to: end } = ends();
    render(place, all.map(({ at: address, name }) => el("option", { value: address }, name)));
    place.value = step.at;
    place.disabled = still;
    from.show(begin.source, begin.row, still);
    to.show(end.source, end.row, still);
    rows.take(step.rows);
    rows.refresh(axes(model, trace, id).rows, still);
    times.show(step.times, still);
    on.show(present !== null, still || !from.tokens().length || !to.tokens().length);
    const problem = from.problem() ?? to.problem();
    wrong.hidden = !problem;
    wrong.textContent = problem ? wording(t, problem) : "";
  }
  return { element, refresh };
}

// One end of a step between two runs: a token of a sentence.

/**
 * @param {Context} context
 * @param {{word: string, token: string, sentence: string}} names  before both fields, and of each
 * @param {(end: {source?: string, row: number | null}) => void} chosen
 * @param {() => void} onTokens  called when the tokens have arrived
 */
function stepEnd({ store, source }, names, chosen, onTokens) {
  const asker = createAsker();
  const select = h("select", { "aria-label": names.token });
  const box = h("input", { type: "text", autocomplete: "off", spellcheck: false, "aria-label": names.sentence });
  const element = h("div", { className: "step-end", role: "group", "aria-label": names.word }, h("span", {}, names.word), select, box);
  /** @type {Label[]} */
  let tokens = [];
  /** @type {Problem | null} */
  let problem = null;
  let lastKey = "";
  select.addEventListener("change", () => chosen({ row: Number(select.value) }));
  bindTyping(box, { submit: () => box.value.trim() && chosen({ source: box.value.trim(), row: null }), submitOn: "leave" });

  /** @param {string} text */
  async function loadTokens(text) {
    const page = store.get();
    const { trace: request } = /** @type {{trace: object}} */ (runQuestion(page, { source: text, target: null, interventions: null, pad_to: null, select: [] }));
    const key = JSON.stringify(request);
    if (key === lastKey) return;
    lastKey = key;
    const reply = await asker.ask((signal) => source.trace(request, signal));
    if (reply === null) return;
    problem = reply instanceof Problem ? reply : null;
    tokens = reply instanceof Problem ? [] : labels(reply.tokens[typedText(page.model)] ?? [], languages(reply.direction)[0]);
    onTokens();
  }

  return {
    element,
    tokens: () => tokens,
    problem: () => problem,
    /** Ask again for tokens that could not be had. */
    retry() {
      if (problem) lastKey = "";
    },
    /** @param {string} text @param {number} row @param {boolean} still */
    show(text, row, still) {
      if (!still) void loadTokens(text);
      if (document.activeElement !== box) box.value = text;
      render(select, tokens.map((label, i) => el("option", { value: String(i) }, `${i + 1} ${plainLabel(label)}`)));
      select.value = String(row);
      select.disabled = box.disabled = still;
    },
  };
}
