/**
 * The causal sweep: every head, or another part, changed separately, as a map; a click on a cell
 * makes its change.
 */

import { changes, isChanged } from "../../core/store/interventions.js";
import { placeOf } from "../../core/wire/attentions.js";
import { h } from "../../lib/dom.js";
import { render } from "../../lib/render.js";
import { controls } from "../../core/figure/controls.js";
import { editModel, offered } from "../../core/store/set-interventions.js";
import { trouble } from "../../core/figure/status.js";
import { left } from "./head-sweep.js";
import { ablations } from "./ablations.js";
import { effectMap } from "./effect-map.js";
import { patches } from "./patches.js";
import { ends, endsInHead } from "./path-end.js";
import { partNames, partsOf } from "./sweep-grids.js";
import { rowPicker } from "./row-picker.js";
import { sentencePair, why } from "./sentence-pair.js";
import { sweepRequest } from "./sweep-request.js";
import { sweeper } from "./sweep-stream.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Runs } from "./before-after.js" */
/** @import { Sweep } from "./head-sweep.js" */
/** @import { Change } from "../../core/store/interventions.js" */
/** @import { Cell } from "./sweep-grids.js" */
/**
 * What is changed part by part, and how its effect is shown.
 * @typedef {object} Kind
 * @property {boolean} whole  whether all written tokens together can be asked about
 * @property {(sweep: Sweep | null, runs: Runs) => number | null} row  that is asked about; null: all of them
 * @property {(sweep: Sweep | null, row: number | null, runs: Runs, list: Change[]) => import("./effect-map.js").Scene} scene
 * @property {() => string} note
 * @property {(cell: Cell, sweep: Sweep | null, runs: Runs) => Change} change
 * @property {(sweep: Sweep, row: number | null, runs: Runs) => import("../../lib/render.js").Child[]} finding  in one sentence
 * @property {(sweep: Sweep) => Record<string, import("../../core/wire/wire.js").Tensor>} numbers
 */

/** @param {Context} context @param {() => void} told  called when what it finds may be another */
export function headSweep(context, told) {
  const { store, t } = context;
  const { toggle, fixed } = editModel(context);
  const kinds = { ablation: ablations(context), patch: patches(context) };
  const isPatch = () => store.get().link.options.ablation === "patch";
  const kind = () => (isPatch() ? kinds.patch : kinds.ablation);
  /** @type {Runs | null} */
  let base = null;
  const run = sweeper(context.source, show);
  const again = () => void run.ask(sweepRequest(store.get(), base?.before ?? null), true);
  const options = () => store.get().link.options;
  const bar = controls(context, [
    { option: "ablation", label: t("Each part on its own"), values: () => offered({ zero: t("off"), uniform: t("uniform"), mean: t("mean"), patch: t("other sentence") }, store.get().model) },
    { option: "parts", label: t("Parts"), values: () => partNames(options().ablation, store.get().model, t), effective: () => partsOf(options()) },
    { option: "through", label: t("Acts on"), values: () => (isPatch() ? ends(t, store.get().model) : {}) },
    { option: "over", label: t("on top of the changes") },
  ]);
  const rows = rowPicker(context);
  const pair = sentencePair(context);
  const asked = h("div", { className: "sweep-question" }, rows.element);
  const says = h("p", { className: "lead" });
  /** @type {import("../../lib/render.js").Child[]} */
  let said = [];
  const wait = waiting(context, run, again, () => partsOf(options()) !== "heads" || isPatch());
  const wrong = trouble(context, again);
  const map = effectMap(context, (cell) => {
    const { model, link } = store.get();
    if (!base) return;
    const change = kind().change(cell, run.state().sweep, base);
    if (change.do?.patch && !change.do.patch.rows.length) return; // nothing to take, or not yet known
    const place = placeOf(model, cell.at.replace(/\.(mix|output)$/, ""));
    const stays = isPatch() && endsInHead(link);
    const moved = place?.block === link.block ? {} : { query: null, key: null };
    // One batch, so that there is only one run.
    store.batch(() => {
      if (place && !stays) store.go({ ...place, ...(cell.head === null ? {} : { head: cell.head }), ...moved });
      if (!fixed()) toggle(change);
    });
  });
  const note = h("p", { className: "hint-line" });
  const element = h("div", { className: "sweep" }, pair.element, asked, says, wait.element, wrong.element, map.element, bar, note);

  function show() {
    const { sweep, problem } = run.state();
    if (!base) return;
    const complete = sweep !== null && sweep.done === sweep.total;
    const row = kind().row(sweep, base);
    wait.show();
    wrong.show(problem);
    rows.show(base.before, row, kind().whole);
    rows.element.hidden = partsOf(options()) === "tokens"; // they are the map's columns
    if (isPatch()) pair.show(sweep, base.before);
    else pair.element.hidden = true;
    render(asked, isPatch() && sweep && row !== null ? why(context, sweep, row, base.before, rows.element) : rows.element);
    map.draw(kind().scene(sweep, row, base, changes(store.get().link)));
    said = complete ? kind().finding(sweep, row, base) : [];
    // Without changes to the model it is the finding of the whole view.
    render(says, isChanged(store.get().link) ? said : []);
    told();
  }

  return {
    element,
    /** @param {Runs} runs */
    draw(runs) {
      base = runs;
      bar.refresh();
      note.textContent = kind().note();
      if (runs.before.output.tokens.length) void run.ask(sweepRequest(store.get(), runs.before));
      show();
    },
    light() {},
    finding: () => said,
    destroy: run.stop,
    picture: map.picture,
    numbers() {
      const { sweep } = run.state();
      return sweep && base && { tokens: { written: base.before.output.tokens }, tensors: kind().numbers(sweep) };
    },
  };
}

/**
 * The progress, with buttons to stop and to continue.
 * @param {Context} context
 * @param {ReturnType<typeof sweeper>} run
 * @param {() => void} again
 * @param {() => boolean} ofParts  whether parts are tried, not only heads
 */
function waiting({ t }, run, again, ofParts) {
  const meter = h("progress", { max: 1 });
  const time = h("span", {});
  const stop = h("button", { type: "button", className: "button" }, t("Stop"));
  const start = h("button", { type: "button", className: "button" });
  stop.addEventListener("click", () => {
    run.stop();
    shown.show();
  });
  start.addEventListener("click", again);
  const going = h("div", { className: "sweep-progress" }, meter, time, stop);
  const shown = {
    element: h("div", {}, going, start),
    show() {
      const { sweep, problem, running, since } = run.state();
      const [done, total] = [sweep?.done ?? 0, sweep?.total ?? 0];
      const of = { done, total };
      meter.ariaLabel = ofParts() ? t("Parts tried") : t("Heads tried");
      start.textContent = ofParts() ? t("Try all parts") : t("Try all heads");
      going.hidden = !running;
      start.hidden = running || problem?.kind === "frozen" || (sweep !== null && done === sweep.total);
      meter.value = sweep ? done / sweep.total : 0;
      const seconds = sweep ? left(sweep, performance.now() - since) / 1000 : Infinity;
      time.textContent = Number.isFinite(seconds)
        ? ofParts() ? t("{done} of {total} parts, {seconds} s left", { ...of, seconds: Math.ceil(seconds) }) : t("{done} of {total} heads, {seconds} s left", { ...of, seconds: Math.ceil(seconds) })
        : t("Starting …");
    },
  };
  return shown;
}
