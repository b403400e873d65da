/** The lab in a share: what was computed, and the link with which the page opens. */

import { format, parse } from "./link.js";
import { request } from "./request.js";
import { preset } from "./presets.js";
import { unshuffled } from "./shuffle.js";

/** @import { Lab } from "./matrices.js" */
/** @import { Answer } from "./steps.js" */
/**
 * @typedef {object} LabShare  the part of the reply of GET /api/shares/{id} that the page reads
 * @property {string} [id]
 * @property {string} created
 * @property {{link: string}} state
 * @property {{tensors: Record<string, {dims: string[], data: any}>}} trace
 */

const BEFORE = "before.";

/** @param {Lab} lab @param {string} lang */
export const stateOf = (lab, lang) => ({
  lab: request(lab),
  ...(lab.order.length ? { before: request(unshuffled(lab)) } : {}),
  link: format(lab),
  lang,
});

/**
 * The state of a share, and what was computed when it was created.
 * @param {LabShare} share
 * @returns {{lab: Lab, known: {answer: Answer, before: Answer | null}}}
 */
export function opened({ state, trace }) {
  const tensors = Object.entries(trace.tensors);
  const [before, now] = [tensors.filter(([name]) => name.startsWith(BEFORE)), tensors.filter(([name]) => !name.startsWith(BEFORE))];
  const then = before.map(([name, tensor]) => /** @type {typeof tensors[0]} */ ([name.slice(BEFORE.length), tensor]));
  return {
    lab: parse(state.link, preset("identity")),
    known: { answer: answerOf(now), before: then.length ? answerOf(then) : null },
  };
}

/** @param {[string, {dims: string[], data: any}][]} tensors @returns {Answer} */
const answerOf = (tensors) => ({
  steps: Object.fromEntries(tensors.map(([name, { data }]) => [name, data])),
  dims: Object.fromEntries(tensors.map(([name, { dims }]) => [name, dims])),
});
