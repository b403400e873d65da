/** The progress of the run in one line, and when the task was learned. */

import { el, render } from "../lib/render.js";
import { grouped, hundredths, significant, two } from "../lib/numbers.js";
import { over, reached } from "./live-run.js";
import { counted } from "../views/training/training-history.js";

/** @import { LiveRun } from "./live-run.js" */

/** The share of right answers at which a task counts as learned. */
const LEARNED = 0.99;

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t" | "announce">} desk
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
    const at = reached(run, LEARNED);
    if (!run.snapshots.length) return over(run) ? "" : t("The first snapshot appears as soon as the examples are " +
      "generated.");
    if (!at) return over(run) ? t("The task was not learned: less than 99 % of the held-out answers are right.") : "";
    const values = { step: counted(at.step), seconds: grouped(Math.round(at.seconds)) };
    return t("From step {step} on, at least 99 % of the held-out answers are right ({seconds} s of training).", values);
  }

  return {
    /** @param {LiveRun} run */
    show(run) {
      const says = state(run);
      const last = run.snapshots.at(-1);
      const parts = [
        el("strong", { key: "state" }, says),
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
      if (says !== before) announce(says);
      before = says;
    },
  };
}
