import assert from "node:assert/strict";
import { test } from "node:test";

import { visibleLabels, colClash, neighbours, rowClash } from "../../static/js/core/draw/matrix-labels.js";
import { fitGeometry } from "../../static/js/core/draw/matrix-geometry.js";

/** @param {number} count @param {number} size */
const all = (count, size) => Array(count).fill(size);
/** @param {boolean[]} shown */
const places = (shown) => shown.flatMap((one, i) => (one ? [i] : []));

test("every label is shown where all have room", () => {
  assert.deepEqual(places(visibleLabels(4, () => false)), [0, 1, 2, 3]);
  assert.deepEqual(visibleLabels(0, () => true), []);
});

test("where not all have room they stand evenly, and none lies on another", () => {
  const clash = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 3;
  assert.deepEqual(places(visibleLabels(10, clash)), [0, 3, 6, 9]);
});

test("what has changed and what is special is served before all others, whatever its place", () => {
  const clash = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < 3;
  for (let at = 0; at < 16; at++) {
    const shown = places(visibleLabels(16, clash, [at, 15]));
    assert.ok(shown.includes(at), `${at} in ${shown}`);
    assert.ok(shown.includes(15) || 15 - at < 3, "the second, where it has room beside the first");
    shown.forEach((one, i) => i && assert.ok(one - shown[i - 1] >= 3, `${shown}`));
  }
});

test("labels of rows have a line each", () => {
  const rows = fitGeometry({ rowWidths: all(128, 60), colWidths: all(128, 60), width: 800, height: 500 });
  const shown = places(visibleLabels(128, rowClash(rows)));
  shown.forEach((at, i) => i && assert.ok((at - shown[i - 1]) * rows.cellHeight >= rows.line));
  assert.ok(shown.length > 128 / Math.ceil(rows.line / rows.cellHeight) - 1, "and no more are dropped than must");
  assert.deepEqual(neighbours(40, 128, rowClash(rows)).length > 0, rows.cellHeight < rows.line);
});

/** @typedef {number[][]} Shape  its corners */

/**
 * The corners of a label as it is drawn: from the middle of its column, leaning or standing.
 * @param {import("../../static/js/core/draw/matrix-geometry.js").Geometry} geometry
 * @param {number} width
 * @param {number} line
 * @param {number} at
 * @param {boolean} upright
 * @returns {Shape}
 */
function corners({ cellWidth, slant }, width, line, at, upright) {
  const x = (at + 0.5) * cellWidth;
  const box = [[0, 0], [width, 0], [width, line], [0, line]];
  if (upright || !slant) return box.map(([a, b]) => [x + a - width / 2, b]);
  const angle = (slant * Math.PI) / 180;
  return box.map(([a, b]) => [x + a * Math.cos(angle) - b * Math.sin(angle), a * Math.sin(angle) + b * Math.cos(angle)]);
}

/** Whether two convex shapes share a point: no axis parts them. @param {Shape} one @param {Shape} other */
function overlap(one, other) {
  const edges = [one, other].flatMap((shape) => shape.map((corner, i) => [corner, shape[(i + 1) % shape.length]]));
  return !edges.some(([[x, y], [u, v]]) => {
    const axis = [v - y, x - u];
    const span = (/** @type {Shape} */ shape) => shape.map(([a, b]) => a * axis[0] + b * axis[1]);
    const [p, q] = [span(one), span(other)];
    return Math.max(...p) <= Math.min(...q) || Math.max(...q) <= Math.min(...p);
  });
}

test("the labels of columns that are shown do not overlap, leaning and standing ones mixed", () => {
  for (const count of [6, 16, 40, 90])
    for (const width of [300, 700]) {
      const colWidths = Array.from({ length: count }, (_, i) => (i % 4 === 3 ? 8 : 30 + ((i * 37) % 50)));
      const upright = colWidths.map((size) => size === 8);
      const geometry = fitGeometry({ rowWidths: all(count, 40), colWidths, upright, width, height: 500 });
      const shown = places(visibleLabels(count, colClash(geometry, colWidths, upright)));
      // Of a line of 15 pixels letters fill 10 or so.
      const shapes = shown.map((at) => corners(geometry, colWidths[at], 10, at, upright[at]));
      for (let i = 1; i < shapes.length; i++) assert.ok(!overlap(shapes[i - 1], shapes[i]), `${count} in ${width}: ${shown[i - 1]}, ${shown[i]}`);
      assert.ok(shown.length >= 0.4 * Math.min(count, (count * geometry.cellWidth) / geometry.line), "and most that fit are there");
    }
});
