/** The current step with all data that the parts of the view show. */

import { four } from "../../lib/numbers.js";
import { el } from "../../lib/render.js";
import { quoted } from "../../core/draw/token.js";
import { own, plan } from "../../core/store/decode-options.js";
import { answer, traced } from "../../core/store/view-requests.js";
import { decodeOf, shownRun, stepOf } from "./continued-run.js";
import { hypothesis, ofContinuation, onPath, written } from "./decoding-steps.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { wanted } from "./attention-rows.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/**
 * @typedef {object} Scene  one step with its data
 * @property {Page} page
 * @property {import("./decoding-steps.js").Run} run
 * @property {boolean} frozen  whether only the data of a share's trace is available
 * @property {boolean} waiting  whether more steps are to come
 * @property {import("../../core/store/decode-options.js").Plan} plan
 * @property {number} at  the step, from 0: a decoder row
 * @property {import("./decoding-steps.js").Step} step
 * @property {number} hypothesis  index of the selected hypothesis
 * @property {number[]} ids  of what is written
 * @property {import("../../core/wire/tokens.js").Label[]} labels  of what is written
 * @property {number[]} probabilities  of what is written; NaN where not known
 * @property {number | undefined} rank  of the token written now, if known
 * @property {Trace | null} ran  the run with these tokens; null: loading
 * @property {number} row  the row of the step in it
 * @property {Trace["output"] | null} output  what the model wrote in it
 * @property {boolean} agrees  whether that run has the same tokens
 * @property {Trace["output"] | null} other  the model's own translation, if another one is shown
 * @property {string} lang  of the translation
 */

/** Whether something other than the model's own translation is written. @param {Page} page */
export const bent = ({ link }) => link.target !== null || plan(link.decode).prefix.length > 0;

/** The model's own translation. @param {Page} page */
export const unbent = (page) =>
  traced(page, { target: null, pad_to: null, decode: decodeOf(page, own(page.link.decode)), select: [] });

/**
 * @param {Page} page
 * @param {Pick<Scene, "run" | "frozen" | "waiting">} heard
 * @param {{at: number, hypothesis: number}} chosen
 * @returns {Scene | null}  null: nothing is written yet
 */
export function sceneOf(page, { run, frozen, waiting }, chosen) {
  const pieces = written(run);
  const { trace, link } = page;
  if (!pieces.length || !trace) return null;
  const ran = shownRun(page, wanted(page));
  const output = ran && ofContinuation(ran.output);
  const at = Math.min(stepOf(page) ?? 0, pieces.length - 1, run.steps.length - 1);
  const ids = pieces.map(({ id }) => id);
  const step = run.steps[at];
  const agrees = output?.tokens.length === ids.length && output.tokens.every(({ id }, i) => id === ids[i]);
  /** @type {Trace | import("../../core/wire/problem.js").Problem | undefined} */
  const unforced = bent(page) ? answer(page, unbent(page)) : undefined;
  const [, lang] = languages(trace.direction);
  const row =
    chosen.at === at && step.hypotheses[chosen.hypothesis]
      ? chosen.hypothesis
      : Math.max(0, hypothesis(step, ids));
  return {
    page,
    run,
    frozen,
    waiting,
    plan: plan(link.decode),
    at,
    step,
    hypothesis: row,
    ids,
    labels: labels(
      pieces.map((piece) => ({ ...piece, start: 0, end: 0 })),
      lang,
    ),
    probabilities: ids.map((_, t) => chance(run.steps[t], ids)),
    rank: onPath(step, ids)?.rank ?? (agrees ? output?.ranks?.[at] : undefined),
    ran,
    row: (ran?.output.continues ?? 0) + at,
    output,
    agrees,
    other: unforced && "output" in unforced ? ofContinuation(unforced.output) : null,
    lang,
  };
}

/** @param {import("./decoding-steps.js").Step | undefined} step @param {number[]} ids */
function chance(step, ids) {
  const beam = step && onPath(step, ids);
  return step && beam ? Math.exp(beam.logprob - step.hypotheses[beam.parent].logprob) : NaN;
}

/** Describe this step in a sentence. @param {Context} context @param {Scene} scene */
export function told({ t, say }, scene) {
  const { at, step, ids, probabilities, rank, plan } = scene;
  const row = Math.max(0, hypothesis(step, ids));
  const label = scene.labels[at];
  const first = step.hypotheses[row]?.candidates[0];
  const values = {
    n: at + 1,
    token: el("span", { className: "as-query" }, quoted(label)),
    p: four(probabilities[at]),
    rank,
  };
  const led = first?.id === ids[at];
  if (step.forced && led)
    return say(
      t(
        "Step {n}: {token} was given; it is also the model’s top choice ({p}).",
      ),
      values,
    );
  if (step.forced)
    return say(
      rank
        ? t("Step {n}: {token} was given. The model ranks it {rank}, with a probability of {p}.")
        : t("Step {n}: {token} was given. The model gives it a probability of {p}."),
      values,
    );
  if (plan.method === "beam")
    return say(
      led
        ? t("Step {n}: the best path continues with {token}, its most probable next token ({p}).")
        : t(
            "Step {n}: the best path continues with {token} ({p}), though another token was more probable here.",
          ),
      values,
    );
  if (plan.method === "sample")
    return say(
      led
        ? t("Step {n}: {token} was sampled, the most probable token ({p}).")
        : t("Step {n}: {token} was sampled; its probability is {p}."),
      values,
    );
  return say(t("Step {n}: the model writes {token}, the most probable token ({p})."), values);
}
