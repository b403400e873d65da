/** The models that this browser kept: their keys, links to open them, and buttons to delete them. */

import { Problem, failure } from "../core/wire/reply.js";
import { keep, keptDocument, readStored } from "../lib/browser.js";
import { el, find, render } from "../lib/dom.js";

/** @import { KeptReply } from "../core/wire/schemas.d.ts" */

// Keys of the runs that this browser started and of the models that it kept, stored across reloads.

const MODELS = "kept-models";
const storageName = (/** @type {string} */ id) => `run-${id}`;

/** @param {string} id @param {string} key */
export const rememberRun = (id, key) => keep(storageName(id), key);

/** @param {string} id @returns {string | null}  null: somebody else started it */
export const runKey = (id) => readStored(storageName(id));

/** @returns {KeptReply[]}  the newest first */
export function keptModels() {
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
