/**
 * Add a vector: what the model has at one place for a token of one sentence, minus what it has there
 * for a token of another (activation addition, Turner et al. 2023).
 */

import { axes, typed, within } from "../../core/wire/attentions.js";
import { plain } from "../../core/wire/tokens.js";
import { swapped } from "../../core/compute/token-diff.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { wording } from "../../core/figure/problem-wording.js";
import { blockName, hasSublayers, networks } from "../../core/store/model-part-names.js";
import { editModel } from "../../core/store/set-interventions.js";
import { amount, onOff, PLAIN } from "./change-controls.js";
import { rowChoice } from "./row-choice.js";
import { stepEnd } from "./step-end.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Change } from "../../core/store/interventions.js" */
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
    const { id, stack } = within(model, typed(model));
    const part = model?.norm === "post" ? "norm" : "residual";
    const layers = networks(model).filter((one) => one.stack === stack);
    const block = blockName(id, t);
    return [
      { at: `${typed(model)}.input`, name: t("{block}, input", { block }) },
      ...layers.map(({ at, layer }) => ({ at: `${at}.${part}`, name: t("{block}, after layer {n}", { block, n: layer + 1 }) })),
    ];
  }

  const inLink = () => list().findLast((one) => one?.do?.add?.to && places().some(({ at }) => at === one.at)) ?? null;

  /** @param {Partial<Step>} what @param {import("../../core/store/store.js").Origin} [origin] */
  function edit(what, origin) {
    const present = inLink();
    step = { ...step, ...what };
    if (present) replace([present], change, origin);
    refresh();
  }

  /** Both ends, with what they are at first: the first token that differs. */
  function ends() {
    const { source } = store.get().link;
    const [here, there] = [from.tokens(), to.tokens()];
    const first = Math.max(0, there.findIndex((label, i) => !here[i] || plain(label) !== plain(here[i])));
    const sources = { from: step.from.source ?? source, to: step.to.source ?? swapped(source) };
    return { from: { source: sources.from, row: step.from.row ?? first }, to: { source: sources.to, row: step.to.row ?? first } };
  }

  /** @returns {Change} */
  function change() {
    const { direction } = store.get().link;
    const way = direction ? { direction } : {};
    const { from: minus, to: end } = ends();
    const scaled = step.times === 1 ? {} : { times: step.times };
    return { at: step.at, ...(step.rows ? { rows: step.rows } : {}), do: { add: { to: { ...way, ...end }, minus: { ...way, ...minus }, ...scaled } } };
  }

  /** @param {Change} present @returns {Step} */
  const readFrom = ({ at, rows: only = null, do: { add: { to: end, minus, times: by = 1 } } }) => ({ at, rows: only, to: end, from: minus ?? step.from, times: by });

  function refresh() {
    const { model, trace } = store.get();
    const { id } = within(model, typed(model));
    element.hidden = !model || !trace || !id || !hasSublayers(model);
    if (element.hidden || !trace) return;
    const [present, all, still] = [inLink(), places(), fixed()];
    if (present) step = readFrom(present);
    if (!all.some(({ at }) => at === step.at)) step = { ...step, at: all[0].at };
    if (!element.open) return;
    const { from: begin, to: end } = ends();
    render(place, all.map(({ at, name }) => el("option", { value: at }, name)));
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
