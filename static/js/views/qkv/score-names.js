/** Names of the terms of scores, as the API has them (docs/inside.md). */

/** @import { OriginReply } from "../../core/wire/schemas.d.ts" */

/**
 * @param {string} place  of an attention
 * @param {{head: number, query: number, key: number}} at
 * @returns {string}  the name of a cell in `scores` of a reply
 */
export const cellOf = (place, { head, query, key }) => `${place}.${head}.${query}.${key}`;

/** @param {string} cell @returns {string}  the tensor of its terms */
export const termsOf = (cell) => `inside.score.${cell}.parts`;

/**
 * A trace whose terms of scores follow their names, as a table needs them.
 * @param {import("../../core/wire/wire.js").Trace} trace
 * @returns {Pick<import("../../core/wire/wire.js").Trace, "tensors"> & {tokens: Record<string, {text: string}[]>}}
 */
export function named({ tokens, tensors, scores = {} }) {
  const all = Object.entries(scores).map(([cell, { queries, keys }]) => ({ cell, name: termsOf(cell), sides: { query_term: queries, key_term: keys } }));
  const recorded = all.filter(({ name }) => tensors[name]);
  const word = (/** @type {OriginReply} */ { at: address, part, head }) => ({ text: [address, part, head].filter((piece) => piece !== null).join(".") });
  return {
    tokens: Object.assign({}, tokens, ...recorded.map(({ cell, sides }) => Object.fromEntries(Object.entries(sides).map(([dim, origins]) => [`${cell} ${dim}`, origins.map(word)])))),
    tensors: Object.assign({}, tensors, ...recorded.map(({ cell, name, sides }) => ({
      [name]: { ...tensors[name], over: Object.fromEntries(Object.keys(sides).map((dim) => [dim, `${cell} ${dim}`])) },
    }))),
  };
}
