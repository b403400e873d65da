import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { dot, eigen, nearest, pca, placed, ranking, space } from "../../static/js/views/space/qk-plane.js";
import { spread, touch } from "../../static/js/views/space/scatter.js";

/** @typedef {{points: number[][], components: number[][], shares: number[], projected: number[][]}} Case */
const golden = /** @type {Record<string, Case>} */ (
  JSON.parse(readFileSync(new URL("golden/pca.json", import.meta.url), "utf8"))
);

/** @param {ArrayLike<number>} found @param {ArrayLike<number>} expected @param {string} what */
function near(found, expected, what) {
  assert.equal(found.length, expected.length, what);
  for (let i = 0; i < found.length; i++)
    assert.ok(Math.abs(found[i] - expected[i]) < 1e-8, `${what}: ${found[i]} ≠ ${expected[i]}`);
}

for (const [name, expected] of Object.entries(golden)) {
  test(`principal components of ${name} are numpy's`, () => {
    const found = pca(expected.points);
    // Where all variance lies on one line, no direction across it is better than another.
    const real = expected.shares.filter((share) => share > 1e-9).length;
    near(found.shares, expected.shares, "shares");
    for (let i = 0; i < real; i++) {
      near(found.components[i], expected.components[i], `component ${i}`);
      near(
        found.points.map((point) => point[i]),
        expected.projected.map((point) => point[i]),
        `places along ${i}`,
      );
    }
  });
}

test("components have length one and stand upright on each other", () => {
  const [a, b] = pca(golden["many points"].points).components;
  near([dot(a, a), dot(b, b), dot(a, b)], [1, 1, 0], "products");
});

test("points that are all the same have no spread, and no NaN", () => {
  const found = pca([[1, 2, 3], [1, 2, 3]]);
  assert.deepEqual([found.shares, found.points], [[0, 0], [[0, 0], [0, 0]]]);
  assert.deepEqual(pca([]).points, []);
  assert.deepEqual(pca([[5], [7]]).points, [[-1], [1]]);
});

test("eigenvectors are turned by the matrix into multiples of themselves", () => {
  const rows = () => [[2, 1, 0], [1, 3, 1], [0, 1, 4]].map((row) => Float64Array.from(row));
  const { values, vectors } = eigen(rows());
  vectors.forEach((vector, i) =>
    near(rows().map((row) => dot(row, vector)), vector.map((value) => value * values[i]), "Av"),
  );
});

test("labels stand beside their points, on nothing else, within the room", () => {
  const points = [{ x: 20, y: 20 }, { x: 30, y: 20 }, { x: 90, y: 90 }, { x: 92, y: 90 }];
  const sizes = points.map(() => ({ width: 30, height: 16 }));
  const boxes = spread(points, sizes, { width: 120, height: 100 });
  const placed = boxes.filter((box) => box !== null);
  placed.forEach((box, i) => {
    assert.ok(box.left >= 0 && box.top >= 0 && box.left + 30 <= 120 && box.top + 16 <= 100);
    placed.forEach((other, j) => assert.ok(i === j || !touch(box, other)));
  });
  assert.equal(placed.length, 4);
});

test("a label without room is left out, and who comes first is served first", () => {
  const points = [{ x: 10, y: 10 }, { x: 11, y: 10 }];
  const sizes = points.map(() => ({ width: 18, height: 10 }));
  const tight = { width: 40, height: 20 };
  assert.deepEqual(spread(points, sizes, tight, { mark: 0 }).map(Boolean), [true, false]);
  assert.deepEqual(spread(points, sizes, tight, { mark: 0, first: [1] }).map(Boolean), [false, true]);
});

const matrix = (/** @type {number[][]} */ rows) => ({
  rows: rows.length,
  cols: rows[0].length,
  values: Float32Array.from(rows.flat()),
});

test("queries and keys lie in one plane, each about their own mean", () => {
  const found = space(matrix([[3, 0, 0], [5, 0, 1]]), matrix([[0, 0, 0], [4, 0, 3]]));
  assert.deepEqual([found.queries.length, found.keys.length, found.channels], [2, 2, 3]);
  near(found.origin, [0, 0], "origin");
  for (const side of [found.queries, found.keys]) near([0, 1].map((axis) => side[0][axis] + side[1][axis]), [0, 0], "mean");
  near([found.shares[0] + found.shares[1]], [1], "all variance lies in two channels");
  const [a, b] = found.keys;
  near([Math.hypot(a[0] - b[0], a[1] - b[1])], [2], "two keys lie on either side of their mean, at a distance of one");
  near([Math.hypot(...found.directions[0])], [3], "a query points where it does, whatever the mean");
});

test("a shift that all keys share, and one of all queries, moves no point", () => {
  const q = [[3, 0, 0], [5, 0, 1], [4, 2, 2]];
  const k = [[0, 0, 0], [4, 0, 3], [1, 1, 0]];
  const plain = space(matrix(q), matrix(k));
  const shifted = space(matrix(q), matrix(k.map((row) => row.map((value, c) => value + [10, -20, 5][c]))));
  near(shifted.keys.flat(), plain.keys.flat(), "keys");
  near(shifted.queries.flat(), plain.queries.flat(), "queries");
  const scaled = space(matrix(q.map((row) => row.map((value) => value * 4))), matrix(k.map((row) => row.map((value) => value / 4))));
  near(scaled.keys.flat(), plain.keys.flat(), "longer queries, shorter keys: the same products");
});

test("a head of one channel lies on a line", () => {
  assert.deepEqual(space(matrix([[1], [5]]), matrix([[3]])).queries.map(([x]) => Math.abs(x)), [1, 1]);
});

test("both axes have the same scale, and up is up", () => {
  const [a, b, c] = placed([[0, 0], [10, 0], [0, 5]], { width: 240, height: 200 }, [20, 20]);
  assert.deepEqual([b.x - a.x, b.y - a.y, c.x - a.x, a.y - c.y], [200, 0, 0, 100]);
  assert.deepEqual(placed([[2, 2]], { width: 100, height: 60 }, [10, 10]), [{ x: 50, y: 30 }]);
});

test("keys are ranked by the dot product, not by distance, the masked last", () => {
  const q = matrix([[1, 0], [0, 1]]);
  const k = matrix([[1, 0], [9, 0], [20, 0]]);
  const found = ranking(q, k, 0, [0.1, 0.9, NaN]);
  assert.deepEqual(found.map(({ key, dot, masked }) => [key, dot, masked]), [
    [1, 9, false],
    [0, 1, false],
    [2, 20, true],
  ]);
});

test("the nearest point, if it is near enough", () => {
  const points = [{ x: 0, y: 0 }, { x: 10, y: 0 }];
  assert.equal(nearest(points, { x: 7, y: 1 }), 1);
  assert.equal(nearest(points, { x: 40, y: 0 }, 12), null);
});

test("the third direction lies behind the plane: the same x and y, and what is left of the spread", () => {
  const { points, projected } = golden["many points"];
  const cols = points[0].length;
  const matrix = { rows: points.length, cols, values: Float64Array.from(points.flat()) };
  const none = { rows: 0, cols, values: new Float64Array(0) };
  const { queries, solid, shares } = space(/** @type {any} */ (matrix), /** @type {any} */ (none));
  assert.deepEqual(solid.queries.map(([x, y]) => [x, y]), queries);
  const size = Math.sqrt(golden["many points"].projected.reduce((sum, point) => sum + dot(point, point), 0) / points.length);
  const ratio = queries[0].map((value, axis) => (value * size) / projected[0][axis]);
  assert.ok(ratio.every((value) => value > 0.5), "the plane is numpy's");
  near([queries[1][0] / queries[0][0]], [projected[1][0] / projected[0][0]], "but for its scale");
  const spread = (/** @type {number} */ axis) => solid.queries.reduce((sum, point) => sum + point[axis] ** 2, 0);
  assert.ok(Math.abs(solid.share / shares[0] - spread(2) / spread(0)) < 1e-9);
});
