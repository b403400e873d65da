/**
 * The causal sweep: every head changed separately, as a map; a click on a head applies its change.
 */

import { request } from "../../data/request.js";
import { Problem } from "../../data/problem.js";
import { changes, isChanged, linked, where } from "../../state/interventions.js";
import { inNats, likelier } from "../../parts/likelihood-wording.js";
import { placeOf } from "../../data/attentions.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { quoted } from "../../draw/token.js";
import { controls } from "../../parts/controls.js";
import { editModel } from "../../state/set-interventions.js";
import { trouble } from "../../parts/problem-line.js";
import { left, strongest, tensors } from "../../compute/head-sweep.js";
import { plain } from "../../data/tokens.js";
import { writing } from "../../state/before-after.js";
import { headMap } from "./head-map.js";
import { rowPicker, writes } from "./row-picker.js";
import { sweeper } from "./sweep-stream.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../state/before-after.js").Runs} Runs */
/** @typedef {import("../../compute/head-sweep.js").Sweep} Sweep */

/** Below this effect in nats, no head is called necessary: it prints as 0.00. */
const NOTHING = 0.005;

/** @param {Context} context @param {() => void} told  called when what it finds may be another */
export function headSweep(context, told) {
  const { store, t } = context;
  const { toggle, fixed } = editModel(context);
  /** @type {Runs | null} */
  let base = null;
  const run = sweeper(context.source, show);
  const bar = controls(context, [
    { option: "ablation", label: t("Each head on its own"), values: { zero: t("off"), uniform: t("uniform"), mean: t("mean") } },
    { option: "over", label: t("on top of the changes") },
  ]);
  const rows = rowPicker(context);
  const says = h("p", { className: "lead" });
  /** @type {import("../../lib/render.js").Child[]} */
  let said = [];
  const wait = waiting(context, run, () => void run.ask(question(context, base), true));
  const wrong = trouble(context, () => void run.ask(question(context, base), true));
  const map = headMap(context, (at, head) => {
    const { model, link } = store.get();
    const place = placeOf(model, at);
    if (!place) return;
    const moved = place.block === link.block ? {} : { query: null, key: null };
    // One batch, so that there is only one run.
    store.batch(() => {
      store.go({ ...place, head, ...moved });
      if (!fixed()) toggle({ at, head, do: store.get().link.options.ablation });
    });
  });
  const note = h(
    "p",
    { className: "hint-line" },
    t("The number is the change in log-probability, in nats. Orange (below zero): the head helps; without it the " +
      "translation is less probable. Blue (above zero): the head works against the translation. Click to " +
      "switch off; click again to restore."),
  );
  const element = h("div", { className: "sweep" }, rows.element, says, wait.element, wrong.element, map.element, bar, note);

  /** @returns {number | null}  the row that is asked about; null: all of them */
  function row() {
    const { written } = store.get().link.options;
    return base && written !== null && written < base.before.output.tokens.length ? written : null;
  }

  function show() {
    const { sweep, problem } = run.state();
    if (!base) return;
    const whole = sweep !== null && sweep.done === sweep.total;
    const at = row();
    wait.show();
    wrong.show(problem);
    map.draw(sweep, at, at === null ? t("whole translation") : plain(writes(base.before)[at]));
    said = whole ? sentence(context, sweep, at, base) : [];
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
      rows.show(runs.before, row());
      const { share, live } = store.get();
      if (share && !live) run.refuse(new Problem("frozen"));
      else if (runs.before.output.tokens.length) void run.ask(question(context, runs));
      show();
    },
    light() {},
    finding: () => said,
    destroy: run.stop,
    picture: map.picture,
    numbers() {
      const { sweep } = run.state();
      const { model } = store.get();
      return sweep && base && model && { tokens: { written: base.before.output.tokens }, tensors: tensors(sweep, model) };
    },
  };
}

/**
 * The request: for the original translation, on the model as trained or as changed.
 * @param {Context} context
 * @param {Runs | null} runs
 */
function question({ store }, runs) {
  const { model, link } = store.get();
  const { over, ablation: effect } = link.options;
  const interventions = over ? linked(changes(link)) : null;
  const written = runs ? writing(link, runs.before) : {};
  const { select: _, ...body } = request(model, { ...link, ...written, interventions, options: {}, pad_to: null }, []);
  return { ...body, effect };
}

/**
 * The progress, with buttons to stop and to continue.
 * @param {Context} context
 * @param {ReturnType<typeof sweeper>} run
 * @param {() => void} again
 */
function waiting({ t }, run, again) {
  const meter = h("progress", { max: 1, "aria-label": t("Heads tried") });
  const time = h("span", {});
  const stop = h("button", { type: "button", className: "button" }, t("Stop"));
  const start = h("button", { type: "button", className: "button" }, t("Try all heads"));
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
      const done = sweep?.done ?? 0;
      going.hidden = !running;
      start.hidden = running || problem?.kind === "frozen" || (sweep !== null && done === sweep.total);
      meter.value = sweep ? done / sweep.total : 0;
      const seconds = sweep ? left(sweep, performance.now() - since) / 1000 : Infinity;
      time.textContent = Number.isFinite(seconds)
        ? t("{done} of {total} heads, {seconds} s left", { done, total: sweep?.total ?? 0, seconds: Math.ceil(seconds) })
        : t("Starting …");
    },
  };
  return shown;
}

/**
 * Describe the head that matters most.
 * @param {Context} context
 * @param {Sweep} sweep
 * @param {number | null} row
 * @param {Runs} runs
 */
function sentence({ store, t, say }, sweep, row, { before }) {
  const [first] = strongest(sweep, row, 1);
  const token = row === null ? t("the whole translation") : quoted(writes(before)[row]);
  if (first.delta > -NOTHING) return say(t("Switching off any single head hardly affects {token}."), { token });
  const place = el("b", {}, where({ at: first.at, head: first.head, do: "zero" }, t, store.get().model));
  const values = { token, place, likelier: likelier(t, first.delta), change: inNats(first.delta) };
  const { ablation } = store.get().link.options;
  if (ablation === "uniform")
    return say(t("{place} matters most: with uniform attention, {token} is {likelier} ({change} nats)."), values);
  if (ablation === "mean")
    return say(t("{place} matters most: with its mean output, {token} is {likelier} ({change} nats)."), values);
  return say(t("{place} matters most: without it, {token} is {likelier} ({change} nats)."), values);
}
