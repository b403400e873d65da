import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { affine, row, size, terms } from "../../static/js/lib/vectors.js";
import { reconcile } from "../../static/js/views/worksheet/sublayer.js";
import { worksheet } from "../../static/js/views/worksheet/cell-stages.js";
import { names } from "../../static/js/views/worksheet/needed-tensors.js";
import { sized, tensor } from "../js/trace.js";

const golden = JSON.parse(
  readFileSync(new URL("golden/worksheet.json", import.meta.url), "utf8"),
);
const DEEP = sized({ encoder: 2, decoder: 2 });
const CELLS = /** @type {import("../../static/js/views/worksheet/cell-stages.js").Cell[]} */ ([
  { block: "encoder", layer: 0, head: 1, query: 2, key: 1 },
  { block: "decoder", layer: 1, head: 0, query: 2, key: 0 },
  { block: "cross", layer: 1, head: 1, query: 1, key: 2 },
]);

/** @param {string} name */
function find(name) {
  const { dims, shape, data } = golden.tensors[name] ?? golden.parameters[name];
  return tensor(dims, shape, data);
}

/** The float64 run's row. @param {string} name @param {number} index @param {number} [head] */
function exact(name, index, head) {
  const data = /** @type {any} */ (Float64Array.from(golden.exact[name]));
  return Array.from(row({ ...find(name), data }, index, head));
}

/** @param {ArrayLike<number>} found @param {number[]} expected */
function near(found, expected) {
  assert.equal(found.length, expected.length);
  expected.forEach((value, i) => assert.ok(Math.abs(found[i] - value) < 2e-6, `${i}: ${found[i]} ≠ ${value}`));
}

/** @param {import("../../static/js/views/worksheet/cell-stages.js").Cell} cell */
const sheet = (cell) => worksheet(find, cell, names(DEEP, cell));

test("what a cell is worked out from", () => {
  const first = names(DEEP, CELLS[0]);
  assert.deepEqual([first.query, first.key, first.network?.place], ["source.input", "source.input", "encoder.0.ffn"]);
  assert.deepEqual(first.sums, ["source.embedding", "source.position"]);
  const cross = names(DEEP, CELLS[2]);
  assert.deepEqual([cross.query, cross.key], ["decoder.1.self.norm", "encoder.1.ffn.norm"]);
  const self = names(DEEP, CELLS[1]);
  assert.deepEqual([self.query, self.network, self.sums], ["decoder.0.ffn.norm", null, []]);
  assert.equal(names(DEEP, { block: "decoder", layer: 0 }).query, "target.input");
});

for (const cell of CELLS) {
  const { attentionPlace, network } = names(DEEP, cell);
  const { head, query, key } = cell;

  test(`${cell.block}: every stage comes to what the same model computes in float64`, () => {
    const found = sheet(cell);
    for (const letter of /** @type {const} */ (["q", "k", "v"]))
      near(found.project?.[letter].computed ?? [], exact(`${attentionPlace}.${letter}`, letter === "q" ? query : key, head));
    near(found.score.computed, exact(`${attentionPlace}.scores`, query, head));
    near(found.softmax.computed, exact(`${attentionPlace}.weights`, query, head));
    near(found.mix.computed, exact(`${attentionPlace}.mix`, query, head));
    near(found.output?.computed ?? [], exact(`${attentionPlace}.output`, query));
    near(found.norm?.computed ?? [], exact(`${attentionPlace}.norm`, query));
    assert.equal(found.ffn === null, network === null);
    if (!found.ffn) return;
    near(found.ffn.hidden.computed, exact(`${network?.place}.hidden`, query));
    near(found.ffn.output.computed, exact(`${network?.place}.output`, query));
    near(found.ffn.norm?.computed ?? [], exact(`${network?.place}.norm`, query));
  });

  test(`${cell.block}: every stage agrees with what the model recorded`, () => {
    const { input, project, score, softmax, mix, output, norm, ffn } = sheet(cell);
    const stages = [input, project, score, softmax, mix, output, norm, ffn?.hidden, ffn?.output, ffn?.norm];
    const checks = stages.flatMap((stage) => stage?.check ?? []);
    assert.equal(checks.length, { encoder: 10, decoder: 6, cross: 9 }[cell.block]);
    for (const { agrees, largest, count } of checks) {
      assert.ok(agrees && largest < 1e-6 && count > 0, `${largest}`);
    }
  });

  test(`${cell.block}: the parts add up`, () => {
    const { score, softmax, mix, output } = sheet(cell);
    assert.ok(output);
    near([score.dot / score.root], [score.computed[key]]);
    near(mix.pairPart.map((part, c) => part + mix.remainder[c]), [...mix.computed]);
    near([Math.exp(softmax.scores[key] - softmax.highest) / softmax.total], [softmax.computed[key]]);
    const sum = output.parts.reduce((all, part) => all.map((value, f) => value + part[f]), Float64Array.from(output.bias ?? []));
    near(sum, [...output.computed]);
  });
}

test("what the mask forbids gets nothing, and is not in the sum", () => {
  const { softmax } = sheet({ ...CELLS[0], key: 3 });
  assert.deepEqual(softmax.may, [true, true, true, false]);
  assert.equal(softmax.computed[3], 0);
  assert.ok(Math.abs(softmax.computed.reduce((a, b) => a + b) - 1) < 1e-12);
});

test("a value of the model that was replaced does not agree", () => {
  const cell = CELLS[0];
  const changed = (/** @type {string} */ name) =>
    name === "encoder.0.self.weights" ? tensor(["head", "query", "key"], [2, 4, 4], Array(32).fill(0)) : find(name);
  const { softmax, mix, score } = worksheet(changed, cell, names(DEEP, cell));
  assert.deepEqual([score.check?.agrees, softmax.check.agrees, mix.check.agrees], [true, false, false]);
});

test("a matrix by hand", () => {
  const W = tensor(["in", "out"], [2, 3], [1, 2, 3, 4, 5, 6]);
  assert.deepEqual([...affine([1, -1], W, [0.5, 0, 0])], [-2.5, -3, -3]);
  assert.deepEqual([...affine([1, -1], W, [0.5, 0, 7], 2)], [4]);
  assert.deepEqual([...affine([2], W, null, 0, 3, 1)], [8, 10, 12]);
  assert.deepEqual([...terms([1, -1], W, 2)], [3, -6]);
  assert.equal(size([3, 4]), 5);
});

test("differences are held against the size of the numbers, and NaN never agrees", () => {
  assert.deepEqual(reconcile({ computed: [1, 2], model: [1, 2.5] }), { largest: 0.5, count: 2, agrees: false });
  assert.ok(reconcile({ computed: [1000.005], model: [1000] }).agrees);
  assert.ok(!reconcile({ computed: [1.005], model: [1] }).agrees);
  assert.ok(!reconcile({ computed: [NaN, 1], model: [1, 1] }).agrees);
});
