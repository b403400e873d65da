import assert from "node:assert/strict";
import { test } from "node:test";

import { isCutBy, edgesOf, withEdge, withoutEdge } from "../../static/js/views/whatif/changes-panel.js";
import { withSameTarget, putChange } from "../../static/js/core/store/interventions.js";

/** @param {any} cut */
const of = (cut) => ({ at: "encoder.0.self", head: 1, do: { cut } });

test("edges are those of one cut, or of several as one change", () => {
  assert.deepEqual(edgesOf(of([1, 2])), [[1, 2]]);
  assert.deepEqual(edgesOf(of([[1, 2], [3, 4]])), [[1, 2], [3, 4]]);
  for (const other of [{ at: "x", do: "zero" }, { at: "x", do: { mask: 1 } }, { at: "x", do: { cut: 5 } }, /** @type {any} */ (null)]) assert.deepEqual(edgesOf(other), []);
  assert.ok(isCutBy(of([[1, 2], [3, 4]]), [3, 4]));
  assert.ok(!isCutBy(of([[1, 2], [3, 4]]), [1, 4]));
});

test("an edge is added to a change and taken out of it", () => {
  const two = withEdge(of([1, 2]), [3, 4]);
  assert.deepEqual(two, of([[1, 2], [3, 4]]));
  assert.deepEqual(withoutEdge(two, [1, 2]), of([3, 4]));
  assert.equal(withoutEdge(of([3, 4]), [3, 4]), null);
  assert.deepEqual(withEdge(two, [5, 6]), of([[1, 2], [3, 4], [5, 6]]));
});

test("two sets of edges are two changes, however they begin", () => {
  const [a, b] = [of([[1, 2], [3, 4], [5, 6]]), of([[1, 2], [3, 4]])];
  assert.deepEqual(putChange([a], b), [a, b]);
  assert.equal(withSameTarget([a], b), null);
  assert.deepEqual(putChange([a], structuredClone(a)), [a]);
});
