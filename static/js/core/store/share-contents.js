/**
 * The contents of a share, and the additional requests that it needs so that its view opens without
 * the model.
 */

import { blocks, candidateTensors } from "../wire/model-description.js";
import { isUnread } from "../wire/safetensors.js";
import { missingAddresses, wholeTensorName } from "../wire/tensor-cache.js";
import { isLong, windowName } from "../wire/long-texts.js";
import { requestBody } from "../wire/request.js";
import { DEFAULTS, chosenOptions, mergeStates, stateOfShare } from "./link.js";
import { isChanged } from "./interventions.js";
import { memo } from "../../lib/memo.js";
import { containedAnswer, isOfRun, keyOf, longRequest, ownRun, runOf, runQuestion } from "./view-requests.js";

/** @import { Page } from "./store.js" */
/** @import { Question, Kept, Tensors } from "./view-requests.js" */
/** @import { Trace } from "../wire/safetensors.js" */
/** @import { Share } from "../wire/api.js" */
/** @typedef {Pick<import("../figure/types.js").View, "needs" | "asks" | "keeps">} ViewNeeds */
/** @typedef {{select: string[], summarise?: string[], dtype?: string}} Recorded */

/** The tensors that the server always freezes; `FROZEN` in app/shares/creation.py. */
const KINDS = ["weights", "mask", "q", "k", "v"];
/** The largest number of additional requests in a share; `MAX_ASKS` in app/shares/schemas.py. */
const MAX_REQUESTS = 20;

/** The name of a share's run. @param {Pick<Share, "state" | "model">} share */
export const runOfShare = (share) =>
  memo(share, "run", () => ownRun(/** @type {Page} */ ({ model: share.model, link: mergeStates(DEFAULTS, stateOfShare(share.state)) })));

/**
 * The run that a share of the page would contain: that of the changed model, whichever is shown.
 * @param {Page} page
 */
const runHere = (page) => runOf(runQuestion(page, { select: [], interventions: page.link.interventions }));

/** Whether the reader has changed the request of a share. @param {Page} page */
export const isDeparted = (page) => page.share !== null && runHere(page) !== runOfShare(page.share);

/**
 * Whether the request cannot be changed: in a share whose model is no longer served.
 * @param {Pick<Page, "share" | "live">} page
 */
export const isFixed = ({ share, live }) => share !== null && !live;

/**
 * What is on the screen, as the state of a share.
 * @param {Page} page
 * @param {import("./link-options.js").Options} options  of the views
 */
export function stateOf({ model, link }, options) {
  const { options: _, ...keys } = link;
  return requestBody(model, { ...keys, ...chosenOptions(link, options) });
}

/**
 * @param {Page} page
 * @param {ViewNeeds} view  the current view
 * @returns {{select: string[], asks: Kept[]}}  what the share must contain in addition
 */
export function additionalContents(page, view) {
  const select = [...new Set(view.needs(page))].filter((name) => !isAlwaysRecorded(page.model, name));
  const questions = (view.keeps ?? view.asks)?.(page) ?? [];
  const asks = new Map([...questions, ...asTrained(page, select)].map((question) => [keyOf(question), question]));
  const currentRun = runHere(page);
  return {
    select,
    asks: [...asks.values()]
      .filter((question) => !("positions" in question) && !inTrace(page.model, currentRun, question))
      .slice(0, MAX_REQUESTS),
  };
}

/**
 * Answer a question about the share's own run from its trace.
 * @param {Page} page
 * @param {Question} question
 * @returns {Trace | null}  null: not in the trace
 */
export function answerFromShare(page, question) {
  if (!page.share || !("trace" in question) || !inTrace(page.model, runOfShare(page.share), question)) return null;
  const { trace } = page.share;
  const { select } = /** @type {Recorded} */ (question.trace);
  const patterns = select.map(matcher);
  const names = Object.keys(trace.tensors).filter((name) => patterns.some((pattern) => pattern.test(name)));
  return {
    ...trace,
    tensors: Object.fromEntries(names.map((name) => [name, trace.tensors[name]])),
  };
}

/**
 * Answer a question about parameters from the frozen ones, however they were grouped in requests.
 * @param {Page} page
 * @param {Question} question
 * @returns {Tensors | null}  null: not all of them were frozen
 */
export function parametersFromShare({ share, answers }, question) {
  if (!share || !("parameters" in question)) return null;
  const { model, select } = question.parameters;
  for (const frozenQuestion of share.asks) {
    if (!("parameters" in frozenQuestion) || frozenQuestion.parameters.model !== model) continue;
    const frozenTensors = /** @type {Tensors} */ (answers[keyOf(frozenQuestion)] ?? {});
    if (select.every((name) => frozenTensors[name])) return Object.fromEntries(select.map((name) => [name, frozenTensors[name]]));
  }
  return null;
}

/**
 * A window of the share's own long text that was frozen.
 * @param {Share} share
 * @param {object} request  as the API takes it
 * @returns {import("../wire/safetensors.js").Tensor | null}  null: not in the share
 */
export function tileFromShare({ trace, model, state }, request) {
  const { at: address, head, query, key, cells, edges, model: of, ...run } = /** @type {any} */ (request);
  const { model: _, ...ownRequest } = longRequest(model, mergeStates(DEFAULTS, stateOfShare(state)));
  if ((of ?? model.id) !== model.id || JSON.stringify(ownRequest) !== JSON.stringify(run)) return null;
  return trace.long?.tiles[windowName({ at: address, head, query, key, cells, edges })] ?? null;
}

/** What a share does not have, whether it was read yet or not. @param {Pick<Page, "trace">} page @param {string[]} addresses */
const absentAddresses = ({ trace }, addresses) =>
  missingAddresses(trace, addresses).filter((address) => !isUnread(trace, wholeTensorName(address) ?? ""));

/**
 * Whether a view needs more than the share contains while its model is not served.
 * @param {Page} page
 * @param {Pick<ViewNeeds, "needs">} view
 */
export function isMissingFromShare(page, view) {
  const { share, live, trace } = page;
  return Boolean(share && !live && trace && !isLong(trace) && absentAddresses(page, view.needs(page)).length);
}

/**
 * The views for which a share is sufficient without its model: those that need no other tensors or
 * replies.
 * @param {Page} page
 * @param {import("../figure/types.js").View[]} views
 */
export function viewsInShare(page, views) {
  return views.filter(
    ({ needs, asks, live, blocks: suits = () => true }) =>
      !live &&
      blocks(page.model).some(suits) &&
      !absentAddresses(page, needs(page)).length &&
      (asks?.(page) ?? []).every((question) => isInShare(page, question)),
  );
}

/** Whether a share has the reply to a question. @param {Page} page @param {Question} question */
export const isInShare = (page, question) =>
  Boolean(page.answers[keyOf(question)] ?? answerFromShare(page, question) ?? parametersFromShare(page, question) ?? containedAnswer(page.answers, question));

/** Whether a share has replies of a question's run, or can get them. @param {Page} page @param {Question} question */
export const hasRun = (page, question) => !isFixed(page) || Object.keys(page.answers).some((key) => isOfRun(key, runOf(question)));

/**
 * The run of the model as trained, which a share of a changed model also contains.
 * @param {Page} page
 * @param {string[]} select
 */
const asTrained = (page, select) =>
  isChanged(page.link) ? [runQuestion(page, { interventions: null, select: [...KINDS.map((kind) => `*.${kind}`), ...select] })] : [];

/** @param {Page["model"]} model @param {string} run @param {Kept} question  Whether every share of that run answers it. */
function inTrace(model, run, question) {
  if (!("trace" in question) || runOf(question) !== run) return false;
  const { select } = /** @type {Recorded} */ (question.trace);
  return select.every((name) => isAlwaysRecorded(model, name));
}

/** @param {Page["model"]} model @param {string} address  of a tensor, or a pattern; every share has all summaries */
function isAlwaysRecorded(model, address) {
  const name = wholeTensorName(address);
  return name === null || KINDS.includes(name.split(".").at(-1) ?? "") || candidateTensors(model).includes(name);
}

/** @param {string} pattern  with "*" as a wildcard */
function matcher(pattern) {
  const escaped = pattern.split("*").map((part) => part.replace(/[.?[\]!^$(){}+|\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`);
}
