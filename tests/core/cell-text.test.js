import assert from "node:assert/strict";
import { test } from "node:test";

import { cellText, hasRoom } from "../../static/js/core/draw/matrix-canvas.js";
import { barText } from "../../static/js/core/draw/row-bars.js";

const shade = { stops: [], range: /** @type {[number, number]} */ ([0, 1]) };
const geometry = (/** @type {number} */ cellWidth) => /** @type {any} */ ({ cellWidth, cellHeight: 20 });

test("a cell has two decimals, and says if they were rounded before", () => {
  assert.equal(cellText(shade, 0.1234), "0.12");
  assert.equal(cellText(shade, 0.1234, 0.003), "≈0.12");
  assert.equal(cellText(shade, -0.1234, 0.003), "≈−0.12");
  assert.equal(cellText(shade, 0.004, 0.003), "", "what prints as zero is not printed");
});

test("on a logarithmic scale a rounded number has no power of ten", () => {
  assert.equal(cellText({ ...shade, floor: 1e-4 }, 0.0003), "3e−4");
  assert.equal(cellText({ ...shade, floor: 1e-4 }, 0.0003, 0.003), "");
});

test("a sign needs room, and so does that of a rounded number", () => {
  const narrowest = (/** @type {[number, number]} */ range, error = 0) => Array.from({ length: 100 }, (_, width) => width).find((width) => hasRoom(geometry(width), { size: 10 }, range, error));
  assert.deepEqual([narrowest([0, 1]), narrowest([-1, 1]), narrowest([0, 1], 0.003), narrowest([-1, 1], 0.003)], [26, 32, 32, 38]);
});

test("the number beside a bar says it too", () => {
  assert.deepEqual([barText(0.5, 0), barText(0.5, 0.003)], ["0.50", "≈0.50"]);
});
