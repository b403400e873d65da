/** Cut edges of a head: one, or several as one change. */

/** @import { Change } from "../../core/store/interventions.js" */
/** @typedef {[number, number]} Edge  query and key */

/** @param {Change} change @returns {Edge[]}  none if it cuts nothing */
export function edgesOf(change) {
  const cut = change?.do?.cut;
  if (!Array.isArray(cut)) return [];
  return /** @type {Edge[]} */ (Array.isArray(cut[0]) ? cut : [cut]);
}

/** @param {Edge} a @returns {(b: Edge) => boolean} */
const is = (a) => (b) => a[0] === b[0] && a[1] === b[1];

/** @param {Change} change @param {Edge} edge */
export const cuts = (change, edge) => edgesOf(change).some(is(edge));

/** @param {Change} change  of the same head @param {Edge[]} edges @returns {Change | null}  null: nothing is cut */
export function cutting(change, edges) {
  if (!edges.length) return null;
  return { ...change, do: { cut: edges.length === 1 ? edges[0] : edges } };
}

/** @param {Change} change @param {Edge} edge  One of its own. @returns {Change | null} */
export const mended = (change, edge) => cutting(change, edgesOf(change).filter((one) => !is(edge)(one)));

/** @param {Change} change @param {Edge} edge */
export const joined = (change, edge) => /** @type {Change} */ (cutting(change, [...edgesOf(change), edge]));
