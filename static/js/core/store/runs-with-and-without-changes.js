/**
 * The two runs of a changed model: with its changes, and as trained. The link selects the one to
 * show; the other one is kept too, so that switching needs no request.
 */

import { blockAt } from "../wire/model-description.js";
import { changesInForce } from "../wire/request.js";
import { isChanged } from "./interventions.js";
import { memo, together } from "../../lib/memo.js";
import { ownRun, runOf } from "./view-requests.js";

/** @import { Page, Store } from "./store.js" */
/** @import { State } from "./link.js" */
/** @import { Trace } from "../wire/safetensors.js" */
/** @import { Question } from "./view-requests.js" */
/** @typedef {"trained" | "changed"} RunKind */
/** @typedef {{of: string, trace: Trace, model: Page["model"]}} Run  of: the request, without what is selected of it */
/** @typedef {Record<RunKind, Run | null>} Runs */

/**
 * Which of the two runs a link selects.
 * @param {Pick<State, "interventions" | "options">} link
 * @returns {RunKind}
 */
export const runKind = (link) => (isChanged({ interventions: changesInForce(link) }) ? "changed" : "trained");

/**
 * The page with a link to the other run and the current trace.
 * @param {Page} page
 * @returns {Page}
 */
export function withOtherRun(page) {
  const { link } = page;
  const as = runKind(link) === "changed" ? "trained" : "changed";
  return { ...page, link: memo(link, as, () => ({ ...link, options: { ...link.options, as } })) };
}

/**
 * The run that the link requests, if it is one of the last two.
 * @param {Page} page
 * @returns {Run | null}
 */
export function runOfLink(page) {
  const of = ownRun(page);
  return Object.values(page.runs).find((run) => run?.of === of) ?? null;
}

/**
 * What is already known of the run that a question is about.
 * @param {Page} page
 * @param {Question} question
 * @returns {Trace | null}  null: incomplete
 */
export function traceOfQuestion({ runs }, question) {
  if (!("trace" in question)) return null;
  const of = runOf(question);
  const { select } = /** @type {{select: string[]}} */ (question.trace);
  const trace = Object.values(runs).find((run) => run?.of === of)?.trace;
  return trace && select.every((name) => trace.tensors[name]) ? trace : null;
}

/** Remember the page's trace among its runs. @param {Page} page @returns {Page} */
export function withRemembered(page) {
  const { status, trace, model, link, runs } = page;
  const as = runKind(link);
  if (status !== "ready" || !trace || runs[as]?.trace === trace) return page;
  return { ...page, runs: { ...runs, [as]: { of: ownRun(page), trace, model } } };
}

/**
 * The page with the other run.
 * @param {Page} page
 * @returns {Page | null}  null: the model is not changed, or the run is not loaded yet
 */
export function otherRunPage(page) {
  if (!isChanged(page.link)) return null;
  const otherPage = withOtherRun(page);
  const run = page.runs[runKind(otherPage.link)];
  if (!run) return null;
  const { trace } = run;
  const status = page.status === "ready" && run.of !== ownRun(otherPage) ? "waiting" : page.status;
  const link = memo(together(otherPage.link, trace, page.trace ?? trace), "pinned", () => pinned(otherPage, page.trace, trace));
  return { ...page, link, trace, status, problem: null };
}

/**
 * A pin applies to both runs if they have the same token there.
 * @param {Page} page  with the other run's link
 * @param {Trace | null} shownTrace
 * @param {Trace} otherTrace
 */
function pinned({ link, model }, shownTrace, otherTrace) {
  const { query, key } = blockAt({ model, link });
  const haveSameTokens = [[query, link.query], [key, link.key]].every(([side, index]) => index === null || alike(shownTrace, otherTrace, String(side), Number(index)));
  return haveSameTokens ? link : { ...link, query: null, key: null };
}

/**
 * Whether both runs have the highlighted tokens.
 * @param {Page} page
 * @param {Page} otherPage
 * @param {import("./store.js").Highlight | null} lit
 */
const fits = (page, otherPage, lit) =>
  [lit?.query, lit?.key].every((ref) => !ref || (otherPage.trace && alike(page.trace, otherPage.trace, ref.side, ref.index)));

/** @param {Trace | null} trace @param {Trace} otherTrace @param {string} side @param {number} index */
function alike(trace, otherTrace, side, index) {
  const [a, b] = [trace, otherTrace].map((run) => run?.tokens[side]?.[index]?.id);
  return a !== undefined && a === b;
}

/**
 * A store that shows one of the two runs, whichever the page shows. Picking a cell in it makes the
 * page show that run.
 * @param {Store} store
 * @param {() => RunKind | null} run  null: the one that the page shows
 * @param {() => RunKind | null} [picked]  the run that a picked cell chooses; null: none
 * @returns {Store}
 */
export function storeOf(store, run, picked = run) {
  /** @param {Page} page */
  const pageOfRun = (page) => {
    const as = run();
    return as === null || as === runKind(page.link) ? page : (otherRunPage(page) ?? page);
  };
  return {
    ...store,
    get: () => pageOfRun(store.get()),
    hovered() {
      const lit = store.hovered();
      const [page, runPage] = [store.get(), pageOfRun(store.get())];
      return runPage === page || fits(page, runPage, lit) ? lit : null;
    },
    hover(lit) {
      const [page, runPage] = [store.get(), pageOfRun(store.get())];
      store.hover(runPage === page || fits(page, runPage, lit) ? lit : null);
    },
    go(patch, origin) {
      const as = picked();
      const picks = as !== null && (patch.query ?? patch.key ?? null) !== null;
      store.go(picks ? { ...patch, options: { ...(patch.options ?? store.get().link.options), as } } : patch, origin);
    },
    subscribe: (select, listener) =>
      store.subscribe((page) => select(pageOfRun(page)), (page, previous, origin) => listener(pageOfRun(page), pageOfRun(previous), origin)),
  };
}
