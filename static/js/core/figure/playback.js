/** Back, Play, Next: buttons and keys that move through steps, one at a time or automatically. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { onSteps } from "./pointing.js";

/** @import { Context } from "./types.js" */
/**
 * @typedef {object} Steps
 * @property {() => number} current  the current one
 * @property {() => number} last  −1: none yet
 * @property {(to: number) => void} go
 * @property {number} beat  milliseconds per step while playing
 * @property {() => boolean} [waits]  whether playing must wait
 */

/** Elements that use letters and arrows themselves, and those that use only arrows. */
const WRITES = "input:not([type=range]), textarea, select, [contenteditable]";
const MOVES = "input, [role=application], .tiles";
/** @param {Context} context @param {Steps} steps */
export function createTransport(context, { current, last, go, beat, waits = () => false }) {
  const { t } = context;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let playing;
  const button = (/** @type {string} */ text, /** @type {() => void} */ onclick, className = "button") =>
    h("button", { type: "button", className, onclick }, text);
  const back = button("← " + t("Back"), () => by(-1));
  const play = button("", toggle, "button strong play");
  const on = button(t("Next") + " →", () => by(1));
  const positionLabel = h("span", { className: "where", "aria-live": "off" });
  const element = h("div", { className: "transport", role: "group", "aria-label": t("Steps") }, back, play, on, positionLabel);

  /** @param {number} steps  by the reader's own hand, which ends playing */
  function by(steps) {
    pause();
    move(steps);
  }

  /** @param {number} steps */
  function move(steps) {
    if (last() >= 0) go(Math.min(Math.max(current() + steps, 0), last()));
  }

  function toggle() {
    if (playing !== undefined || last() < 0) return pause();
    if (current() === last()) go(0);
    playing = setInterval(tick, beat);
    label();
  }

  function tick() {
    if (waits()) return;
    if (current() < last()) move(1);
    if (current() >= last()) pause();
  }

  function pause() {
    clearInterval(playing);
    playing = undefined;
    label();
  }

  function label() {
    const [sign, word] = playing === undefined ? ["▶", t("Play")] : ["❚❚", t("Pause")];
    render(play, el("span", { "aria-hidden": "true" }, sign), word);
  }

  const release = onSteps(context.keys, {
    projector: () => context.store.get().link.options.projector === true,
    takes: { arrows: `${WRITES}, ${MOVES}`, space: WRITES },
    ends: true,
    go: by,
    space: toggle,
  });
  label();
  return {
    element,
    pause,

    /** @param {string} positionText  where one is */
    show(positionText) {
      back.disabled = current() === 0;
      on.disabled = current() >= last();
      positionLabel.textContent = positionText;
    },
    destroy: () => (pause(), release()),
  };
}
