/**
 * Keep what is shown in sync with the link: request the trace when the request changes, and the
 * tensors and answers that a view needs when they are missing.
 */

import { thumbnailWeights } from "../compute/computed-tensors.js";
import { isLong } from "../wire/long-texts.js";
import { Problem } from "../wire/reply.js";
import { changesInForce, request } from "../wire/request.js";
import { createAsker, pause } from "../wire/connection.js";
import { withTensors, missingAddresses, size } from "../wire/tensor-cache.js";
import { aligningHead, openingHead } from "./highlight.js";
import { isChanged } from "./interventions.js";
import { REQUEST_KEYS, fittedLink } from "./link.js";
import { containedAnswer, keyOf, moreOf, ownRun, requestRun, runOf } from "./view-requests.js";
import { answerFromShare, parametersFromShare } from "./share-contents.js";
import { withOtherRun, otherRunPage, traceOfQuestion, runKind } from "./runs-with-and-without-changes.js";

/** @import { ModelInfo } from "../wire/model-description.js" */
/** @import { Page, Store } from "./store.js" */
/** @import { Question } from "./view-requests.js" */
/** @import { Source } from "./data-sources.js" */

// Get answers to all questions of the current view, and to no others.

/** @typedef {Page["answers"]} Answers */

/** Limits for keeping answers that are no longer needed. */
const ANSWER_LIMITS = { answers: 32, bytes: 64 * 2 ** 20 };

/**
 * @param {import("./store.js").Store} store
 * @param {Pick<import("./data-sources.js").Source, "answer">} source
 * @param {(page: Page) => Question[]} asks
 * @param {(question: Question) => boolean} [awaited]  whether a pending run may answer it
 */
export function bindAnswers(store, source, asks, awaited = () => false) {
  /** @type {Map<string, import("../wire/connection.js").Asker>} */
  const open = new Map();

  /** @param {Question} question @param {string} key */
  async function ask(question, key) {
    const asker = createAsker();
    open.set(key, asker);
    const reply = await asker.ask((signal) => source.answer(question, signal));
    if (reply === null) return;
    open.delete(key);
    const page = store.get();
    const needed = new Set(asks(page).map(keyOf));
    store.set({ answers: { ...bounded(page.answers, needed, bytes(reply)), [key]: reply } });
  }

  return {
    stop: () => open.forEach((asker) => asker.stop()),

    /** Request what is needed now, and cancel what is no longer needed. */
    follow() {
      const page = store.get();
      if (!page.trace || page.status !== "ready") return;
      const questions = new Map(asks(page).map((question) => [keyOf(question), question]));
      for (const [key, asker] of open) {
        if (questions.has(key)) continue;
        open.delete(key);
        asker.stop();
      }
      // A temporary failure is forgotten, so that it is requested again when needed.
      const answers = without(page.answers, (key, problem) => problem.passing && !questions.has(key));
      /** @type {Answers} */
      const frozen = {};
      for (const [key, question] of questions) {
        if (answers[key] || open.has(key)) continue;
        const knownAnswer = answerFromShare(page, question) ?? parametersFromShare(page, question) ?? traceOfQuestion(page, question) ?? containedAnswer(answers, question);
        if (knownAnswer) frozen[key] = knownAnswer;
        else if (!awaited(question)) void ask(question, key);
      }
      if (answers !== page.answers || Object.keys(frozen).length)
        store.set({ answers: { ...answers, ...frozen } });
    },
  };
}

/**
 * Keep all answers that are still needed, and the newest others that fit.
 * @param {Answers} answers  oldest first
 * @param {Set<string>} needed
 * @param {number} added  bytes about to be added
 * @returns {Answers}
 */
export function bounded(answers, needed, added) {
  const free = Object.keys(answers).filter((key) => !needed.has(key)).reverse();
  const need = Object.keys(answers).length - free.length + 1;
  const neededEntries = Object.entries(answers).filter(([key]) => needed.has(key));
  let bytesLeft = ANSWER_LIMITS.bytes - added - neededEntries.reduce((sum, [, answer]) => sum + bytes(answer), 0);
  const keptKeys = new Set(needed);
  for (const key of free.slice(0, Math.max(0, ANSWER_LIMITS.answers - need))) {
    bytesLeft -= bytes(answers[key]);
    if (bytesLeft < 0) break;
    keptKeys.add(key);
  }
  return Object.fromEntries(Object.entries(answers).filter(([key]) => keptKeys.has(key)));
}

/** The size of an answer's tensors in bytes. @param {Answers[string]} answer */
function bytes(answer) {
  return size(/** @type {Partial<import("../wire/safetensors.js").Trace>} */ (answer).tensors ?? {});
}

/**
 * @param {Answers} answers
 * @param {(key: string, problem: Problem) => boolean} goes  which problems to leave out
 * @returns {Answers}  the same object if none is left out
 */
function without(answers, goes) {
  const entries = Object.entries(answers);
  const remaining = entries.filter(([key, answer]) => !(answer instanceof Problem && goes(key, answer)));
  return remaining.length === entries.length ? answers : Object.fromEntries(remaining);
}

/** @typedef {ReturnType<typeof bindSession>} Session */
/**
 * @typedef {object} DataNeeds  what the current view needs
 * @property {(page: Page) => string[]} needs  addresses of what it shows of the current run
 * @property {(page: Page) => import("./view-requests.js").Question[]} asks  everything it needs
 *   besides
 * @property {import("./link.js").Views} [viewOf]  what the views require of a model
 * @property {(page: Page) => boolean} [flips]  whether the other run of a changed model can be
 *   shown instead; absent: yes
 * @property {() => boolean} [pairs]  whether both runs of a changed model are shown, if both are
 *   there; absent: no
 * @property {(page: Page) => string} [opens]  the view that opens if the link's view is not offered
 */

/** The shortest wait that is worth a word, in milliseconds. */
const NOTICED = 1000;

/**
 * @param {Store} store
 * @param {Source} source
 * @param {DataNeeds} wishes
 * @param {{free?: boolean}} [options]  free: whether the first trace may determine the layer and
 *   the head
 */
export function bindSession(store, source, wishes, { free = false } = {}) {
  const asker = createAsker();
  const tensors = bindTensors(store, source, wishes.needs);
  const otherRequests = bindOther(store, source, wishes);
  const answers = bindAnswers(store, source, wishes.asks, otherRequests.asks);
  let { open } = source;

  /** Request the trace even if it is present; open a source that must be opened first. */
  async function run() {
    tensors.stop();
    if (open) return opened(open);
    if (!store.get().link.source.trim()) {
      asker.stop();
      return store.set({ status: "empty", problem: null, progress: null });
    }
    const reply = await asker.ask(requestTrace, (problem) => store.set({ status: "waiting", problem: queued(problem) }));
    if (reply === null) return;
    if (reply instanceof Problem) return store.set({ status: "failed", problem: reply });
    const { model, trace } = reply;
    const link = { ...fit(store.get(), model), view: store.get().link.view };
    const opening = free && openingHead(trace, model, link);
    free = false;
    store.set({ status: "ready", model, trace, link: opening ? { ...link, ...opening } : link });
  }

  /** @param {NonNullable<Source["open"]>} ask */
  async function opened(ask) {
    const fails = (/** @type {Problem} */ problem) => store.set({ status: "failed", problem });
    const reply = await asker.ask(() => {
      store.set({ status: "waiting", problem: null });
      return ask(store.get().link);
    }, fails);
    if (reply === null) return;
    if (reply instanceof Problem) return fails(reply);
    open = undefined;
    store.set({ status: "ready", problem: null, ...reply }, "link");
  }

  /**
   * Fit the link to the model and to the views that are offered.
   * @param {Page} page
   * @param {ModelInfo} model
   */
  const fit = (page, model) => {
    const opens = (/** @type {Page["link"]} */ link) => wishes.opens?.({ ...page, model, link }) ?? link.view;
    const link = fittedLink({ ...page.link, view: opens(page.link) }, model, wishes.viewOf);
    const view = opens(link);  // a view may not be offered for the place that was found
    return view === link.view ? link : fittedLink({ ...link, view }, model, wishes.viewOf);
  };

  /** @param {AbortSignal} signal */
  async function requestTrace(signal) {
    store.set({ status: "waiting", problem: null, progress: null });
    await turn(store, source, signal);
    const models = await source.models();
    const model = named(models, store.get().link.model);
    if (!store.get().models.length) store.set({ models });
    // Set the model first, so that a problem with the first trace can name its parts.
    if (!store.get().trace) store.set({ model });
    const fitted = fit(store.get(), model);
    const alignedHead = free ? aligningHead(model, fitted) : null;
    const link = { ...fitted, ...alignedHead };
    const { trace: currentTrace } = store.get();
    const needs = wishes.needs({ ...store.get(), model, link, trace: isLong(currentTrace) ? null : currentTrace });
    if (free && !alignedHead) needs.push(...thumbnailWeights(model, link.block));
    return { model, trace: await watched(store, signal, (onProgress) => requestRun(source, model, link, needs, signal, onProgress)) };
  }

  /** Stop a long run; the last picture stays, and the page offers to try again. */
  function halt() {
    asker.stop();
    tensors.halt();
    const { status } = store.get();
    store.set({ status: status === "waiting" ? "failed" : status, problem: new Problem("stopped"), progress: null });
  }

  /** Request again only what failed. */
  async function retry() {
    if (store.get().status !== "ready") return run();
    tensors.stop();
    store.set({ problem: null, answers: without(store.get().answers, (_, { passing }) => passing) });
  }

  // A changed request sets the status to "waiting"; an opened share brings its own trace.
  const unsubscribes = [
    store.subscribe(
      ({ link }) => [...REQUEST_KEYS.map((key) => link[key]), changesInForce(link)],
      ({ status, link }, { link: before }, origin) => {
        // Another model's heads are not this one's.
        if (origin === "chosen" && link.model !== before.model) free = true;
        if (status !== "ready") return void run();
        // The trace was already known: cancel the pending request.
        asker.stop();
        tensors.stop();
        store.set({ progress: null });
      },
    ),
    store.subscribe(
      (page) => page,
      () => {
        void tensors.follow();
        void otherRequests.follow();
        answers.follow();
      },
    ),
  ];

  /** Stop all requests. */
  function stop() {
    unsubscribes.forEach((end) => end());
    [asker, tensors, answers, otherRequests].forEach((part) => part.stop());
  }

  return { run, retry, halt, stop };
}

/**
 * Leave a busy server to others for as long as it asks. A sentence that is typed meanwhile takes the
 * place of this one.
 * @param {Store} store
 * @param {Pick<Source, "pace">} source
 * @param {AbortSignal} signal
 */
async function turn(store, { pace }, signal) {
  const wait = pace?.left() ?? 0;
  if (wait === 0) return;
  if (wait >= NOTICED) store.set({ problem: queued(new Problem("busy", { retryAfter: wait / 1000 })) });
  await pause(wait, signal);
  signal.throwIfAborted();
  store.set({ problem: null });
}

/** What the page says of a sentence that is sent again. @param {Problem} problem */
const queued = (problem) => (problem.kind === "busy" ? new Problem("queued", { retryAfter: problem.retryAfter }) : problem);

/**
 * Make a request whose progress the page shows.
 * @template T
 * @param {Store} store
 * @param {AbortSignal} signal
 * @param {(onProgress: import("./view-requests.js").OnProgress) => Promise<T>} request
 */
async function watched(store, signal, request) {
  const report = (/** @type {Page["progress"]} */ progress) => {
    if (!signal.aborted) store.set({ progress });
  };
  try {
    return await request(report);
  } finally {
    report(null);
  }
}

/**
 * Request missing tensors of the current trace that the view needs. A failure is reported by the
 * page; the trace stays.
 * @param {Store} store
 * @param {Pick<Source, "trace" | "overview">} source
 * @param {DataNeeds["needs"]} needs
 */
function bindTensors(store, source, needs) {
  const asker = createAsker();
  let lastQuestion = "";

  function stop() {
    asker.stop();
    lastQuestion = "";
  }

  async function follow() {
    const page = store.get();
    const { trace: currentTrace, status } = page;
    if (!currentTrace || status !== "ready") return;
    const missing = missingAddresses(currentTrace, needs(page));
    if (!missing.length) {
      if (!page.problem) return;
      stop();
      return store.set({ problem: null });
    }
    const question = `${currentTrace.id} ${missing}`;
    if (question === lastQuestion) return;
    lastQuestion = question;
    const addition = await asker.ask(async (signal) => {
      store.set({ problem: null });
      const answer = await watched(store, signal, (onProgress) => moreOf(source, { ...page, trace: currentTrace }, missing, signal, onProgress));
      if (missingAddresses(answer, missing).length) throw new Problem("garbled");
      return answer;
    }, fails);
    const now = store.get();
    if (addition === null || now.trace?.id !== currentTrace.id) return;
    // If a share lacks them, the page says so (workspace/main-figure.js); the trace stays.
    if (addition instanceof Problem) return addition.kind === "frozen" ? undefined : fails(addition);
    store.set({ trace: withTensors(now.trace, addition, needs(now)) });
  }

  /** @param {Problem} problem */
  const fails = (problem) => store.set({ problem });

  // Without forgetting the question, which would be asked again at once.
  return { stop, halt: asker.stop, follow };
}

/**
 * For a changed model, request the run that is not shown, with the tensors that the view needs,
 * once the shown run is complete and if no question of the view is about it. A busy server is not
 * asked for it unless both runs are shown: it is requested when the reader switches to it. A failure
 * is reported when that run is shown.
 * @param {Store} store
 * @param {Pick<Source, "trace" | "pace">} source
 * @param {DataNeeds} wishes
 */
function bindOther(store, source, { needs, flips = () => true, pairs = () => false }) {
  const asker = createAsker();
  let lastQuestion = "";
  /** The run being requested. */
  let awaited = "";

  async function follow() {
    const page = store.get();
    const { trace, status, link, model } = page;
    if (!trace || status !== "ready" || !isChanged(link) || !flips(page) || missingAddresses(trace, needs(page)).length) return;
    if (source.pace?.busy() && !pairs()) return;
    const otherPage = withOtherRun(page);
    const of = ownRun(otherPage);
    const present = otherRunPage(page)?.status === "ready" ? otherRunPage(page) : null;
    const missing = present ? missingAddresses(present.trace, needs(otherPage)) : needs(otherPage);
    const question = `${of} ${missing}`;
    if ((present && !missing.length) || question === lastQuestion) return;
    [lastQuestion, awaited] = [question, of];
    const reply = await asker.ask((signal) => source.trace(request(model, otherPage.link, missing), signal));
    if (reply === null) return;
    awaited = "";
    const { runs } = store.get();
    // Questions that waited for it are now requested separately.
    if (reply instanceof Problem) return store.set({ runs: { ...runs } });
    const as = runKind(otherPage.link);
    const merged = runs[as]?.of === of ? withTensors(runs[as].trace, reply, needs(otherPage)) : reply;
    store.set({ runs: { ...runs, [as]: { of, trace: merged, model } } });
  }

  return {
    follow,
    /**
     * Whether the pending request will answer a question.
     * @param {import("./view-requests.js").Question} question
     */
    asks: (question) => awaited !== "" && "trace" in question && runOf(question) === awaited,
    stop() {
      asker.stop();
      awaited = "";
    },
  };
}

/**
 * @param {ModelInfo[]} models
 * @param {string | null} id
 * @returns  the model with that id, else the first
 */
const named = (models, id) => models.find((model) => model.id === id) ?? models[0];
