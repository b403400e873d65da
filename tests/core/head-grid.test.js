import assert from "node:assert/strict";
import { test } from "node:test";

import { arrangeTiles, cellAt, orderedTiles, packedColour, colourTable, writeTile } from "../../static/js/core/draw/head-grid.js";
import { colour, sequential } from "../../static/js/core/draw/colour-scales.js";
import { plane } from "../../static/js/core/wire/safetensors.js";
import { trace } from "../js/trace.js";

const PALETTE = { paper: "#fbfaf7", ink: "#14171f", attention: "#4c1d95", q: "#2563eb", k: "#c2410c" };
const STOPS = sequential(PALETTE);
const PAPER = packedColour([251, 250, 247]);
const HATCH = packedColour([185, 183, 176]);
const PAINT = { table: colourTable(STOPS), paper: PAPER, hatch: HATCH };
const EXTENT = { layers: 2, heads: 3 };
const SUMMARIES = [
  { entropy: [0.5, 2, null], pattern: ["itself", "broad", "none"] },
  { entropy: [1, 0.5, 3], pattern: ["itself", "mixed", "broad"] },
];
const summary = (/** @type {number} */ layer) => /** @type {any} */ (SUMMARIES[layer]);
const named = (/** @type {{layer: number, head: number}[]} */ tiles) =>
  tiles.map(({ layer, head }) => `${layer}.${head}`).join(" ");

test("tiles stand as the layers do, or by a measure, those without a number last", () => {
  assert.equal(named(orderedTiles(EXTENT, summary)), "0.0 0.1 0.2 1.0 1.1 1.2");
  assert.equal(named(orderedTiles(EXTENT, summary, { by: "entropy" })), "1.2 0.1 1.0 0.0 1.1 0.2");
  const rising = orderedTiles(EXTENT, summary, { by: "entropy", rising: true });
  assert.equal(named(rising), "0.0 1.1 1.0 0.1 1.2 0.2");
  assert.equal(named(orderedTiles(EXTENT, summary, { by: "distance" })), "0.0 0.1 0.2 1.0 1.1 1.2");
});

test("a pattern leaves the heads that have it", () => {
  assert.equal(named(orderedTiles(EXTENT, summary, { only: "broad" })), "0.1 1.2");
  assert.equal(named(orderedTiles(EXTENT, () => undefined, { only: "broad" })), "");
});

test("a layer is a row where there is room, and no tile leaves the room", () => {
  for (const [layers, heads] of [[3, 8], [6, 8], [12, 12], [1, 1]]) {
    for (const width of [288, 358, 640, 1060, 1840]) {
      const tiles = orderedTiles({ layers, heads }, () => undefined);
      const room = { width, height: 560, heads, letters: 13, byLayer: true };
      const { columns, places, size, ...layout } = arrangeTiles(tiles, room);
      assert.ok(layout.width <= width && size >= Math.min(72, width), `${layers}×${heads} in ${width}`);
      const first = tiles.map(({ head }, i) => (head === 0 ? places[i].left : 0));
      assert.ok(first.every((left) => left === 0), "each layer begins a row");
      const seen = new Set(places.map(({ left, top }) => `${left} ${top}`));
      assert.equal(seen.size, tiles.length);
      if (columns === heads) assert.equal(new Set(places.map(({ top }) => top)).size, layers);
    }
  }
});

test("tiles fill the height that there is, and no more than is of use", () => {
  const tiles = orderedTiles({ layers: 3, heads: 8 }, () => undefined);
  const room = { width: 1060, height: 560, heads: 8, letters: 13, byLayer: true };
  const { size, height } = arrangeTiles(tiles, room);
  assert.ok(height <= 560 && size > 110, `${size}, ${height} high`);
  assert.equal(arrangeTiles(tiles.slice(0, 1), room).size, Math.floor((1060 + 10) / 8) - 10);
});

test("a larger tile repeats cells, in the colour of their value", () => {
  const { rows, cols, values } = plane(trace().tensors["encoder.0.self.weights"], { head: 0 });
  const pixels = new Uint32Array(10 * 10);
  writeTile(pixels, 10, { left: 1, top: 1, size: 9 }, { rows, cols, values, may: null }, PAINT);
  for (let row = 0; row < 3; row++) {
    for (let col = 0; col < 3; col++) {
      const expected = packedColour(colour(STOPS, Math.round(values[row * 3 + col] * 255) / 255));
      for (const [y, x] of [[0, 0], [1, 1], [2, 2]])
        assert.equal(pixels[(1 + row * 3 + y) * 10 + 1 + col * 3 + x], expected);
    }
  }
  assert.equal(pixels[0], 0, "beside the tile nothing is written");
});

test("a smaller tile keeps the largest weight beneath each pixel", () => {
  const size = 128;
  const values = new Float32Array(size * size);
  for (let i = 1; i < size; i++) values[i * size + i - 1] = 1;
  const pixels = new Uint32Array(50 * 50);
  writeTile(pixels, 50, { left: 0, top: 0, size: 50 }, { rows: size, cols: size, values, may: null }, PAINT);
  for (let i = 0; i < 50; i++)
    assert.equal(pixels[i * 50 + i], PAINT.table[255], `the diagonal is whole at ${i}`);
  assert.equal(pixels[49], PAINT.table[0]);
});

test("what is masked is hatched, and is not the colour of zero everywhere", () => {
  const found = trace().tensors;
  const { rows, cols, values } = plane(found["decoder.0.self.weights"], { head: 0 });
  const may = plane(found["decoder.0.self.mask"]).values;
  const pixels = new Uint32Array(8 * 8);
  writeTile(pixels, 8, { left: 0, top: 0, size: 8 }, { rows, cols, values, may }, PAINT);
  const masked = Array.from({ length: 16 }, (_, i) => pixels[(i >> 2) * 8 + 4 + (i & 3)]);
  assert.deepEqual(new Set(masked), new Set([PAPER, HATCH]));
  assert.equal(pixels[0], PAINT.table[255]);
});

test("a point is found in its cell", () => {
  const layout = arrangeTiles(orderedTiles(EXTENT, summary), { width: 400, height: 400, heads: 3, letters: 13, byLayer: true });
  const { left, top } = layout.places[4];
  const matrix = { rows: 2, cols: 4 };
  assert.deepEqual(cellAt(layout, 4, matrix, left + 1, top + 1), { row: 0, col: 0 });
  assert.deepEqual(cellAt(layout, 4, matrix, left + layout.size - 1, top + layout.size - 1), { row: 1, col: 3 });
  assert.equal(cellAt(layout, 4, matrix, left + 1, top + layout.size + 5), null);
});

test("bytes and fractions are painted alike", () => {
  const values = Float32Array.from({ length: 36 }, (_, i) => ((i * 7) % 36) / 36);
  const bytes = Uint8Array.from(values, (value) => Math.round(value * 255));
  const [a, b] = [new Uint32Array(144), new Uint32Array(144)];
  const where = { left: 0, top: 0, size: 12 };
  writeTile(a, 12, where, { rows: 6, cols: 6, values, may: null }, PAINT);
  writeTile(b, 12, where, { rows: 6, cols: 6, values: bytes, unit: 255, may: null }, PAINT);
  assert.deepEqual(b, a);
});
