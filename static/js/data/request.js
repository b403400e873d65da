/** What is asked of the server: the request for a trace as the API takes it. */

import { bothWays } from "./model.js";
import { asked as selected } from "./tensor-address.js";

/** @typedef {import("../state/link.js").State} State */

/** @param {{model: string, example: number}} wanted  Where its numbers are. */
export function learningPath({ model, example }) {
  return `/api/models/${encodeURIComponent(model)}/learning/${example}`;
}

/**
 * The changes to the model that the link's run is made with: none where it is to show the model as trained.
 * @param {Pick<State, "interventions" | "options">} link
 */
export const inForce = ({ interventions, options }) => (options.as === "trained" ? null : interventions);

/**
 * The request that a link stands for. A model of one text takes it under that text's name.
 * @param {import("./attentions.js").Model} model
 * @param {State} link
 * @param {string[]} addresses  of what is needed of the run
 */
export function request(model, link, addresses) {
  const { source, model: id, direction, target, decode, pad_to } = link;
  const interventions = inForce(link);
  return asked(model, { source, model: id, direction, target, decode, interventions, pad_to, ...selected(addresses) });
}

/**
 * What `asked` makes of a state, the other way round.
 * @param {import("./attentions.js").Model} model
 * @param {Record<string, unknown>} state  of a share
 * @returns {Record<string, unknown>}  as a link says it
 */
export function told(model, state) {
  if (model?.texts.length !== 1) return state;
  const { [model.texts[0]]: source, ...others } = state;
  return { source, ...others };
}

/**
 * @param {import("./attentions.js").Model} model
 * @param {Record<string, unknown>} body  as a model of two texts takes it; null: not said
 * @returns {Record<string, unknown>}  as this model takes it
 */
export function asked(model, { source, direction, target, ...others }) {
  const way = !model || bothWays(model) ? direction : null;
  const said = model?.texts.length === 1 ? { [model.texts[0]]: source } : { source, direction: way, target };
  const wanted = { ...said, ...others };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => (value ?? null) !== null));
}
