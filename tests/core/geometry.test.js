import assert from "node:assert/strict";
import { test } from "node:test";

import { fitGeometry, placeAt } from "../../static/js/core/draw/matrix-geometry.js";

/** @param {number} count @param {number} size */
const widths = (count, size) => Array(count).fill(size);

test("a matrix fits its room, at every length", () => {
  for (const count of [1, 2, 12, 40, 128]) {
    for (const [width, height] of [
      [360, 400],
      [860, 560],
      [1800, 900],
    ]) {
      const found = fitGeometry({
        rowWidths: widths(count, 60),
        colWidths: widths(count, 60),
        width,
        height,
        stretch: 1.6,
      });
      assert.ok(
        found.width <= width && found.height <= height,
        `${count} in ${width}×${height}: ${found.width}×${found.height}`,
      );
      assert.ok(found.cellWidth > 0 && found.cellHeight > 0);
    }
  }
});

test("words slant only where they must; single characters never do", () => {
  const room = { width: 900, height: 600 };
  assert.equal(fitGeometry({ rowWidths: widths(4, 30), colWidths: widths(4, 30), ...room }).slant, 0);
  assert.equal(fitGeometry({ rowWidths: widths(9, 30), colWidths: widths(9, 80), ...room }).slant, 32);
  assert.equal(fitGeometry({ rowWidths: widths(24, 30), colWidths: widths(24, 80), ...room }).slant, 45);
  assert.equal(fitGeometry({ rowWidths: widths(30, 30), colWidths: widths(30, 80), ...room }).slant, 65);
  const upright = widths(20, 1).map(Boolean);
  assert.equal(
    fitGeometry({ rowWidths: widths(20, 30), colWidths: widths(20, 60), upright, ...room }).slant,
    0,
  );
});

test("where little room is, a cell keeps its least size and the matrix outgrows its room", () => {
  const wanted = { rowWidths: widths(40, 30), colWidths: widths(40, 60), width: 320, height: 400 };
  assert.ok(fitGeometry(wanted).cellWidth < 8);
  const found = fitGeometry({ ...wanted, least: 18 });
  assert.deepEqual([found.cellWidth, found.cellHeight], [18, 18]);
  assert.ok(found.width > 40 * 18 && found.height > 40 * 18);
  const few = { ...wanted, rowWidths: widths(4, 30), colWidths: widths(4, 60) };
  assert.deepEqual(fitGeometry({ ...few, least: 18 }), fitGeometry(few), "where there is room nothing changes");
  const counted = fitGeometry({ ...wanted, colWidths: [], cols: 256, least: 18 });
  assert.ok(counted.width <= 320, "columns that are only counted are not scrolled to");
});

test("the rows of a wide matrix are high enough for their labels; a square one stays square", () => {
  const room = { width: 330, height: 400 };
  const wide = fitGeometry({ rowWidths: widths(8, 60), colWidths: widths(29, 40), ...room });
  assert.ok(wide.cellWidth < 10 && wide.cellHeight >= wide.line, `${wide.cellWidth} × ${wide.cellHeight}`);
  assert.ok(8 * wide.cellHeight <= 29 * wide.cellWidth, "never higher than wide");
  const few = fitGeometry({ rowWidths: widths(8, 60), colWidths: widths(29, 40), ...room, height: 180 });
  assert.ok(few.height <= 180, "nor than its room");
  const square = fitGeometry({ rowWidths: widths(29, 60), colWidths: widths(29, 40), ...room });
  assert.equal(square.cellHeight, square.cellWidth);
});

test("everything grows with the labels, as for a projector", () => {
  const count = 6;
  const small = fitGeometry({
    rowWidths: widths(count, 40),
    colWidths: widths(count, 90),
    width: 700,
    height: 500,
  });
  const large = fitGeometry({
    rowWidths: widths(count, 80),
    colWidths: widths(count, 180),
    width: 1400,
    height: 1000,
    size: 26,
  });
  assert.equal(large.slant, small.slant);
  assert.ok(Math.abs(large.cellWidth - 2 * small.cellWidth) <= 3, String(large.cellWidth));
  const crowded = fitGeometry({
    rowWidths: widths(128, 80),
    colWidths: [],
    cols: 4,
    width: 800,
    height: 500,
    size: 26,
  });
  assert.equal(crowded.line, 2 * small.line);
});

test("a point is in its cell, edges included", () => {
  const found = fitGeometry({
    rowWidths: widths(3, 40),
    colWidths: widths(5, 20),
    width: 400,
    height: 300,
  });
  for (let row = 0; row < 3; row++) {
    for (let col = 0; col < 5; col++) {
      const [x, y] = [found.left + col * found.cellWidth, found.top + row * found.cellHeight];
      assert.deepEqual(placeAt(found, x, y), { row, col });
      assert.deepEqual(placeAt(found, x + found.cellWidth - 0.1, y + found.cellHeight - 0.1), {
        row,
        col,
      });
    }
  }
  assert.equal(placeAt(found, found.left - 1, found.top - 1), null);
  assert.equal(placeAt(found, found.left + 5 * found.cellWidth, found.top + 1), null);
  assert.equal(placeAt(found, found.left + 1, found.top + 3 * found.cellHeight), null);
});

for (const [width, slant] of [[600, 32], [340, 45], [300, 65]])
  test(`labels are their rows and columns, those too that lean by ${slant}°`, () => leaning(width, slant));

/** @param {number} width  of the matrix @param {number} slant  of its labels, in degrees */
function leaning(width, slant) {
  const found = fitGeometry({
    rowWidths: widths(9, 40),
    colWidths: widths(9, 90),
    width,
    height: 500,
  });
  assert.deepEqual(placeAt(found, 5, found.top + 1), { row: 0, col: null });
  const [x, y] = [found.left + 3.5 * found.cellWidth, found.top];
  assert.deepEqual(placeAt(found, x, y - 1), { row: null, col: 3 });
  assert.equal(found.slant, slant);
  // Around the middle of a label that is 90 px long and 16 px high and starts 6 px above.
  const [cos, sin] = [Math.cos((slant * Math.PI) / 180), Math.sin((slant * Math.PI) / 180)];
  for (const [along, up] of [[45, 8], [53, 8], [37, 8], [45, 13], [45, 3]]) {
    const middle = placeAt(found, x + along * cos - up * sin, y - 6 - along * sin - up * cos);
    assert.deepEqual(middle, { row: null, col: 3 });
  }
}
