/** The hidden units of a feed-forward network at the tokens of a run. */

import { blockAt } from "../wire/attentions.js";
import { networks } from "./model-part-names.js";

/** @import { Matrix } from "../wire/wire.js" */

/**
 * The hidden units of the layer that a link is at; empty if the model does not record them.
 * @param {Pick<import("./store.js").Page, "model" | "link">} page
 */
export function hiddenOf({ model, link }) {
  const { stack } = blockAt({ model, link });
  const network = networks(model).find((candidate) => candidate.stack === stack && candidate.layer === link.layer);
  const isRecorded = network && (!model?.networks?.length || model.networks.some(({ place }) => place === network.place));
  return isRecorded ? [{ ...network, name: `${network.place}.hidden` }] : [];
}

/** A unit at each token. @param {Matrix} matrix  (token, unit) @param {number} unit @returns {number[]} */
export function unitAt({ rows: tokens, cols: units, values }, unit) {
  return Array.from({ length: tokens }, (_, token) => values[token * units + unit]);
}

/**
 * The units whose value at a token exceeds their largest value at another token by most.
 * @param {Matrix} matrix  (token, unit)
 * @param {number} token
 * @param {number} count
 * @returns {{unit: number, value: number, elsewhere: number}[]}  the one that stands out most first
 */
export function outstanding({ rows: tokens, cols: units, values }, token, count) {
  const entries = Array.from({ length: units }, (_, unit) => {
    let elsewhere = -Infinity;
    for (let row = 0; row < tokens; row++) if (row !== token) elsewhere = Math.max(elsewhere, values[row * units + unit]);
    return { unit, value: values[token * units + unit], elsewhere: tokens > 1 ? elsewhere : 0 };
  });
  return entries.sort((a, b) => b.value - b.elsewhere - (a.value - a.elsewhere)).slice(0, count);
}
