/** Patches of a sweep: which rows of two similar sentences correspond, and what is taken from where. */

/** @import { Change } from "../core/store/interventions.js" */
/** @import { GraphOutput } from "./graph-changes.js" */
/** @import { ScoredRun } from "./local-run.js" */
/** @typedef {[number, number][]} Pairs  (its row, ours) */
/** @typedef {{name: string, text: string, heads: number}} Patched  a tensor, the text of its rows, its heads (0: none) */
/** @typedef {{change: Change, second: null, token: number | null}} Patch  token: our row, if only one is patched */

/**
 * Pairs of tokens that correspond, in order: those that both have (Ratcliff and Obershelp's longest
 * matches), and between them those that were exchanged, from the last one backwards.
 * @param {number[]} theirs
 * @param {number[]} ours
 * @returns {Pairs}
 */
export function aligned(theirs, ours) {
  /** @type {Pairs} */
  const pairs = [];
  let [row, ourRow] = [0, 0];
  for (const { start, otherStart, size } of [...matchingBlocks(theirs, ours), { start: theirs.length, otherStart: ours.length, size: 0 }]) {
    const exchanged = Math.min(start - row, otherStart - ourRow);
    for (let index = exchanged; index > 0; index--) pairs.push([start - index, otherStart - index]);
    for (let index = 0; index < size; index++) pairs.push([start + index, otherStart + index]);
    [row, ourRow] = [start + size, otherStart + size];
  }
  return pairs;
}

/**
 * @param {number[]} a
 * @param {number[]} b
 * @param {{aFrom: number, aTo: number, bFrom: number, bTo: number}} [within]
 * @returns {{start: number, otherStart: number, size: number}[]}  in order
 */
function matchingBlocks(a, b, { aFrom, aTo, bFrom, bTo } = { aFrom: 0, aTo: a.length, bFrom: 0, bTo: b.length }) {
  let best = { start: aFrom, otherStart: bFrom, size: 0 };
  /** How many tokens up to these are equal, by our index. @type {Map<number, number>} */
  let lengths = new Map();
  for (let i = aFrom; i < aTo; i++) {
    const next = new Map();
    for (let j = bFrom; j < bTo; j++) {
      if (a[i] !== b[j]) continue;
      const size = (lengths.get(j - 1) ?? 0) + 1;
      next.set(j, size);
      if (size > best.size) best = { start: i - size + 1, otherStart: j - size + 1, size };
    }
    lengths = next;
  }
  if (!best.size) return [];
  const { start, otherStart, size } = best;
  const before = matchingBlocks(a, b, { aFrom, aTo: start, bFrom, bTo: otherStart });
  const after = matchingBlocks(a, b, { aFrom: start + size, aTo, bFrom: otherStart + size, bTo });
  // Blocks that touch are one: tokens between two blocks are never equal there.
  return [...before, best, ...after];
}

/**
 * The tensors that a sweep of patches replaces, in the model's order.
 * @param {GraphOutput[]} outputs
 * @param {Record<string, number>} heads
 * @param {string} over
 * @returns {Patched[]}
 */
export function patchedTensors(outputs, heads, over) {
  const text = (/** @type {GraphOutput} */ { over: texts }) => texts.query;
  if (over === "heads") return outputs.filter(({ name }) => name.endsWith(".mix")).map((output) => ({ name: output.name, text: text(output), heads: heads[output.name.split(".")[0]] }));
  if (over === "sublayers") return outputs.filter(({ name }) => name.endsWith(".output")).map((output) => ({ name: output.name, text: text(output), heads: 0 }));
  /** The stream after each layer: what the feed-forward network's sum, or its norm, ends in. @type {Map<string, GraphOutput>} */
  const ends = new Map();
  for (const output of outputs) {
    const layer = /^((?:encoder|decoder)\.\d+)\.ffn\.(?:residual|norm)$/.exec(output.name)?.[1];
    if (layer) ends.set(layer, output);
    else if (/^(source|target)\.input$/.test(output.name)) ends.set(output.name, output);
  }
  const ordered = [...ends.values()];
  const places = ["source", "target"].flatMap((side) => ordered.filter((output) => text(output) === side));
  return places.map((output) => ({ name: output.name, text: text(output), heads: 0 }));
}

/**
 * The patches of a sweep.
 * @param {Patched[]} tensors
 * @param {ScoredRun} donor
 * @param {Record<string, Pairs>} pairs  of each text
 * @param {boolean} isByRow  one row at a time
 * @returns {Patch[]}
 */
export function patchesOf(tensors, donor, pairs, isByRow) {
  return tensors.flatMap(({ name, text, heads }) => patchesOfTensor(name, text, heads));

  /** @param {string} name @param {string} text @param {number} heads @returns {Patch[]} */
  function patchesOfTensor(name, text, heads) {
    const { data, dims } = donor.tensors[name];
    const patch = (/** @type {Pairs} */ rows, /** @type {number | null} */ head = null) => ({ at: name, head, do: { replace: { values: data, shape: dims.slice(1), pairs: rows, unseen: null } } });
    if (!pairs[text].length) return [];
    if (isByRow) return pairs[text].map((pair) => ({ change: patch([pair]), second: null, token: pair[1] }));
    return [...Array.from({ length: heads }, (_, head) => head), null].map((head) => ({ change: patch(pairs[text], head), second: null, token: null }));
  }
}
