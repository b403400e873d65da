/**
 * Questions for predictions: about a place in a run, or a step of attention by hand. Only the data
 * that a kind of question needs at the time is requested.
 */

import { request } from "../../data/request.js";
import { linkTo } from "../../views/create-figure.js";
import { OPTIONS } from "../../views/index.js";
import { merge, parse } from "../../state/link.js";

/** @typedef {import("../../data/wire.js").Trace} Trace */
/** @typedef {import("../../data/api.js").ModelInfo} ModelInfo */
/** @typedef {import("../../state/link.js").State} State */
/** @typedef {import("../../lib/render.js").Child} Child */
/** @typedef {import("../../lib/render.js").Described} Described */
/**
 * @typedef {object} Question
 * @property {string} kind
 * @property {string} link  a query string: what the question is about
 * @property {string} [page]  the page of the link: "workspace" or "lab"
 * @property {number} [row]  of a step, from 0
 * @property {string} [step]  of the lab
 */
/**
 * @typedef {object} Choice
 * @property {string} id
 * @property {Described | string} label
 */
/**
 * @typedef {object} Asked  what a kind of question works with
 * @property {Question} question
 * @property {State} state
 * @property {() => Promise<ModelInfo>} model
 * @property {(addresses: (model: ModelInfo) => string[], changes?: Partial<State>) => Promise<Trace>} run
 * @property {(body: object) => Promise<import("../../state/lab-steps.js").Answer>} compute  by hand
 * @property {import("../../state/types.js").PageContext["t"]} t
 * @property {import("../../state/types.js").PageContext["say"]} say
 */
/**
 * @typedef {object} Revealed
 * @property {string[]} right  ids of choices
 * @property {Record<string, number>} [shares]  of the choices, from 0 to 1
 * @property {number[]} [numbers]  the right numbers, if the answer is numbers
 * @property {(string | Described)[]} says  one sentence on what the model did
 */
/**
 * @typedef {object} Kind
 * @property {"choice" | "numbers"} entry
 * @property {(asked: Asked) => Promise<Choice[]>} choices  the possible answers; for numbers, their
 *   labels
 * @property {(asked: Asked) => Promise<Revealed>} reveal
 */

/**
 * @param {import("../../state/types.js").PageContext} page
 * @param {{source: import("../../state/data-sources.js").Source, compute: Asked["compute"]}} ways
 *    where the data comes from
 * @param {Question} question
 * @returns {Asked}
 */
export function ask({ t, say }, { source, compute }, question) {
  const state = merge(linkTo(), parse(question.link, OPTIONS));
  async function model() {
    const models = await source.models();
    return models.find(({ id }) => id === state.model) ?? models[0];
  }
  return {
    question,
    state,
    model,
    compute,
    t,
    say,
    async run(addresses, changes = {}) {
      const found = await model();
      return source.trace(request(found, { ...state, ...changes }, addresses(found)));
    },
  };
}
