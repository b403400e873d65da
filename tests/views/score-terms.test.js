import assert from "node:assert/strict";
import { test } from "node:test";

import { breakdown } from "../../static/js/views/qkv/score-breakdown.js";
import { cellOf, named, termsOf } from "../../static/js/core/compute/scoring.js";
import { csv } from "../../static/js/lib/csv.js";
import { tensor, trace } from "../js/trace.js";

/** @import { OriginReply } from "../../static/js/core/wire/schemas.d.ts" */

/** @param {string} at @param {string} part @param {number | null} [head] @returns {OriginReply} */
const origin = (at, part, head = null) => ({ at, part, head });

/** Eighths are exact in float32. @param {number} count */
const eighths = (count) => Float32Array.from({ length: count }, (_, i) => ((i * 37) % 29) / 8 - 1.5);

/** @param {number} heads @returns {OriginReply[]} */
const side = (heads) => [
  origin("source", "embedding"),
  origin("source", "position"),
  ...Array.from({ length: heads }, (_, head) => origin("encoder.0.self", "mix", head)),
  origin("encoder.0.self", "b_o"),
  origin("encoder.0.self", "bias"),
  origin("encoder.0.ffn", "output"),
  origin("encoder.1.self", "b_q"),
];

test("a cell and the tensor of its terms are named as the API names them", () => {
  assert.equal(cellOf("decoder.1.cross", { head: 3, query: 4, key: 1 }), "decoder.1.cross.3.4.1");
  assert.equal(termsOf("decoder.1.cross.3.4.1"), "inside.score.decoder.1.cross.3.4.1.parts");
});

for (const [left, right] of [[1, 1], [4, 4], [5, 9], [20, 3]])
  test(`the terms shown sum to all terms, with ${left} and ${right} heads`, () => {
    const [queries, keys] = [side(left), side(right)];
    const data = eighths(queries.length * keys.length);
    const sum = data.reduce((a, b) => a + b, 0);
    const found = breakdown({ score: sum + 0.5, offset: 0.5, queries, keys }, { data });
    assert.equal(found.sum, sum);
    assert.deepEqual([found.score, found.offset], [sum + 0.5, 0.5]);
    assert.equal(found.queries.reduce((all, one) => all + one.sum, 0), sum);
    assert.equal(found.keys.reduce((all, one) => all + one.sum, 0), sum);
    assert.deepEqual([found.queries, found.keys].map((parts) => parts.reduce((all, { count }) => all + count, 0)), [queries.length, keys.length]);
    assert.ok(found.queries.length <= 8 && found.keys.length <= 8);
    for (const [i, line] of found.values.entries()) assert.equal(line.reduce((a, b) => a + b, 0), found.queries[i].sum);
    // The same by hand: what the token's embedding adds, and what the biases add.
    const row = (/** @type {number} */ i) => [...data.subarray(i * keys.length, (i + 1) * keys.length)].reduce((a, b) => a + b, 0);
    const biases = queries.flatMap(({ part }, i) => (part.startsWith("b") ? [row(i)] : [])).reduce((a, b) => a + b, 0);
    const by = (/** @type {string} */ kind) => found.queries.find((one) => one.kind === kind);
    assert.equal(by("bias")?.sum ?? biases, biases);
    assert.equal(by("embedding")?.sum ?? row(0), row(0));
  });

test("the largest terms are named, and stand alone", () => {
  const [queries, keys] = [side(20), side(20)];
  const data = new Float32Array(queries.length * keys.length);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => i * keys.length + j;
  data[at(5, 6)] = -4;
  // It cancels within its row and its column, so their sums alone would not show it.
  data[at(7, 8)] = 3;
  data[at(7, 9)] = data[at(9, 8)] = -3 + 1 / 8;
  for (let i = 10; i < 20; i++) data[at(i, 0)] = 1;
  const { pairs, queries: rows, keys: cols, values } = breakdown({ score: 0, offset: 0, queries, keys }, { data });
  assert.deepEqual(pairs.map(({ query, key, value }) => [query.head, key.head, value]), [[3, 4, -4], [5, 6, 3], [5, 7, -2.875]]);
  for (const { query, key, value } of pairs) assert.equal(values[rows.indexOf(query)][cols.indexOf(key)], value);
  assert.equal(rows.at(-1)?.kind, "rest");
});

test("the order is that of the run, then the biases, then the others", () => {
  const queries = side(20);
  const data = Float32Array.from(queries, (_, i) => (i % 2 ? i + 1 : -i - 1));
  const one = [origin("source", "embedding")];
  const { queries: parts } = breakdown({ score: 0, offset: 0, queries, keys: one }, { data });
  const { keys } = breakdown({ score: 0, offset: 0, queries: one, keys: queries }, { data });
  assert.deepEqual(keys, parts, "on either side");
  assert.deepEqual(parts.map(({ kind, head }) => [kind, head]), [["head", 15], ["head", 16], ["head", 17], ["head", 18], ["head", 19], ["network", null], ["bias", null], ["rest", null]]);
});

test("a single other one stands alone", () => {
  const queries = side(4).slice(0, 8); // with the two biases as one, seven
  const eight = [...queries, origin("encoder.0.ffn", "output")];
  const { queries: parts } = breakdown({ score: 0, offset: 0, queries: eight, keys: [origin("source", "embedding")] }, { data: eighths(9) });
  assert.deepEqual([parts.length, parts.some(({ kind }) => kind === "rest")], [8, false]);
});

test("in a table each term has its name", () => {
  const made = trace();
  const name = termsOf("encoder.1.self.0.2.1");
  made.tensors[name] = tensor(["query_term", "key_term"], [2, 1], [0.5, -2]);
  made.scores = { "encoder.1.self.0.2.1": { score: -1.5, offset: 0, queries: [origin("source", "embedding"), origin("encoder.0.self", "mix", 3)], keys: [origin("encoder.1.self", "b_k")] } };
  assert.deepEqual(csv(named(made), [name]).split("\r\n").slice(0, 3), [
    "\ufefftensor,query_term,query_term_token,key_term,key_term_token,value",
    `${name},0,source.embedding,0,encoder.1.self.b_k,0.5`,
    `${name},1,encoder.0.self.mix.3,0,encoder.1.self.b_k,-2`,
  ]);
});
