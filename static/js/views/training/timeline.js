/** A timeline of the training: how good the model was at each step, and a slider over the steps. */

import { one, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { counted, scores } from "./training-history.js";
import { margins, plot } from "../../core/draw/curves.js";
import { createTransport } from "../../core/figure/playback.js";
import { createLearningCurves } from "./learning-curves.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Moment } from "./view.js" */

/** Milliseconds per step while playing. */
const BEAT = 900;
const HEIGHT = { letters: 8, rest: 23 };
/** Half the width of the slider's thumb, so that its middle aligns with a step's dot. */
const THUMB = 8;

/** @param {Context} context @param {{now: () => Moment | null, go: (place: number) => void}} actions */
export function createTimeline(context, { now, go }) {
  const { t, theme } = context;
  const chart = h("div", { className: "chart-of-steps" });
  const slider = h("input", { type: "range", min: "0", step: "1", "aria-label": t("Step of the training") });
  const step = h("output", { className: "step-now" });
  const numbers = h("dl", { className: "measured" });
  const transport = createTransport(context, {
    at: () => now()?.place ?? 0,
    last: () => (now()?.found.snapshots.length ?? 0) - 1,
    go,
    beat: BEAT,
  });
  slider.addEventListener("input", () => {
    transport.pause();
    go(Number(slider.value));
  });
  chart.addEventListener("click", (event) => {
    const { left, width } = slider.getBoundingClientRect();
    const share = (event.clientX - left - THUMB) / (width - 2 * THUMB);
    const last = Number(slider.max);
    if (share > -0.1 && share < 1.1) go(Math.min(Math.max(Math.round(share * last), 0), last));
  });
  const closer = createLearningCurves(context, {
    go,
    name: arrow,
    onTurn: () => (chart.hidden = closer.open()),
  });
  const element = h("div", { className: "timeline" }, step, numbers, chart, ...closer.elements, slider, transport.element);

  /** @param {Moment} moment */
  function show({ found: { snapshots }, place }) {
    const names = snapshots.map(({ step }) => counted(step));
    const width = element.clientWidth;
    closer.show(snapshots, place, width);
    const look = theme();
    const measured = scores(snapshots);
    const tasks = measured[0].direction === null;
    const curves = measured.map(({ direction, values }, i) => ({
      name: direction === null ? t("right") : arrow(direction),
      values,
      colour: i % 2 ? look.muted : look.ink,
      dash: i % 2 ? "5 4" : undefined,
    }));
    const most = Math.max(10, ...curves.flatMap(({ values }) => values));
    const drawn = plot(
      {
        curves,
        range: [0, Math.ceil(most / 10) * 10],
        titles: { x: t("training step"), y: tasks ? t("right, %") : "BLEU" },
        width,
        height: HEIGHT.letters * look.size + HEIGHT.rest,
        places: names,
        at: place,
        say: String,
      },
      look,
    );
    const { left, right } = margins(curves, look);
    chart.replaceChildren(drawn);
    slider.style.marginLeft = `${left - THUMB}px`;
    slider.style.width = `${width - left - right + 2 * THUMB}px`;
    slider.max = String(snapshots.length - 1);
    slider.value = String(place);
    const said = t("Step {step}", { step: names[place] });
    slider.setAttribute("aria-valuetext", said);
    render(step, said, el("small", {}, stage(place, snapshots)));
    const { loss } = snapshots[place];
    const good = (/** @type {string | null} */ direction, /** @type {number} */ value) =>
      direction === null ? t("{percent} %", { percent: one(value) }) : `${one(value)} ${arrow(direction)}`;
    render(
      numbers,
      pair(tasks ? t("Held-out loss") : t("Dev loss"), loss === null ? "–" : t("{nats} nats per token", { nats: two(loss) })),
      pair(tasks ? t("Right answers") : "BLEU", measured.map(({ direction, values }) => good(direction, values[place])).join(", ")),
    );
    transport.show(t("snapshot {n} of {count}", { n: place + 1, count: snapshots.length }));
  }

  /**
   * A remark on a step, such as that it is the first.
   * @param {number} place
   * @param {import("./training-history.js").Snapshot[]} snapshots
   */
  function stage(place, snapshots) {
    if (snapshots[place].step === 0) return t("before training");
    return place === snapshots.length - 1 ? t("trained") : "";
  }

  return {
    element,
    show,
    destroy() {
      transport.destroy();
      closer.destroy();
    },
  };
}

/** @param {string} name @param {string} value */
const pair = (name, value) => el("div", {}, el("dt", {}, name), el("dd", {}, value));

/** @param {string} direction  e.g. "en-zh" */
const arrow = (direction) => direction.replace("-", " → ");
