/** Requests for a trace, as the API takes them. */

import { bothWays } from "./model-description.js";
import { selection as selected } from "./tensor-cache.js";

/** @import { State } from "../store/link.js" */

/** @param {{model: string, example: number}} sample  Where its numbers are. */
export function learningPath({ model, example }) {
  return `/api/models/${encodeURIComponent(model)}/learning/${example}`;
}

/**
 * The changes to the model that apply to the link's run: none if it shows the model as trained.
 * @param {Pick<State, "interventions" | "options">} link
 */
export const changesInForce = ({ interventions, options }) => (options.as === "trained" ? null : interventions);

/**
 * Whether the text is read as a user's turn of a chat.
 * @param {{model: import("./model-description.js").Model, link: Pick<State, "chat">}} page
 */
export const isChat = ({ model, link }) => Boolean(link.chat && model?.capabilities?.includes("chat"));

/**
 * The second text, if the model reads one.
 * @param {{model: import("./model-description.js").Model, link: Pick<State, "pair">}} page
 */
export const pairOf = ({ model, link }) => (model?.capabilities?.includes("pair") && link.pair) || null;

/**
 * The request for a link. For a model of one text, the sentence goes under that text's name.
 * @param {import("./model-description.js").Model} model
 * @param {State} link
 * @param {string[]} addresses  of the tensors needed
 */
export function request(model, link, addresses) {
  const { source, model: id, direction, target, decode, pad_to, chat, pair } = link;
  const interventions = changesInForce(link);
  return requestBody(model, { source, model: id, direction, target, decode, interventions, pad_to, chat, pair, ...selected(addresses) });
}

/**
 * The texts that a link gives, by the names that the model has for them.
 * @param {import("./model-description.js").Model} model
 * @param {Pick<State, "source" | "target" | "pair">} link
 * @returns {Record<string, string>}
 */
export const textsOf = (model, { source, target, pair }) => /** @type {Record<string, string>} */ (requestBody(model, { source, target, pair }));

/**
 * The inverse of `requestBody`.
 * @param {import("./model-description.js").Model} model
 * @param {Record<string, unknown>} state  of a share
 * @returns {Record<string, unknown>}  as in a link
 */
export function stateFromBody(model, state) {
  if (model?.texts.length !== 1) return state;
  const { [model.texts[0]]: source, ...otherFields } = state;
  return { source, ...otherFields };
}

/**
 * @param {import("./model-description.js").Model} model
 * @param {Record<string, unknown>} body  as a model of two texts takes it; null: not given
 * @returns {Record<string, unknown>}  as this model takes it
 */
export function requestBody(model, { source, direction, target, chat, pair, ...otherFields }) {
  const bodyDirection = !model || bothWays(model) ? direction : null;
  const textFields = model?.texts.length === 1 ? { [model.texts[0]]: source } : { source, direction: bodyDirection, target };
  const turn = chat && model?.capabilities?.includes("chat") ? { chat } : {};
  const second = pair && model?.capabilities?.includes("pair") ? { pair } : {};
  const fields = { ...textFields, ...turn, ...second, ...otherFields };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null));
}
