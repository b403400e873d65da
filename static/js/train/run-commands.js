/** Commands for a run: pause, resume, stop, change the learning rate, fork, keep the model; and the kept models. */

import { Problem, failure } from "../core/wire/reply.js";
import { keep, keptDocument, readStored } from "../lib/browser.js";
import { el, find, render } from "../lib/dom.js";
import { isOver } from "./live-run.js";

/** @import { KeptReply } from "../core/wire/schemas.d.ts" */
/** @import { LiveRun } from "./live-run.js" */

// The models that this browser kept: their keys, links to open them, and buttons to delete them.

// Keys of the runs that this browser started and of the models that it kept, stored across reloads.

const MODELS = "kept-models";
const storageName = (/** @type {string} */ id) => `run-${id}`;

/** @param {string} id @param {string} key */
export const rememberRun = (id, key) => keep(storageName(id), key);

/** @param {string} id @returns {string | null}  null: somebody else started it */
export const runKey = (id) => readStored(storageName(id));

/** @returns {KeptReply[]}  the newest first */
function keptModels() {
  const stored = keptDocument(MODELS);
  return Array.isArray(stored) ? stored.filter((model) => model?.id && model.key && model.url && model.name) : [];
}

/** @param {KeptReply[]} models */
const setKeptModels = (models) => keep(MODELS, JSON.stringify(models));

/** @typedef {ReturnType<typeof bindKeptList>} KeptList */

/**
 * @param {Pick<import("../workspace/main-figure.js").PageServices, "api" | "t" | "announce">} services
 * @param {{failed: (problem: Problem | null) => void, changed: () => void}} page
 */
export function bindKeptList({ api, t, announce }, { failed, changed }) {
  const section = find("#kept");
  const list = find("#kept-list");
  /** The model whose deletion is being confirmed. @type {string | null} */
  let sure = null;
  let busy = false;

  /** @param {string} id */
  const forget = (id) => setKeptModels(keptModels().filter((model) => model.id !== id));

  /** @param {KeptReply} model */
  async function remove({ id, key }) {
    busy = true;
    draw();
    const done = await api.deleteModel(id, key).catch(failure);
    busy = false;
    sure = null;
    if (done instanceof Problem && done.kind !== "unknown-model") failed(done);
    else {
      failed(null);
      forget(id);
      announce(t("The model was deleted."));
    }
    draw();
    changed();
  }

  list.addEventListener("click", ({ target }) => {
    const { go, id } = /** @type {HTMLElement} */ (target).closest("button")?.dataset ?? {};
    const model = keptModels().find((model) => model.id === id);
    if (!model || busy) return;
    if (go === "delete") return void remove(model);
    sure = go === "ask" ? model.id : null;
    draw();
    /** @type {HTMLElement | null} */ (list.querySelector(`[data-id="${model.id}"]`))?.focus();
  });

  function draw() {
    const models = keptModels();
    section.hidden = !models.length;
    render(list, models.map((model) => el("li", { key: model.id }, el("a", { key: "open", href: model.url }, model.name), ...(sure === model.id ? confirmation(model) : [button(model, "ask", t("Delete…"))]))));
  }

  /** @param {KeptReply} model */
  const confirmation = (model) => [
    el("span", { key: "sure", className: "note" }, t("Links to it will stop working; its shares will still open.")),
    button(model, "delete", t("Delete the model")),
    button(model, "leave", t("Cancel")),
  ];

  /** @param {KeptReply} model @param {string} go @param {string} label */
  const button = ({ id }, go, label) => el("button", { key: go, type: "button", className: "button quiet", "data-go": go, "data-id": id, "aria-disabled": String(busy) }, label);

  return {
    draw,

    /** List the models that are still served here. */
    async refresh() {
      if (!keptModels().length) return;
      const served = await api.models().catch(() => null);
      if (served) setKeptModels(keptModels().filter(({ id }) => served.some((model) => model.id === id)));
      draw();
    },

    /** @param {KeptReply} model */
    add(model) {
      setKeptModels([model, ...keptModels()]);
      draw();
    },
  };
}

// Commands for a run: pause, resume, stop, change the learning rate, fork, keep the model.

/**
 * @param {import("../workspace/main-figure.js").PageServices} services
 * @param {object} others
 * @param {import("./displayed-run.js").DisplayedRun} others.displayed
 * @param {import("./options-form.js").Choices} others.choices
 * @param {KeptList} others.models
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
