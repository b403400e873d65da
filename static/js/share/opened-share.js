/**
 * A share that asks before it shows: its reader predicts first, then the figure appears. The
 * question is about the place that the share opens on.
 */

import { KINDS, contextOf } from "../ask/question-kinds.js";
import { createPrediction } from "../ask/predict.js";
import { ask } from "../ask/question.js";
import { DEFAULTS, mergeStates, stateOfShare } from "../core/store/link.js";
import { isDeparted } from "../core/store/share-contents.js";
import { find, h, render } from "../lib/dom.js";
import { OPTIONS } from "../views/index.js";

/** @import { Context } from "../core/figure/types.js" */
/** @import { Asks } from "../room/room.js" */
/** @import { PageServices } from "../workspace/main-figure.js" */

/** @typedef {NonNullable<ReturnType<typeof bindShareQuestion>>} ShareQuestion */

/** The share's question among those of a room, which its page words itself. */
const SCENE = "predict";

/**
 * On the pages of a class its teacher reveals, as in lessons.
 * @param {PageServices} services
 */
export function bindShareQuestion(services) {
  const section = document.querySelector("#ask");
  if (!(section instanceof HTMLElement)) return null;
  const { kind = "" } = section.dataset;
  const { room, screen } = find("#workspace").dataset;
  const root = document.documentElement;
  /** @type {Asks | null} */
  let asks = null;
  /** @type {import("../ask/predict.js").Prediction | null} */
  let prediction = null;
  let [bound, isRevealed] = [false, false];
  /** @type {Set<() => void>} */
  const listeners = new Set();

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
    const place = find("#ask-choices");
    prediction = createPrediction({ root: place, page: services, sources, question, label, controls: !room, onReveal: show });
    asks = { ...question, share: share.id, scene: SCENE };
    if (room) prediction.close();
    if (room && screen !== "yes") place.after(h("p", { className: "teacher-asks" }, services.t("Your teacher asks this question and shows the answer.")));
    if (isRevealed) void prediction.reveal({ guessed: false });
  }

  function show() {
    isRevealed = true;
    document.querySelector("#ask .teacher-asks")?.remove();
    root.removeAttribute("data-asking");
    services.figure.resize();
    services.restyle();
    listeners.forEach((listener) => listener());
  }

  return {
    /** The question as a room is asked it; null: it is answered, or not here yet. */
    asks: () => (isRevealed ? null : asks),
    isRevealed: () => isRevealed,
    /** Reveal what the class was shown the answer of. */
    reveal() {
      if (isRevealed) return;
      isRevealed = true;
      void prediction?.reveal({ guessed: false });
    },
    /** @param {string} scene @returns {{words: Node[], why: Node[]} | null} */
    wording(scene) {
      const words = scene === SCENE ? [...find("#ask-says").childNodes].map((node) => node.cloneNode(true)) : [];
      return words.length ? { words, why: [] } : null;
    },
    /** @param {() => void} listener */
    onReveal: (listener) => void listeners.add(listener),
  };
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
