/**
 * Keeps what is shown in step with the link: asks for the trace when the request changes, for the
 * tensors and the answers that a view needs when they are not there yet.
 */

import { blockOf } from "../data/attentions.js";
import { createAsker } from "../data/retry.js";
import { Problem } from "../data/problem.js";
import { inForce, request } from "../data/request.js";
import { bindAnswers, without } from "./view-answers.js";
import { opener } from "./highlight.js";
import { REQUEST_KEYS } from "./link.js";
import { nearest } from "./reconcile-link.js";
import { joined, lacking } from "./tensor-cache.js";
import { isChanged } from "./interventions.js";
import { flipped, otherOf, shownAs } from "./two-runs.js";
import { ownRun, runOf } from "./view-requests.js";

/** @typedef {import("./store.js").Store} Store */
/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./data-sources.js").Source} Source */
/** @typedef {import("../data/model.js").ModelInfo} ModelInfo */
/** @typedef {ReturnType<typeof bindSession>} Session */
/**
 * @typedef {object} Wishes  what the present view shows
 * @property {(page: Page) => string[]} needs  addresses of what it shows of the present run
 * @property {(page: Page) => import("./view-requests.js").Question[]} asks  all that is not in it
 * @property {import("./reconcile-link.js").Views} [viewOf]  what the views ask of a model
 * @property {(page: Page) => boolean} [flips]  whether the other run of a changed model can be shown in its place; absent: yes
 * @property {(page: Page) => string} [opens]  the view that opens where the link's own is not offered
 */

/**
 * @param {Store} store
 * @param {Source} source
 * @param {Wishes} wishes
 * @param {{free?: boolean}} [options]  whether the first trace may choose the layer and the head
 */
export function bindSession(store, source, wishes, { free = false } = {}) {
  const asker = createAsker();
  const tensors = bindTensors(store, source, wishes.needs);
  const other = bindOther(store, source, wishes);
  const answers = bindAnswers(store, source, wishes.asks, other.asks);
  let { open } = source;

  /** Asks for the trace, even where it is here; of a source that is to be opened, for what is there. */
  async function run() {
    tensors.stop();
    if (open) return opened(open);
    if (!store.get().link.source.trim()) {
      asker.stop();
      return store.set({ status: "empty", problem: null });
    }
    const fails = (/** @type {Problem} */ problem) => store.set({ status: "failed", problem });
    const found = await asker.ask(look, fails);
    if (found === null) return;
    if (found instanceof Problem) return fails(found);
    const { model, trace } = found;
    const link = { ...fit(store.get(), model), view: store.get().link.view };
    const opening = free && opener(trace, model, link);
    free = false;
    store.set({ status: "ready", model, trace, link: opening ? { ...link, ...opening } : link });
  }

  /** @param {NonNullable<Source["open"]>} ask */
  async function opened(ask) {
    const fails = (/** @type {Problem} */ problem) => store.set({ status: "failed", problem });
    const found = await asker.ask(() => {
      store.set({ status: "waiting", problem: null });
      return ask(store.get().link);
    }, fails);
    if (found === null) return;
    if (found instanceof Problem) return fails(found);
    open = undefined;
    store.set({ status: "ready", problem: null, ...found }, "link");
  }

  /** The link where the model is, its view among those that are offered. @param {Page} page @param {ModelInfo} model */
  const fit = (page, model) => {
    const view = wishes.opens?.({ ...page, model }) ?? page.link.view;
    return nearest({ ...page.link, view }, model, wishes.viewOf);
  };

  /** @param {AbortSignal} signal */
  async function look(signal) {
    store.set({ status: "waiting", problem: null });
    const model = await named(source, store.get().link.model);
    // What goes wrong with the first trace is said in the model's words.
    if (!store.get().trace) store.set({ model });
    const link = fit(store.get(), model);
    const needs = wishes.needs({ ...store.get(), model, link });
    if (free) needs.push(...blockOf(model, link.block).rows.flatMap(({ place }) => [`${place}.weights`, `${place}.mask`]));
    return { model, trace: await source.trace(request(model, link, needs), signal) };
  }

  /** Asks again for what went wrong, and for nothing else. */
  async function retry() {
    if (store.get().status !== "ready") return run();
    tensors.stop();
    store.set({ problem: null, answers: without(store.get().answers, (_, { passing }) => passing) });
  }

  // A change of what is asked for has made the page wait; a share that is opened brings its trace.
  const deaf = [
    store.subscribe(
      ({ link }) => [...REQUEST_KEYS.map((key) => link[key]), inForce(link)],
      ({ status }) => {
        if (status !== "ready") return void run();
        // It is one that was here already: what was asked for meanwhile is not wanted any more.
        asker.stop();
        tensors.stop();
      },
    ),
    store.subscribe(
      (page) => page,
      () => {
        void tensors.follow();
        void other.follow();
        answers.follow();
      },
    ),
  ];

  /** Asks nothing any more, and waits for nothing. */
  function stop() {
    deaf.forEach((end) => end());
    [asker, tensors, answers, other].forEach((one) => one.stop());
  }

  return { run, retry, stop };
}

/**
 * Asks for the tensors of the present trace that the view needs and that are not there yet. A
 * problem with them is the page's, whose trace stays as it is.
 * @param {Store} store
 * @param {Pick<Source, "trace">} source
 * @param {Wishes["needs"]} needs
 */
function bindTensors(store, source, needs) {
  const asker = createAsker();
  let asked = "";

  function stop() {
    asker.stop();
    asked = "";
  }

  async function follow() {
    const page = store.get();
    const { trace: seen, link, status } = page;
    if (!seen || status !== "ready") return;
    const missing = lacking(seen, needs(page));
    if (!missing.length) {
      if (!page.problem) return;
      stop();
      return store.set({ problem: null });
    }
    const question = `${seen.id} ${missing}`;
    if (question === asked) return;
    asked = question;
    const more = await asker.ask(async (signal) => {
      store.set({ problem: null });
      const answer = await source.trace(request(page.model, link, missing), signal);
      if (lacking(answer, missing).length) throw new Problem("garbled");
      return answer;
    }, fails);
    const now = store.get();
    if (more === null || now.trace?.id !== seen.id) return;
    // What a share does not hold the page says (chrome/missing-from-share.js); its trace is as it was.
    if (more instanceof Problem) return more.kind === "frozen" ? undefined : fails(more);
    store.set({ trace: joined(now.trace, more, needs(now)) });
  }

  /** @param {Problem} problem */
  const fails = (problem) => store.set({ problem });

  return { stop, follow };
}

/**
 * Of a changed model asks for the run that is not shown, with what the view shows of a run: where all of
 * the other one is here, and no question of the view is about it. A problem with it is told when it is shown.
 * @param {Store} store
 * @param {Pick<Source, "trace">} source
 * @param {Wishes} wishes
 */
function bindOther(store, source, { needs, flips = () => true }) {
  const asker = createAsker();
  let asked = "";
  /** The run that is on its way. */
  let awaited = "";

  async function follow() {
    const page = store.get();
    const { trace, status, link, model } = page;
    if (!trace || status !== "ready" || !isChanged(link) || !flips(page) || lacking(trace, needs(page)).length) return;
    const wanted = flipped(page);
    const of = ownRun(wanted);
    const present = otherOf(page)?.status === "ready" ? otherOf(page) : null;
    const missing = present ? lacking(present.trace, needs(wanted)) : needs(wanted);
    const question = `${of} ${missing}`;
    if ((present && !missing.length) || question === asked) return;
    [asked, awaited] = [question, of];
    const found = await asker.ask((signal) => source.trace(request(model, wanted.link, missing), signal));
    if (found === null) return;
    awaited = "";
    const { runs } = store.get();
    // The questions that waited for it are asked by themselves.
    if (found instanceof Problem) return store.set({ runs: { ...runs } });
    const as = shownAs(wanted.link);
    const known = runs[as]?.of === of ? joined(runs[as].trace, found, needs(wanted)) : found;
    store.set({ runs: { ...runs, [as]: { of, trace: known, model } } });
  }

  return {
    follow,
    /** Whether a question will be answered by what is on its way. @param {import("./view-requests.js").Question} question */
    asks: (question) => awaited !== "" && "trace" in question && runOf(question) === awaited,
    stop() {
      asker.stop();
      awaited = "";
    },
  };
}

/**
 * @param {Source} source
 * @param {string | null} id
 * @returns  the model of that name, else the first
 */
async function named(source, id) {
  const models = await source.models();
  return models.find((model) => model.id === id) ?? models[0];
}
