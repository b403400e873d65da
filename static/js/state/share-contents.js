/** What a share holds, and what has to be asked for it so that its view opens without the model. */

import { nexts } from "../data/attentions.js";
import { whole } from "../data/tensor-address.js";
import { DEFAULTS, merge, stated } from "./link.js";
import { isChanged } from "./interventions.js";
import { memo } from "../lib/memo.js";
import { keyOf, ownRun, runOf, traced } from "./view-requests.js";
import { lacking } from "./tensor-cache.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./view-requests.js").Question} Question */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {import("./view-requests.js").Tensors} Tensors */
/** @typedef {import("../data/api.js").Share} Share */
/** @typedef {Pick<import("./types.js").View, "needs" | "asks" | "keeps">} Wanting */
/** @typedef {{select: string[], summarise?: string[], dtype?: string}} Recorded */

/** What the server freezes of every run by itself; `FROZEN` in app/answers/share_creation.py. */
const KINDS = ["weights", "mask", "q", "k", "v"];
/** Further questions in one share. */
const MOST = 4;

/** Names the run that a share is of. @param {Pick<Share, "state" | "model">} share */
export const runOfShare = (share) =>
  memo(share, "run", () => ownRun(/** @type {Page} */ ({ model: share.model, link: merge(DEFAULTS, stated(share.state)) })));

/** The run that a share of the page would be of: that of the changed model, whichever is shown. @param {Page} page */
const runHere = (page) => runOf(traced(page, { select: [], interventions: page.link.interventions }));

/** Whether the reader of a share has changed what it asks of its model. @param {Page} page */
export const departed = (page) => page.share !== null && runHere(page) !== runOfShare(page.share);

/** Whether what is shown can be changed: in a share while its model is served. @param {Pick<Page, "share" | "live">} page */
export const isFixed = ({ share, live }) => share !== null && !live;

/**
 * @param {Page} page
 * @param {Wanting} view  the one that is open
 * @returns {{select: string[], asks: Question[]}}  what a share has to hold beside what every one does
 */
export function beside(page, view) {
  const select = [...new Set(view.needs(page))].filter((name) => !always(page.model, name));
  const wanted = (view.keeps ?? view.asks)?.(page) ?? [];
  const asks = new Map([...wanted, ...asTrained(page, select)].map((question) => [keyOf(question), question]));
  const here = runHere(page);
  return {
    select,
    asks: [...asks.values()]
      .filter((question) => !("positions" in question) && !inTrace(page.model, here, question))
      .slice(0, MOST),
  };
}

/**
 * A question about the share's own run is answered out of its trace.
 * @param {Page} page
 * @param {Question} question
 * @returns {Trace | null}  null: the trace does not hold it
 */
export function held(page, question) {
  if (!page.share || !("trace" in question) || !inTrace(page.model, runOfShare(page.share), question)) return null;
  const { trace } = page.share;
  const { select } = /** @type {Recorded} */ (question.trace);
  const wanted = select.map(matcher);
  const names = Object.keys(trace.tensors).filter((name) => wanted.some((it) => it.test(name)));
  return {
    ...trace,
    tensors: Object.fromEntries(names.map((name) => [name, trace.tensors[name]])),
  };
}

/**
 * A question about parameters is answered out of those that were frozen with the share, whichever
 * were asked for together.
 * @param {Page} page
 * @param {Question} question
 * @returns {Tensors | null}  null: not all of them were frozen
 */
export function heldParameters({ share, answers }, question) {
  if (!share || !("parameters" in question)) return null;
  const { model, select } = question.parameters;
  for (const asked of share.asks) {
    if (!("parameters" in asked) || asked.parameters.model !== model) continue;
    const found = /** @type {Tensors} */ (answers[keyOf(asked)] ?? {});
    if (select.every((name) => found[name])) return Object.fromEntries(select.map((name) => [name, found[name]]));
  }
  return null;
}

/**
 * Whether a view shows more than a share holds, when nobody can be asked for the rest.
 * @param {Page} page
 * @param {Pick<Wanting, "needs">} view
 */
export function missing(page, view) {
  const { share, live, trace } = page;
  return Boolean(share && !live && trace && lacking(trace, view.needs(page)).length);
}

/**
 * The model without the changes, which a share of a changed one holds as well.
 * @param {Page} page
 * @param {string[]} select
 * @returns {Question[]}
 */
const asTrained = (page, select) =>
  isChanged(page.link) ? [traced(page, { interventions: null, select: [...KINDS.map((kind) => `*.${kind}`), ...select] })] : [];

/** @param {Page["model"]} model @param {string} run @param {Question} question  Whether every share of that run answers it. */
function inTrace(model, run, question) {
  if (!("trace" in question) || runOf(question) !== run) return false;
  const { select } = /** @type {Recorded} */ (question.trace);
  return select.every((name) => always(model, name));
}

/** @param {Page["model"]} model @param {string} address  of a tensor, or a pattern; every share has all summaries */
function always(model, address) {
  const name = whole(address);
  return name === null || KINDS.includes(name.split(".").at(-1) ?? "") || nexts(model).includes(name);
}

/** @param {string} pattern  with "*" for anything */
function matcher(pattern) {
  const escaped = pattern.split("*").map((part) => part.replace(/[.?[\]!^$(){}+|\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join(".*")}$`);
}
