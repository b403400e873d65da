/** Commands for a run: pause, resume, stop, change the learning rate, fork, keep the model. */

import { failure } from "../core/wire/reply.js";
import { el, find, render } from "../lib/dom.js";
import { isOver } from "./live-run.js";
import { keptModels, runKey } from "./kept-models.js";

/** @import { LiveRun } from "./live-run.js" */

/**
 * @param {import("../workspace/main-figure.js").PageServices} services
 * @param {object} others
 * @param {import("./displayed-run.js").DisplayedRun} others.displayed
 * @param {import("./options-form.js").Choices} others.choices
 * @param {import("./kept-models.js").KeptList} others.models
 * @param {(problem: import("../core/wire/reply.js").Problem | null) => void} others.failed
 */
export function bindCommands({ api, t, announce }, { displayed, choices, models, failed }) {
  const form = /** @type {HTMLFormElement} */ (find("#commands"));
  /** The typed learning rate; null: unchanged. @type {string | null} */
  let factor = null;
  let busy = false;
  /** Kept models, by run and step. @type {Map<string, string>} */
  const keptIds = new Map();

  const snapshot = () => displayed.run()?.snapshots[displayed.place()];
  const snapshotKey = () => `${displayed.run()?.id} ${snapshot()?.step}`;

  /** @param {(run: LiveRun, key: string) => Promise<unknown>} work */
  async function ask(work) {
    const run = displayed.run();
    const key = run && runKey(run.id);
    if (!run || !key || busy) return;
    busy = true;
    try {
      failed(null);
      await work(run, key);
    } catch (error) {
      failed(failure(error));
    }
    busy = false;
    again();
  }

  const change = (/** @type {object} */ changes) => ask((run, key) => api.changeRun(run.id, key, changes));

  const keep = () =>
    ask(async (run, key) => {
      const step = snapshot()?.step;
      if (step === undefined) return;
      const keptKey = snapshotKey();
      const model = await api.keepRun(run.id, key, { step });
      keptIds.set(keptKey, model.id);
      models.add(model);
      announce(t("The model is kept."));
    });

  form.addEventListener("click", ({ target }) => {
    const run = displayed.run();
    const step = snapshot()?.step;
    const { go } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
    if (go === "pause") void change({ paused: run?.state !== "paused" });
    if (go === "stop") void change({ stop: true });
    if (go === "keep") void keep();
    if (go === "fork" && run && step !== undefined) choices.fork({ id: run.id, step });
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const value = Number(factor);
    if (factor === null || factor.trim() === "" || !(value >= 0 && value <= 100)) return;
    factor = null;
    void change({ learning_rate: value });
  });
  form.addEventListener("input", ({ target }) => {
    factor = /** @type {HTMLInputElement} */ (target).value;
    again();
  });

  const again = () => {
    const run = displayed.run();
    if (run) show(run);
  };

  /** @param {LiveRun} run */
  function show(run) {
    const mine = runKey(run.id) !== null;
    const step = snapshot()?.step;
    const url = keptModels().find(({ id }) => id === keptIds.get(snapshotKey()))?.url;
    render(
      form,
      mine && !isOver(run) && [button("pause", run.state === "paused" ? t("Resume training") : t("Pause training")), button("stop", t("Stop training")), rate(run)],
      step !== undefined && button("fork", t("Fork from step {step}…", { step })),
      step !== undefined && mine && !url && button("keep", t("Keep the model of step {step}", { step })),
      url && el("a", { key: "open", className: "button strong", href: url }, t("Open the kept model in the workspace")),
      !mine && el("p", { key: "watching", className: "note" }, t("You are watching. Only the person who started the " +
        "run can control it, but you can fork it.")),
    );
  }

  /** @param {LiveRun} run */
  function rate(run) {
    const value = factor ?? String(run.factor);
    const number = Number(value);
    const bad = value.trim() === "" || !(number >= 0 && number <= 100);
    return el(
      "label",
      { key: "rate", className: "option number" },
      el("span", {}, t("Learning rate")),
      el("input", { name: "factor", className: "short", inputMode: "decimal", autocomplete: "off", value, "aria-invalid": String(bad) }),
      factor !== null && factor !== String(run.factor) && el("button", { key: "set", type: "submit", className: "button", disabled: bad }, t("Set")),
      bad && el("span", { key: "why", className: "why" }, t("A number from {low} to {high}", { low: 0, high: 100 })),
    );
  }

  /** @param {string} go @param {string} label */
  const button = (go, label) => el("button", { key: go, type: "button", className: "button", "data-go": go, "aria-disabled": String(busy) }, label);

  return { show };
}
