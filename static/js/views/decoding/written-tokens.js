/** The translation as it is being written, one button per token. */

import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { token } from "../../core/draw/token.js";
import { createTransport } from "../../core/figure/playback.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Scene } from "./current-step.js" */

/** Milliseconds per step while playing. */
const BEAT = 1200;

/**
 * @param {Context} context
 * @param {{go: (to: number) => void, scene: () => Scene | null}} actions
 */
export function createWriting(context, { go, scene }) {
  const { t } = context;
  const line = h("ol", { className: "written", "aria-label": t("What the model writes, one step per token") });
  const transport = createTransport(context, {
    at: () => scene()?.at ?? 0,
    last: () => (scene()?.run.steps.length ?? 0) - 1,
    go,
    beat: BEAT,
    waits: () => scene()?.waiting ?? true,
  });
  const element = h("div", { className: "writing" }, line, transport.element);

  /** @param {Scene} now */
  function show({ at, run, labels, probabilities, waiting }) {
    const buttons = labels.map((label, step) => {
      const onclick = () => {
        transport.pause();
        go(step);
      };
      const props = {
        type: "button",
        className: run.steps[step]?.forced ? "forced" : "",
        "aria-label": t("step {n}: {token}", { n: step + 1, token: label.word }),
        "aria-current": step === at ? "step" : null,
      };
      const chance = Number.isFinite(probabilities[step]) ? two(probabilities[step]) : "…";
      const button = el("button", { ...props, onclick }, token(label), el("span", { className: "chance" }, chance));
      return el("li", { className: step < at ? "past" : step === at ? "now" : "ahead" }, button);
    });
    render(line, buttons, waiting && el("li", { className: "more" }, "…"));
    transport.show(t("Step {n} of {count}", { n: at + 1, count: labels.length }));
  }

  return { element, show, pause: transport.pause, destroy: transport.destroy };
}
