/** What a share holds, and what has to be asked for it so that its view opens without the model. */

import { nexts } from "../data/attentions.js";
import { whole } from "../data/tensor-address.js";
import { keyOf, ofThisRun } from "./view-requests.js";
import { lacking } from "./tensor-cache.js";

/** @typedef {import("./store.js").Page} Page */
/** @typedef {import("./view-requests.js").Question} Question */
/** @typedef {import("../data/wire.js").Trace} Trace */
/** @typedef {import("./view-requests.js").Tensors} Tensors */
/** @typedef {Pick<import("./types.js").View, "needs" | "asks" | "keeps">} Wanting */
/** @typedef {{select: string[], summarise?: string[], dtype?: string}} Recorded */

/** What the server freezes of every run by itself; `FROZEN` in app/answers/share_creation.py. */
const KINDS = ["weights", "mask", "q", "k", "v"];
/** Further questions in one share. */
const MOST = 4;

/**
 * @param {Page} page
 * @param {Wanting} view  the one that is open
 * @returns {{select: string[], asks: Question[]}}  what a share has to hold beside what every one does
 */
export function beside(page, view) {
  const asks = new Map(((view.keeps ?? view.asks)?.(page) ?? []).map((question) => [keyOf(question), question]));
  return {
    select: [...new Set(view.needs(page))].filter((name) => !always(page.model, name)),
    asks: [...asks.values()]
      .filter((question) => !("positions" in question) && !inTrace(page, question))
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
  if (!page.share || !("trace" in question) || !inTrace(page, question)) return null;
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

/** @param {Page} page @param {Question} question  Whether every share of this run answers it. */
function inTrace(page, question) {
  if (!ofThisRun(page, question)) return false;
  const { select } = /** @type {{trace: Recorded}} */ (question).trace;
  return select.every((name) => always(page.model, name));
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
