/** What the page shows of a run: which run, snapshot and probe, the figure for them, and the run's progress. */

import { margins, plot } from "../core/draw/line-chart.js";
import { createTransport } from "../core/figure/controls.js";
import { createAsker } from "../core/wire/connection.js";
import { Problem } from "../core/wire/reply.js";
import { el, find, h, render } from "../lib/dom.js";
import { grouped, hundredths, significant, two } from "../lib/numbers.js";
import { counted } from "../views/training/training-history.js";
import { firstReaching, isOver, newRun, plannedSteps, snapshotIndex, trainLosses } from "./live-run.js";

/** @import { Trace } from "../core/wire/safetensors.js" */
/** @import { LiveRun } from "./live-run.js" */

// Which run, snapshot and probe the page shows, the figure for them, and the choice of a probe.

/** @typedef {ReturnType<typeof createDisplayedRun>} DisplayedRun */
/** @typedef {{model: import("../core/wire/model-description.js").ModelInfo, trace: Trace}} Moment */

/** The number of cached traces, so that moving the slider back needs no request. */
const MAX_TRACES = 200;

/**
 * A source that returns the trace put into it.
 * @returns {import("../core/store/data-sources.js").Source & {put: (moment: Moment) => void}}
 */
export function createProbeSource() {
  /** @type {Moment | null} */
  let moment = null;
  const current = () => {
    if (!moment) throw new Problem("not-given");
    return moment;
  };
  return {
    put: (next) => void (moment = next),
    open: async (link) => ({ ...current(), live: false, link }),
    models: async () => [current().model],
    trace: async () => current().trace,
    overview: async () => Promise.reject(new Problem("not-given")),
    tile: async () => Promise.reject(new Problem("not-given")),
    answer: async () => Promise.reject(new Problem("not-given")),
    async *lines() {
      throw new Problem("not-given");
    },
  };
}

/**
 * @param {{api: Pick<import("../core/wire/api.js").Api, "runSnapshot">, figure: {run: () => Promise<void>}, store: import("../core/store/store.js").Store}} services
 * @param {ReturnType<typeof createProbeSource>} source
 * @param {{moved: () => void, failed: (problem: Problem) => void}} listener
 */
export function createDisplayedRun({ api, figure, store }, source, { moved, failed }) {
  const asker = createAsker();
  /** @type {Map<string, Trace>} */
  const cachedTraces = new Map();
  /** @type {LiveRun | null} */
  let run = null;
  /** @type {number | null}  null: the last one, whichever it is */
  let step = null;
  let probe = 0;
  /** What the figure shows or is loading. */
  let shownKey = "";

  const place = () => (run ? snapshotIndex(run, step) : -1);

  /** Update the figure to the current step. */
  async function figureOf() {
    const snapshot = run?.snapshots[place()];
    if (!run?.model || !snapshot) return;
    const { id, model } = run;
    const key = `${id} ${snapshot.step} ${probe}`;
    if (key === shownKey) return;
    shownKey = key;
    const reply = cachedTraces.get(key) ?? (await asker.ask((signal) => api.runSnapshot(id, snapshot.step, probe, signal)));
    if (reply === null || key !== shownKey) return;
    if (reply instanceof Problem) {
      shownKey = "";
      return failed(reply);
    }
    cachedTraces.set(key, reply);
    if (cachedTraces.size > MAX_TRACES) cachedTraces.delete(/** @type {string} */ (cachedTraces.keys().next().value));
    put(model, reply);
  }

  /** @param {import("../core/wire/model-description.js").ModelInfo} model @param {Trace} trace */
  function put(model, trace) {
    const { trace: before, link } = store.get();
    source.put({ model, trace });
    if (!before) return void figure.run();
    const isOtherText = text(before) !== text(trace);
    store.set({ model, trace, status: "ready", problem: null, link: isOtherText ? { ...link, query: null, key: null } : link });
  }

  return {
    run: () => run,
    step: () => step,
    probe: () => probe,
    place,
    /** Whether the figure follows the last snapshot. */
    following: () => step === null,

    /** @param {import("../core/wire/requests-by-subject.js").RunInfo} info @param {{step: number | null, probe: number}} position */
    open(info, position) {
      run = newRun(info);
      ({ step, probe } = position);
      shownKey = "";
    },

    /** Show no run. */
    close() {
      run = null;
      shownKey = "";
    },

    /** @param {LiveRun} next */
    hear(next) {
      run = next;
      probe = Math.min(probe, Math.max(0, next.probes.length - 1));
      void figureOf();
    },

    /** @param {number} to  a place among the snapshots; the last one is followed from there on */
    go(to) {
      if (!run) return;
      step = to >= run.snapshots.length - 1 ? null : run.snapshots[Math.max(to, 0)].step;
      void figureOf();
      moved();
    },

    /** @param {number | null} to  a step; until its snapshot is there, the nearest is shown; null: follow the last */
    seek(to) {
      step = to;
      void figureOf();
      moved();
    },

    /** @param {number} to */
    look(to) {
      probe = to;
      void figureOf();
      moved();
    },
  };
}

/** The texts that are read. @param {Trace} trace */
const text = ({ tokens }) => JSON.stringify(Object.values(tokens).map((some) => some.map(({ id }) => id)));

/** @param {import("../workspace/main-figure.js").PageServices} services @param {DisplayedRun} displayed */
export function bindProbes({ t }, displayed) {
  const list = find("#probes");
  list.addEventListener("change", ({ target }) => displayed.look(Number(/** @type {HTMLInputElement} */ (target).value)));
  return {
    /** @param {LiveRun} run */
    show(run) {
      const snapshot = run.snapshots[displayed.place()];
      list.hidden = !snapshot;
      if (!snapshot) return;
      render(
        list,
        el("legend", {}, t("Held-out inputs, and what the model answers at this step")),
        run.probes.map(({ source, target }, i) => {
          const written = snapshot.written[i].trim();
          const right = written === target.trim();
          return el(
            "label",
            { key: String(i) },
            el("input", { type: "radio", name: "probe", value: String(i), checked: i === displayed.probe() }),
            el("span", { className: "asked" }, source),
            el("span", { className: right ? "answer right" : "answer" }, marked(written, target), el("span", { className: "verdict" }, right ? " ✓" : "")),
          );
        }),
      );
    },
  };

  /**
   * The answer word by word, with wrong words marked.
   * @param {string} written
   * @param {string} target
   */
  function marked(written, target) {
    if (!written) return [el("i", {}, t("nothing"))];
    const apart = target.includes(" ") ? " " : "";
    const targetWords = target.split(apart);
    return printable(written)
      .split(apart)
      .flatMap((word, i) => [i && apart ? apart : "", word === targetWords[i] ? word : el("mark", { key: String(i) }, word)]);
  }
}

/** An untrained model may write control characters. @param {string} text */
const printable = (text) => text.replace(/\p{Cc}|\p{Cf}|\uFFFD/gu, "·");

// The progress of a run: in one line, and as two charts over its steps with a slider below them.

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
 * @param {DisplayedRun} displayed
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
