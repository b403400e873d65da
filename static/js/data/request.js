/** What is asked of the server: the request for a trace as the API takes it. */

/** @typedef {import("../state/link.js").State} State */

/** @param {{model: string, example: number}} wanted  Where its numbers are. */
export function learningPath({ model, example }) {
  return `/api/models/${encodeURIComponent(model)}/learning/${example}`;
}

/**
 * The request that a link stands for.
 * @param {State} link
 * @param {string[]} select  names of tensors
 */
export function request(
  { source, model, direction, target, decode, interventions, pad_to },
  select,
) {
  const wanted = { source, model, direction, target, decode, interventions, pad_to, select };
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== null));
}
