/**
 * A training run in a lesson: started by the reader, with its curves and one attention at every
 * snapshot.
 */

import { pointingIn } from "../core/figure/pointing.js";
import { problemLine } from "../core/figure/figure-status.js";
import { Problem, failure } from "../core/wire/reply.js";
import { find, h } from "../lib/dom.js";
import { bindStatusLine, bindTimeline, createDisplayedRun, createProbeSource } from "../train/displayed-run.js";
import { rememberRun, runKey } from "../train/run-commands.js";
import { format, parse, requestOptions, summary } from "../train/options-form.js";
import { createFollower, isOver } from "../train/live-run.js";
import { createFigure, linkTo, storeOf } from "../views/create-figure.js";
import { isReadersChange, linkOfState, liveQuery } from "./figure-controls.js";
import { replaceStill } from "./formula-zoo-and-pairing-figures.js";
import { openAddress } from "./lesson-address.js";

/** @import { RunsReply } from "../core/wire/schemas.d.ts" */

/** @typedef {Parameters<typeof import("./figures.js").openFigure>[0]} OfFigure */

/** An id of a run. */
const ID = /^[a-z0-9]{1,40}$/;

/**
 * Its state is that of the training page: the run with its step and its figure, or the options of
 * one that has not begun.
 * @param {OfFigure} services
 * @param {HTMLElement} element
 * @param {import("../core/figure/types.js").Measure} measure
 * @returns {Promise<import("./figures.js").LessonFigure>}
 */
export async function trainingFigure(services, element, measure) {
  const { page, api, lang } = services;
  const { t } = page;
  const linked = parse(element.dataset.link ?? "");
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const stand = find(".stand", element);
  /** What failed, to be done again. */
  let again = () => {};
  const failed = problemLine(page, () => {
    failed.show(null);
    again();
  });
  const offered = await api.offeredRuns();
  const parts = createPlaces(t, about(t, offered, linked.options));
  stand.append(parts.place);

  const source = createProbeSource();
  const first = linkTo({ lang, ...linked.figure });
  const store = storeOf(first);
  const figure = createFigure({ root: parts.root, store, source, page, measure, caption: parts.caption, legend: parts.legend });
  parts.head.append(failed.element);
  const displayed = createDisplayedRun({ api, figure, store }, source, { moved, failed: (problem) => fail(problem, () => displayed.seek(displayed.step())) });
  const status = bindStatusLine(page, parts);
  const timeline = bindTimeline(figure.context, displayed, parts.timeline);
  const query = () => format({ run: displayed.run(), step: displayed.step(), probe: 0, options: linked.options, link: store.get().link });
  const began = linked.run === null ? query() : format({ run: { id: linked.run }, step: linked.step, probe: 0, options: {}, link: first });
  const live = liveQuery({ state: query, go, began, pointing: pointingIn(store) });
  const watching = createWatching(api, { displayed, hear, failed: fail, draw });

  /** @param {Problem} problem @param {() => void} retry */
  function fail(problem, retry) {
    again = retry;
    failed.show(problem);
  }

  /** @param {import("../train/live-run.js").LiveRun} run */
  function hear(run) {
    failed.show(null);
    displayed.hear(run);
    draw();
  }

  function draw() {
    const run = displayed.run();
    open.href = openAddress("train", `${query()}&lang=${lang}`);
    if (!run) return parts.show("", false);
    status.show(run);
    timeline.show(run);
    parts.show(isOver(run) ? "over" : runKey(run.id) ? "own" : "other", run.snapshots.length > 0);
  }

  function moved() {
    draw();
    live.changed();
  }

  /** @param {string} state */
  function go(state) {
    const target = parse(state);
    if (target.run === null && state !== live.began) return false;
    if (target.run !== null && !ID.test(target.run)) return false;
    store.go({ ...first, ...target.figure }, "pushed");
    if (target.run === null) watching.leave();
    else if (target.run === displayed.run()?.id) displayed.seek(target.step);
    else watch(target.run, target.step);
    return true;
  }

  /** @param {string} run @param {number | null} step */
  function watch(run, step) {
    failed.show(null);
    void watching.open(run, step);
  }

  async function start() {
    failed.show(null);
    parts.show("own", false);
    const run = await api.startRun(requestOptions(linked.options)).catch(failure);
    if (run instanceof Problem) {
      draw();
      return fail(run, () => void start());
    }
    rememberRun(run.id, run.key);
    await watching.open(run.id, null, live.changed);
  }

  function stop() {
    const run = displayed.run();
    const key = run && runKey(run.id);
    if (run && key) api.changeRun(run.id, key, { stop: true }).catch((/** @type {unknown} */ error) => fail(failure(error), stop));
  }

  parts.start.addEventListener("click", () => void start());
  parts.stop.addEventListener("click", stop);
  page.onTheme(draw);
  new ResizeObserver(draw).observe(stand);
  store.subscribe(
    ({ link }) => link,
    (_, __, origin) => isReadersChange(origin) && moved(),
  );
  const link = linkOfState(services, element, live.shows);
  if (link) parts.link.append(link.button);
  if (link) parts.head.append(link.panel);
  if (linked.run !== null) watch(linked.run, linked.step);
  replaceStill(stand, parts.place);
  return live;
}

/**
 * The run that is shown: opened and followed to its end, or left.
 * @param {OfFigure["api"]} api
 * @param {object} of
 * @param {import("../train/displayed-run.js").DisplayedRun} of.displayed
 * @param {(run: import("../train/live-run.js").LiveRun) => void} of.hear
 * @param {(problem: Problem, retry: () => void) => void} of.failed
 * @param {() => void} of.draw
 */
function createWatching(api, { displayed, hear, failed, draw }) {
  const follower = createFollower(api, { hear, failed: (problem) => failed(problem, () => void follower.follow(null)) });
  let openId = "";
  const watching = {
    leave() {
      openId = "";
      follower.stop();
      displayed.close();
      draw();
    },
    /**
     * @param {string} id
     * @param {number | null} step
     * @param {() => void} [opened]  called when the run is shown
     */
    async open(id, step, opened = () => {}) {
      openId = id;
      try {
        const info = await api.readRun(id);
        if (id !== openId) return;
        displayed.open(info, { step, probe: 0 });
        draw();
        opened();
        await follower.follow(info);
      } catch (error) {
        if (id === openId) failed(failure(error), () => void watching.open(id, step, opened));
      }
    },
  };
  return watching;
}

/** What is trained, in one line. @param {OfFigure["page"]["t"]} t @param {RunsReply} offered @param {Record<string, string>} options */
function about(t, offered, options) {
  const typed = Object.fromEntries(Object.entries({ ...offered.defaults, ...options }).map(([name, value]) => [name, String(value ?? "")]));
  return summary(t, { ...typed, longest: options.longest ?? String(offered.tasks[typed.task].usual) }, offered);
}

/** The elements of the figure. @param {OfFigure["page"]["t"]} t @param {string} description */
function createPlaces(t, description) {
  const start = h("button", { type: "button", className: "button strong" }, t("Train"));
  const stop = h("button", { type: "button", className: "button", hidden: true }, t("Stop training"));
  const line = h("p", { className: "run-status" });
  const bar = h("progress", { className: "run-done", max: 1, value: 0, hidden: true, "aria-label": t("Progress of the training") });
  const finding = h("p", { className: "finding", hidden: true });
  const timeline = h("section", { className: "run-timeline", hidden: true, "aria-label": t("Steps") });
  const [caption, legend, root] = [h("p", { className: "caption" }), h("div", { className: "scale" }), h("div", {})];
  const link = h("span", {});
  const head = h("div", { className: "run-head" }, start, stop, link, h("p", { className: "run-about" }, description), line, bar, finding);
  const drawn = h("div", { className: "run", hidden: true }, timeline, h("div", { className: "stage" }, h("div", { className: "saying" }, caption, legend), root));
  return {
    ...{ place: h("div", { className: "coming" }, head, drawn), head, link, start, stop, line, bar, finding, timeline, caption, legend, root },
    /**
     * @param {"" | "own" | "other" | "over"} run  "": none; "own", "other": running, and who may stop it
     * @param {boolean} hasSnapshot  whether there is a snapshot
     */
    show(run, hasSnapshot) {
      const running = run === "own" || run === "other";
      [start.hidden, stop.hidden, drawn.hidden] = [running, run !== "own", !hasSnapshot];
      bar.hidden = !running && !hasSnapshot;
      line.hidden = run === "";
      if (!run) finding.hidden = true;
    },
  };
}
