/** The progress of a run: in one line, and as two charts over its steps with a slider below them. */

import { margins, plot } from "../core/draw/line-chart.js";
import { createTransport } from "../core/figure/controls.js";
import { el, h, render } from "../lib/dom.js";
import { grouped, hundredths, significant, two } from "../lib/numbers.js";
import { counted } from "../views/training/training-history.js";
import { firstReaching, isOver, plannedSteps, trainLosses } from "./live-run.js";

/** @import { LiveRun } from "./live-run.js" */

/** The share of right answers at which a task counts as learned. */
const LEARNED = 0.99;

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t" | "announce">} services
 * @param {{line: HTMLElement, finding: HTMLElement, bar: HTMLProgressElement}} places
 */
export function bindStatusLine({ t, announce }, { line, finding, bar }) {
  let before = "";

  /** @param {LiveRun} run @returns {string}  in what state it is */
  function state({ state, why, place }) {
    if (state === "queued") return t("Waiting: number {place} in the queue", { place: place ?? 1 });
    if (state === "starting") return t("Starting");
    if (state === "running") return t("Training now");
    if (state === "paused") return t("Paused");
    if (why === "minutes") return t("Ended: the time limit of a run was reached");
    if (why === "unwatched") return t("Ended: nobody was watching");
    if (why?.startsWith("storage-")) return t("Failed: the server could not write to its disk. Fork it from the last snapshot to continue");
    if (why === "crashed") return t("Failed: its process ended. Fork it from the last snapshot to continue");
    return state === "finished" ? t("Finished") : t("Stopped");
  }

  /** @param {LiveRun} run */
  function learned(run) {
    const snapshot = firstReaching(run, LEARNED);
    if (!run.snapshots.length) return isOver(run) ? "" : t("The first snapshot appears as soon as the examples are " +
      "generated.");
    if (!snapshot) return isOver(run) ? t("The task was not learned: less than 99 % of the held-out answers are right.") : "";
    const values = { step: counted(snapshot.step), seconds: grouped(Math.round(snapshot.seconds)) };
    return t("From step {step} on, at least 99 % of the held-out answers are right ({seconds} s of training).", values);
  }

  return {
    /** @param {LiveRun} run */
    show(run) {
      const message = state(run);
      const last = run.snapshots.at(-1);
      const parts = [
        el("strong", { key: "state" }, message),
        t("step {step} of {steps}", { step: counted(run.step), steps: counted(Number(run.options.steps)) }),
        last && t("{share} % right", { share: hundredths(last.accuracy) }),
        last && (last.loss === null ? t("loss is no longer a number") : t("loss {loss}", { loss: two(last.loss) })),
        run.rate !== null && t("rate {rate}", { rate: significant(run.rate, 2) }),
        t("{seconds} s", { seconds: grouped(Math.round(run.seconds)) }),
        run.parent && t("forked at step {step}", { step: counted(run.parent.step) }),
      ];
      render(line, ...parts.filter(Boolean).map((part, i) => el("span", { key: String(i) }, part)));
      line.dataset.state = run.state;
      [bar.max, bar.value] = [Number(run.options.steps), run.step];
      finding.textContent = learned(run);
      finding.hidden = !finding.textContent;
      if (message !== before) announce(message);
      before = message;
    },
  };
}

/** Milliseconds per step while playing. */
const BEAT = 500;
const HEIGHT = 150;
/** Half the width of the slider's thumb, so that its middle aligns with a step's dot. */
const THUMB = 8;

/**
 * @param {import("../core/figure/types.js").Context} services
 * @param {import("./displayed-run.js").DisplayedRun} displayed
 * @param {HTMLElement} element  its place
 */
export function bindTimeline(services, displayed, element) {
  const { t, theme } = services;
  const [right, loss] = [h("div", { className: "curve" }), h("div", { className: "curve" })];
  const step = h("output", { className: "step-now" });
  const slider = h("input", { type: "range", min: "0", step: "1", "aria-label": t("Step of the training") });
  const last = () => (displayed.run()?.snapshots.length ?? 0) - 1;
  const transport = createTransport(services, { current: () => Math.max(0, displayed.place()), last, go: displayed.go, beat: BEAT });
  const follow = h("button", { type: "button", className: "button quiet" }, t("Newest"));
  element.append(step, right, loss, slider, h("div", { className: "playing" }, transport.element, follow));
  follow.addEventListener("click", () => displayed.go(last()));
  slider.addEventListener("input", () => {
    transport.pause();
    displayed.go(Math.min(Number(slider.value), last()));
  });
  for (const chart of [right, loss])
    chart.addEventListener("click", ({ clientX }) => {
      const { left: sliderLeft, width } = slider.getBoundingClientRect();
      const share = (clientX - sliderLeft - THUMB) / (width - 2 * THUMB);
      const to = Math.round(share * Number(slider.max));
      if (share > -0.1 && share < 1.1) displayed.go(Math.max(0, Math.min(to, last())));
    });

  /** Both charts start and end at the same x. @param {LiveRun} run */
  function charts(run) {
    const colours = theme();
    const heldOutLosses = run.snapshots.map(({ loss }) => loss ?? NaN);
    const trained = trainLosses(run);
    const finite = [...heldOutLosses, ...trained].filter(Number.isFinite);
    const top = Math.max(1, Math.ceil(Math.max(0, ...finite)));
    const drawn = (/** @type {number[]} */ values) => values.map((value) => (Number.isFinite(value) ? Math.min(value, top) : top));
    const width = element.clientWidth;
    const names = [t("right"), t("held out"), t("training")];
    const common = { width, height: HEIGHT, places: plannedSteps(run).map(counted), markedIndex: displayed.place() };
    const lines = {
      right: [{ name: names[0], values: run.snapshots.map(({ accuracy }) => 100 * accuracy), colour: colours.ink }],
      loss: [
        { name: names[1], values: drawn(heldOutLosses), colour: colours.ink },
        { name: names[2], values: drawn(trained), colour: colours.muted, dash: "5 4" },
      ],
    };
    const beside = Math.max(margins(lines.right, colours).right, margins(lines.loss, colours).right);
    const all = { ...common, right: beside }; // both end at the same x
    render(right, plot({ ...all, curves: lines.right, range: [0, 100], titles: { x: "", y: t("Right answers, %") }, format: String }, colours));
    render(loss, plot({ ...all, curves: lines.loss, range: [0, top], titles: { x: t("training step"), y: t("Loss, nats per token") }, format: String }, colours));
    return { left: margins(lines.right, colours).left, right: beside };
  }

  return {
    /** @param {LiveRun} run */
    show(run) {
      const place = displayed.place();
      element.hidden = place < 0;
      if (place < 0) return;
      const { left: leftMargin, right } = charts(run);
      slider.max = String(plannedSteps(run).length - 1);
      slider.value = String(place);
      slider.style.marginLeft = `${leftMargin - THUMB}px`;
      slider.style.width = `calc(100% - ${leftMargin + right - 2 * THUMB}px)`;
      const snapshot = run.snapshots[place];
      const stepText = t("Step {step}", { step: counted(snapshot.step) });
      slider.setAttribute("aria-valuetext", stepText);
      const share = t("{share} % right", { share: hundredths(snapshot.accuracy) });
      render(step, stepText, el("small", {}, snapshot.step === 0 ? t("before training") : share));
      follow.hidden = displayed.following();
      transport.show(t("snapshot {n} of {count}", { n: place + 1, count: run.snapshots.length }));
    },
  };
}
