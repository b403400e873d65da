/** Which run, snapshot and probe the page shows, the figure for them, and the choice of a probe. */

import { createAsker } from "../core/wire/connection.js";
import { Problem } from "../core/wire/reply.js";
import { el, find, render } from "../lib/dom.js";
import { newRun, snapshotIndex } from "./live-run.js";

/** @import { LiveRun } from "./live-run.js" */
/** @import { Trace } from "../core/wire/wire.js" */

/** @typedef {ReturnType<typeof createDisplayedRun>} DisplayedRun */
/** @typedef {{model: import("../core/wire/model.js").ModelInfo, trace: Trace}} Moment */

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

  /** @param {import("../core/wire/model.js").ModelInfo} model @param {Trace} trace */
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

    /** @param {import("../core/wire/subject-requests.js").RunInfo} info @param {{step: number | null, probe: number}} position */
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
