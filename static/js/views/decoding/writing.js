/** The translation as it is being written, and the buttons and keys that go through it. */

import { two } from "../../caption.js";
import { h, token } from "../../dom.js";

/** @typedef {import("../../main.js").Context} Context */
/** @typedef {import("./scene.js").Scene} Scene */

/** Milliseconds that a step is looked at while it plays. */
const BEAT = 1200;
/** What takes arrows or Space for itself. */
const TAKES = "input, textarea, select, [contenteditable]";
const KEYS = /** @type {Record<string, number>} */ ({
  ArrowLeft: -1,
  ArrowRight: 1,
  Home: -Infinity,
  End: Infinity,
});
/** What a presenter's remote sends; without a projector these scroll. */
const REMOTE = /** @type {Record<string, number>} */ ({ PageUp: -1, PageDown: 1 });

/**
 * @param {Context} context
 * @param {{go: (to: number) => void, scene: () => Scene | null}} actions
 */
export function createWriting(context, { go, scene }) {
  const { t } = context;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let playing;
  const line = h("ol", { className: "written", "aria-label": t("The translation, a step a token") });
  const button = (/** @type {string} */ says, /** @type {() => void} */ act, className = "button") => {
    const made = h("button", { type: "button", className }, says);
    made.addEventListener("click", act);
    return made;
  };
  const back = button("← " + t("Back"), () => by(-1));
  const play = button("", toggle, "button strong play");
  const on = button(t("Next") + " →", () => by(1));
  const count = h("span", { className: "where", "aria-live": "off" });
  const element = h(
    "div",
    { className: "writing" },
    line,
    h("div", { className: "transport", role: "group", "aria-label": t("Steps") }, back, play, on, count),
  );

  /** @param {number} steps  by the reader's own hand, which ends playing */
  function by(steps) {
    pause();
    move(steps);
  }

  /** @param {number} steps */
  function move(steps) {
    const now = scene();
    if (now) go(Math.min(Math.max(now.at + steps, 0), now.run.steps.length - 1));
  }

  function toggle() {
    const now = scene();
    if (playing !== undefined || !now) return pause();
    if (now.at === now.run.steps.length - 1) go(0);
    playing = setInterval(tick, BEAT);
    label();
  }

  function tick() {
    const now = scene();
    if (!now || now.waiting) return;
    if (now.at < now.run.steps.length - 1) move(1);
    if ((scene()?.at ?? 0) >= now.run.steps.length - 1) pause();
  }

  function pause() {
    clearInterval(playing);
    playing = undefined;
    label();
  }

  function label() {
    const [sign, word] = playing === undefined ? ["▶", t("Play")] : ["❚❚", t("Pause")];
    play.replaceChildren(h("span", { "aria-hidden": "true" }, sign), word);
  }

  /** @param {Scene} now */
  function show({ at, run, labels, probabilities, waiting }) {
    line.replaceChildren(
      ...labels.map((label, step) => {
        const made = h(
          "button",
          { type: "button", "aria-label": t("step {n}: {token}", { n: step + 1, token: label.word }) },
          token(label),
        );
        made.append(
          h(
            "span",
            { className: "chance" },
            Number.isFinite(probabilities[step]) ? two(probabilities[step]) : "…",
          ),
        );
        if (step === at) made.setAttribute("aria-current", "step");
        made.classList.toggle("forced", run.steps[step]?.forced ?? false);
        made.addEventListener("click", () => {
          pause();
          go(step);
        });
        return h("li", { className: step < at ? "past" : step === at ? "now" : "ahead" }, made);
      }),
      ...(waiting ? [h("li", { className: "more" }, "…")] : []),
    );
    back.disabled = at === 0;
    on.disabled = at >= run.steps.length - 1;
    count.textContent = t("Step {n} of {count}", { n: at + 1, count: labels.length });
  }

  const release = bindKeys(context, by, toggle);
  label();
  return { element, show, pause, destroy: () => (pause(), release()) };
}

/**
 * Arrows and Space, wherever they mean nothing else; before the page's own keys hear of them.
 * @param {Context} context
 * @param {(steps: number) => void} by
 * @param {() => void} toggle
 * @returns {() => void}  stops it
 */
function bindKeys({ store }, by, toggle) {
  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (!(target instanceof Element) || document.querySelector("dialog[open]")) return;
    if (target.closest(key === " " ? `${TAKES}, button, a, summary` : TAKES)) return;
    const steps = KEYS[key] ?? (store.get().link.options.projector ? REMOTE[key] : undefined);
    if (key !== " " && !steps) return;
    event.preventDefault();
    event.stopPropagation();
    if (steps) by(steps);
    else toggle();
  }
  document.addEventListener("keydown", pressed, { capture: true });
  return () => document.removeEventListener("keydown", pressed, { capture: true });
}
