/**
 * The terms of one score: q and k are sums over what came before, so q · k is a matrix with a row
 * for each term of the query and a column for each term of the key (docs/inside.md). A model has
 * hundreds: the strongest keep a row or a column of their own, all others share one.
 */

import { total } from "../../core/compute/logit-lens.js";

/** @import { ScoreReply, OriginReply } from "../../core/wire/schemas.d.ts" */
/** @typedef {"head" | "network" | "embedding" | "position" | "bias" | "patch" | "rest"} Kind */
/**
 * @typedef {object} Part  of a query or a key: one term, or several together
 * @property {Kind} kind
 * @property {string} at  its sublayer or text; "" for several
 * @property {number | null} head
 * @property {number} count  of terms
 * @property {number} sum  what it adds with the whole of the other side
 */
/** @typedef {{query: Part, key: Part, value: number}} Pair */
/**
 * @typedef {object} Breakdown
 * @property {Part[]} queries
 * @property {Part[]} keys
 * @property {number[][]} values  [query][key]; they sum to `sum`
 * @property {Pair[]} pairs  the largest terms, whatever their sign
 * @property {number} sum
 * @property {number} offset  what relative positions add
 * @property {number} score  the model's
 */
/** @typedef {{kind: Kind, at: string, head: number | null, from: number[]}} Group  from: indices of its terms */

/** How many terms a sentence names, and how many parts of each side stand alone. */
const [NAMED, ALONE] = [3, 7];

/** @type {Record<string, Kind>} */
const KINDS = { mix: "head", output: "network", embedding: "embedding", position: "position", patch: "patch" };

/**
 * @param {ScoreReply} split  with a score
 * @param {Pick<import("../../core/wire/wire.js").Tensor, "data">} terms  [query_term, key_term]
 * @returns {Breakdown}
 */
export function breakdown({ score, offset, queries, keys }, { data }) {
  const width = keys.length;
  const all = queries.map((_, i) => Array.from(data.subarray(i * width, (i + 1) * width)));
  const [rows, cols] = [grouped(queries), grouped(keys)];
  const whole = summed(all, rows, cols);
  const pairs = largest(whole, NAMED);
  const left = shortened(rows, whole.map(total), pairs.map(({ row }) => row));
  const right = shortened(cols, turned(whole).map(total), pairs.map(({ col }) => col));
  const values = summed(all, left, right);
  const own = left.map((one, i) => part(one, total(values[i])));
  const other = turned(values).map((column, j) => part(right[j], total(column)));
  return {
    queries: own,
    keys: other,
    values,
    pairs: pairs.map(({ row, col, value }) => ({ query: own[left.indexOf(rows[row])], key: other[right.indexOf(cols[col])], value })),
    sum: total(values.flat()),
    offset: offset ?? 0,
    score: score ?? NaN,
  };
}

/**
 * Biases, and the shifts of norms, count as one: they belong to no token and no head.
 * @param {OriginReply[]} origins
 * @returns {Group[]}  from the input on, the biases last
 */
function grouped(origins) {
  const kinds = origins.map(({ part }) => KINDS[part] ?? "bias");
  const groups = origins.flatMap(({ at, head }, i) => (kinds[i] === "bias" ? [] : [{ kind: kinds[i], at, head: head ?? null, from: [i] }]));
  const biases = kinds.flatMap((kind, i) => (kind === "bias" ? [i] : []));
  return [...groups, ...together("bias", biases)];
}

/** @param {Kind} kind @param {number[]} from @returns {Group[]} */
const together = (kind, from) => (from.length ? [{ kind, at: "", head: null, from }] : []);

/**
 * @param {Group[]} groups
 * @param {number[]} sums
 * @param {number[]} first  indices of groups to keep in any case
 * @returns {Group[]}  in their order, all others as one at the end
 */
function shortened(groups, sums, first) {
  const order = [...new Set([...first, ...[...groups.keys()].sort((a, b) => Math.abs(sums[b]) - Math.abs(sums[a]))])];
  // A single other one needs no more room than "others" would.
  const kept = new Set(order.slice(0, groups.length <= ALONE + 1 ? groups.length : ALONE));
  const rest = groups.filter((_, i) => !kept.has(i)).flatMap(({ from }) => from);
  return [...groups.filter((_, i) => kept.has(i)), ...together("rest", rest)];
}

/** @param {number[][]} values @param {Group[]} rows @param {Group[]} cols */
const summed = (values, rows, cols) =>
  rows.map((row) => cols.map((col) => total(row.from.flatMap((i) => col.from.map((j) => values[i][j])))));

/** @param {number[][]} values @returns {number[][]}  its columns */
const turned = (values) => values[0].map((_, j) => values.map((row) => row[j]));

/** @param {number[][]} values @param {number} count  of cells farthest from zero */
const largest = (values, count) =>
  values
    .flatMap((line, row) => line.map((value, col) => ({ row, col, value })))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, count);

/** @param {Group} group @param {number} sum @returns {Part} */
const part = ({ kind, at, head, from }, sum) => ({ kind, at, head, count: from.length, sum });
