/**
 * A share that asks before it shows: its reader predicts first, then the figure appears. The
 * question is about the place that the share opens on.
 */

import { KINDS, contextOf } from "../ask/question-kinds.js";
import { createPrediction } from "../ask/predict.js";
import { ask } from "../ask/question.js";
import { DEFAULTS, mergeStates, stateOfShare } from "../core/store/link.js";
import { isDeparted } from "../core/store/share-contents.js";
import { find } from "../lib/dom.js";
import { render } from "../lib/render.js";
import { OPTIONS } from "../views/index.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { PageServices } from "../workspace/main-figure.js" */

/** @param {PageServices} services */
export function bindShareQuestion(services) {
  const section = document.querySelector("#ask");
  if (!(section instanceof HTMLElement)) return;
  const { kind = "" } = section.dataset;
  const root = document.documentElement;
  let bound = false;

  const end = services.store.subscribe(({ share }) => share, begin);
  begin();

  function begin() {
    const { share, link } = services.store.get();
    if (!share || bound) return;
    bound = true;
    queueMicrotask(end);
    if (!(kind in KINDS)) return show();
    // The share's own model, which may no longer be served.
    const sources = { source: { ...services.source, models: async () => [share.model] }, compute: (/** @type {object} */ body) => services.api.lab(body) };
    const question = { kind, link: services.format(link) };
    const label = find("#ask-says");
    const about = ask(services, sources, question);
    void contextOf(about).then((context) => render(find("#ask-sentence"), context), reportError);
    void KINDS[kind].words(about).then((words) => render(label, words), reportError);
    createPrediction({ root: find("#ask-choices"), page: services, sources, question, label, onReveal: show });
  }

  function show() {
    root.removeAttribute("data-asking");
    services.figure.resize();
    services.restyle();
  }
}

// Show whether the reader has changed the request of a share, with a button to return to what was
// saved.

/** @param {Context} context */
export function bindShareChanges({ store, t, announce }) {
  const line = find("#departed");
  find("#return").addEventListener("click", () => {
    const { share, link } = store.get();
    if (!share) return;
    const { lang } = link;
    store.go(mergeStates(DEFAULTS, { options: { ...link.options, as: "changed" } }, stateOfShare(share.state, OPTIONS), { lang }), "chosen");
    announce(t("This is the share as its author saw it."));
    find("#stage").focus();
  });
  const show = () => (line.hidden = !isDeparted(store.get()));
  store.subscribe(({ share, link }) => [share, link], show);
  show();
}
