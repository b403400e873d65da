/**
 * A share that asks before it shows: its reader predicts first, then the figure appears. The
 * question is about the place that the share opens on.
 */

import { find } from "../lib/dom.js";
import { render } from "../lib/render.js";
import { contextOf } from "../ask/context.js";
import { KINDS } from "../ask/kinds.js";
import { createPrediction } from "../ask/predict.js";
import { ask } from "../ask/question.js";

/** @import { Desk } from "../workspace/types.js" */

/** @param {Desk} desk */
export function bindShareQuestion(desk) {
  const section = document.querySelector("#ask");
  if (!(section instanceof HTMLElement)) return;
  const { kind = "" } = section.dataset;
  const root = document.documentElement;
  let asked = false;

  const end = desk.store.subscribe(({ share }) => share, begin);
  begin();

  function begin() {
    const { share, link } = desk.store.get();
    if (!share || asked) return;
    asked = true;
    queueMicrotask(end);
    if (!(kind in KINDS)) return show();
    // The share's own model, which may no longer be served.
    const ways = { source: { ...desk.source, models: async () => [share.model] }, compute: (/** @type {object} */ body) => desk.api.lab(body) };
    const question = { kind, link: desk.format(link) };
    const label = find("#ask-says");
    const about = ask(desk, ways, question);
    void contextOf(about).then((seen) => render(find("#ask-sentence"), seen), reportError);
    void KINDS[kind].words(about).then((words) => render(label, words), reportError);
    createPrediction({ root: find("#ask-choices"), page: desk, ways, question, label, onReveal: show });
  }

  function show() {
    root.removeAttribute("data-asking");
    desk.figure.resize();
    desk.restyle();
  }
}
