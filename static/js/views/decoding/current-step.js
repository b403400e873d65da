/** The current step with all data that the parts of the view show. */

import { quoted } from "../../core/draw/token.js";
import { plan, planInLink, withoutPrefix } from "../../core/store/link-options.js";
import { answer, keyOf, runQuestion } from "../../core/store/view-requests.js";
import { Problem, outputKind } from "../../core/wire/reply.js";
import { request } from "../../core/wire/request.js";
import { createAsker } from "../../core/wire/connection.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { four } from "../../lib/numbers.js";
import { el } from "../../lib/dom.js";
import { neededTensors } from "./attention-rows.js";
import { NOTHING, withLine, hypothesis, ofContinuation, onPath, runOfTrace, writtenTokens } from "./decoding-steps.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Question } from "../../core/store/view-requests.js" */
/** @import { Run } from "./decoding-steps.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */

// The run that the view Decoding shows: the page's own or, for a decoder, one that continues the text
// to its end.

/** How many tokens a decoder writes if the link does not say: as many as the server. */
export const LENGTH = 20;

/** Whether the model continues a text. @param {Pick<Page, "model">} page */
export const continues = ({ model }) => outputKind(model) === "text";

/**
 * Decoding options with the length of the continuation.
 * @param {Pick<Page, "model" | "link">} page
 * @param {unknown} [decode]
 * @returns {unknown}  the same for a model that does not continue a text
 */
function decodeOf(page, decode = page.link.decode) {
  if (!continues(page)) return decode;
  const linkPlan = plan(decode);
  return planInLink({ ...linkPlan, max_tokens: linkPlan.max_tokens ?? Math.max(LENGTH, linkPlan.prefix.length) });
}

/**
 * The run with the whole continuation.
 * @param {Page} page
 * @param {string[]} select
 * @returns {Question}
 */
export const continuationQuestion = (page, select) => runQuestion(page, { decode: decodeOf(page), pad_to: null, select });

/**
 * The run that is shown.
 * @param {Page} page
 * @param {string[]} select  of a continuation
 * @returns {Trace | null}  null: loading, or failed
 */
function shownRun(page, select) {
  if (!continues(page)) return page.trace;
  const reply = answer(page, continuationQuestion(page, select));
  return reply && "output" in reply ? /** @type {Trace} */ (reply) : null;
}

/** The step that the link selects. @param {Page} page @returns {number | null} */
const stepOf = (page) => (continues(page) ? page.link.options.nth : page.link.query);

/**
 * The part of a link that selects a step.
 * @param {Page} page
 * @param {number} stepIndex
 * @returns {Partial<import("../../core/store/link.js").State>}
 */
export const atStep = (page, stepIndex) =>
  continues(page) ? { options: { ...page.link.options, nth: stepIndex } } : { query: stepIndex, key: null };

/**
 * @typedef {object} Scene  one step with its data
 * @property {Page} page
 * @property {import("./decoding-steps.js").Run} run
 * @property {boolean} frozen  whether only the data of a share's trace is available
 * @property {boolean} waiting  whether more steps are to come
 * @property {import("../../core/store/link-options.js").Plan} plan
 * @property {number} stepIndex  the step, from 0: a decoder row
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
 * @property {Trace["output"] | null} unforcedOutput  the model's own translation, if another one is shown
 * @property {string} lang  of the translation
 */

/** Whether something other than the model's own translation is written. @param {Page} page */
export const isForced = ({ link }) => link.target !== null || plan(link.decode).prefix.length > 0;

/** The model's own translation. @param {Page} page */
export const unforcedQuestion = (page) =>
  runQuestion(page, { target: null, pad_to: null, decode: decodeOf(page, withoutPrefix(page.link.decode)), select: [] });

/**
 * @param {Page} page
 * @param {Pick<Scene, "run" | "frozen" | "waiting">} heard
 * @param {{stepIndex: number, hypothesis: number}} chosen
 * @returns {Scene | null}  null: nothing is written yet
 */
export function sceneOf(page, { run, frozen, waiting }, chosen) {
  const pieces = writtenTokens(run);
  const { trace, link } = page;
  if (!pieces.length || !trace) return null;
  const ran = shownRun(page, neededTensors(page));
  const output = ran && ofContinuation(ran.output);
  const stepIndex = Math.min(stepOf(page) ?? 0, pieces.length - 1, run.steps.length - 1);
  const ids = pieces.map(({ id }) => id);
  const step = run.steps[stepIndex];
  const agrees = output?.tokens.length === ids.length && output.tokens.every(({ id }, i) => id === ids[i]);
  /** @type {Trace | import("../../core/wire/reply.js").Problem | undefined} */
  const unforced = isForced(page) ? answer(page, unforcedQuestion(page)) : undefined;
  const [, lang] = languages(trace.direction);
  const row =
    chosen.stepIndex === stepIndex && step.hypotheses[chosen.hypothesis]
      ? chosen.hypothesis
      : Math.max(0, hypothesis(step, ids));
  return {
    page,
    run,
    frozen,
    waiting,
    plan: plan(link.decode),
    stepIndex,
    step,
    hypothesis: row,
    ids,
    labels: labels(
      pieces.map((piece) => ({ ...piece, start: 0, end: 0 })),
      lang,
    ),
    probabilities: ids.map((_, t) => chance(run.steps[t], ids)),
    rank: onPath(step, ids)?.rank ?? (agrees ? output?.ranks?.[stepIndex] : undefined),
    ran,
    row: (ran?.output.continues ?? 0) + stepIndex,
    output,
    agrees,
    unforcedOutput: unforced && "output" in unforced ? ofContinuation(unforced.output) : null,
    lang,
  };
}

/** @param {import("./decoding-steps.js").Step | undefined} step @param {number[]} ids */
function chance(step, ids) {
  const beam = step && onPath(step, ids);
  return step && beam ? Math.exp(beam.logprob - step.hypotheses[beam.parent].logprob) : NaN;
}

/** Describe this step in a sentence. @param {Context} context @param {Scene} scene */
export function stepFinding({ t, phrase }, scene) {
  const { stepIndex, step, ids, probabilities, rank, plan } = scene;
  const row = Math.max(0, hypothesis(step, ids));
  const label = scene.labels[stepIndex];
  const first = step.hypotheses[row]?.candidates[0];
  const values = {
    n: stepIndex + 1,
    token: el("span", { className: "as-query" }, quoted(label)),
    p: four(probabilities[stepIndex]),
    rank,
  };
  const led = first?.id === ids[stepIndex];
  if (step.forced && led)
    return phrase(
      t(
        "Step {n}: {token} was given; it is also the model’s top choice ({p}).",
      ),
      values,
    );
  if (step.forced)
    return phrase(
      rank
        ? t("Step {n}: {token} was given. The model ranks it {rank}, with a probability of {p}.")
        : t("Step {n}: {token} was given. The model gives it a probability of {p}."),
      values,
    );
  if (plan.method === "beam")
    return phrase(
      led
        ? t("Step {n}: the best path continues with {token}, its most probable next token ({p}).")
        : t(
            "Step {n}: the best path continues with {token} ({p}), though another token was more probable here.",
          ),
      values,
    );
  if (plan.method === "sample")
    return phrase(
      led
        ? t("Step {n}: {token} was sampled, the most probable token ({p}).")
        : t("Step {n}: {token} was sampled; its probability is {p}."),
      values,
    );
  return phrase(t("Step {n}: the model writes {token}, the most probable token ({p})."), values);
}

// Stream the search: one stream at a time; a newer one cancels the older one.

/** @typedef {{run: Run, key: string, frozen: boolean, waiting: boolean, problem: Problem | null}} FeedState */

/** The number of candidates requested per step: as many as a share's trace has. */
const CANDIDATES = 10;

/** @param {Pick<import("../../core/store/data-sources.js").Source, "lines">} source @param {() => void} changed */
export function createFeed(source, changed) {
  const asker = createAsker();
  /** @type {FeedState} */
  let state = { run: NOTHING, key: "", frozen: false, waiting: true, problem: null };

  /** @param {Partial<FeedState>} patch */
  function set(patch) {
    state = { ...state, ...patch };
    changed();
  }

  /** @param {string} key @param {object} body */
  async function listen(key, body) {
    state = { ...state, key };
    const fails = (/** @type {Problem} */ problem) => set({ waiting: false, problem });
    const end = await asker.ask(async (signal) => {
      let run = NOTHING;
      // Keep the previous steps until new ones arrive.
      state = { ...state, frozen: false, waiting: true, problem: null };
      for await (const line of source.lines("/api/decode", body, signal)) {
        if (signal.aborted) return null;
        run = withLine(run, line);
        if (run.steps.length) set({ run });
      }
      if (!run.output) throw new Problem("offline");
      return run;
    }, fails);
    if (end instanceof Problem) fails(end);
    else if (end) set({ waiting: false });
  }

  return {
    get: () => state,
    stop: asker.stop,

    /** Retry after a failure. */
    retry() {
      state = { ...state, key: "", problem: null };
      changed();
    },

    /** Request what the link selects. @param {Page} page */
    follow(page) {
      const { share, live, status } = page;
      if (share && !live) {
        const trace = shownRun(page, neededTensors(page));
        return void (trace && thaw(page.model, trace));
      }
      // A model of one text takes it under another name.
      const body = page.model && decodeRequest(page);
      if (!body || status === "empty" || status === "failed") return;
      const key = keyOf({ trace: body });
      if (key !== state.key) void listen(key, body);
    },
  };

  /** @param {Page["model"]} model @param {import("../../core/wire/safetensors.js").Trace} trace */
  function thaw(model, trace) {
    if (state.key === trace.id) return;
    const run = runOfTrace(model, trace) ?? NOTHING;
    state = { run, key: trace.id, frozen: true, waiting: false, problem: null };
  }
}

/**
 * The request for the same run as the page's trace; a target becomes a prefix.
 * @param {Page} page
 * @returns {object | null}  null: the tokens of the target are not known yet
 */
function decodeRequest(page) {
  const { link, model, trace, status } = page;
  const {
    target,
    pad_to: _,
    select: __,
    ...run
  } = request(model, link, []);
  if (continues(page)) return { ...run, decode: decodeOf(page), candidates: CANDIDATES };
  if (target === undefined) return { ...run, candidates: CANDIDATES };
  if (!trace || status !== "ready") return null;
  const prefix = trace.output.tokens.map(({ id }) => id);
  return { ...run, decode: { method: "greedy", prefix }, candidates: CANDIDATES };
}
