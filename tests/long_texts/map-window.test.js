import assert from "node:assert/strict";
import { test } from "node:test";

import * as windows from "../../static/js/long/map/map-window.js";

/** @import { Window } from "../../static/js/long/map/map-window.js" */

const EXTENT = { rows: 1000, cols: 1000 };
const SIZE = { width: 500, height: 400 };

test("all of it is in sight at first, whichever side is longer", () => {
  const camera = windows.wholeCamera(EXTENT, SIZE);
  assert.deepEqual(camera, { top: 0, left: 0, wide: 0.4, high: 0.4 });
  assert.deepEqual(windows.windowOf(camera, EXTENT, SIZE), { rows: [0, 1000], cols: [0, 1000] });
  assert.equal(windows.isWhole(windows.windowOf(camera, EXTENT, SIZE), EXTENT), true);
  assert.equal(windows.wholeCamera({ rows: 3, cols: 2 }, SIZE).wide, windows.CLOSEST);
});

test("what is under the pointer stays there while it is zoomed", () => {
  let camera = windows.wholeCamera(EXTENT, SIZE);
  const point = { x: 123, y: 211 };
  const under = () => [camera.left + point.x / camera.wide, camera.top + point.y / camera.high];
  const [col, row] = under();
  for (let i = 0; i < 12; i++) camera = windows.zoomedCamera(camera, 1.4, point, EXTENT, SIZE);
  assert.ok(Math.abs(under()[0] - col) < 1e-9 && Math.abs(under()[1] - row) < 1e-9);
  assert.equal(windows.zoomedCamera(camera, 1e9, point, EXTENT, SIZE).wide, windows.CLOSEST);
  assert.deepEqual(windows.zoomedCamera(camera, 1e-9, point, EXTENT, SIZE), windows.wholeCamera(EXTENT, SIZE));
});

test("nothing beside the matrix is shown", () => {
  const camera = { top: 10, left: 10, wide: 10, high: 10 };
  const far = windows.movedCamera(camera, { x: -1e6, y: -1e6 }, EXTENT, SIZE);
  assert.deepEqual([far.left, far.top], [1000 - 50, 1000 - 40]);
  const back = windows.movedCamera(camera, { x: 1e6, y: 1e6 }, EXTENT, SIZE);
  assert.deepEqual([back.left, back.top], [0, 0]);
});

test("a window of the link is in sight, and comes back as it was", () => {
  /** @type {Window} */
  const window = { rows: [100, 140], cols: [300, 350] };
  const camera = windows.cameraOf(window, EXTENT, SIZE);
  assert.equal(camera.high, 10);
  assert.deepEqual(windows.windowOf(camera, EXTENT, SIZE), window);
});

test("a cell is brought into sight by as little as it takes, or to the middle", () => {
  const camera = { top: 100, left: 100, wide: 10, high: 10 };
  assert.deepEqual(windows.revealingCamera(camera, { row: 120, col: 130 }, EXTENT, SIZE), camera);
  assert.equal(windows.revealingCamera(camera, { row: 50, col: null }, EXTENT, SIZE).top, 50);
  assert.equal(windows.revealingCamera(camera, { row: 200, col: null }, EXTENT, SIZE).top, 201 - 40);
  const middle = windows.centredCamera(camera, { row: 500, col: null }, EXTENT, SIZE);
  assert.deepEqual([middle.top, middle.left], [500.5 - 20, 100]);
});

test("cells are pooled where they would be smaller than a pixel", () => {
  assert.equal(windows.levelOf(1, EXTENT), 0);
  assert.equal(windows.levelOf(0.99, EXTENT), 1);
  assert.equal(windows.levelOf(0.4, EXTENT), 2);
  assert.equal(windows.levelOf(1e-6, EXTENT), 2, "a single tile is the coarsest");
  assert.equal(windows.levelOf(0.1, EXTENT, false), 0);
  assert.equal(windows.coarsest({ rows: 8192, cols: 100 }), 5);
  assert.equal(windows.coarsest({ rows: 256, cols: 256 }), 0);
  assert.equal(windows.coarsest({ rows: 257, cols: 1 }), 1);
});

test("tiles cover a window once, without gaps, the middle first", () => {
  for (const level of [0, 1, 2]) {
    /** @type {Window} */
    const window = { rows: [200, 777], cols: [0, 1000] };
    const count = new Uint8Array(1000 * 1000);
    const tiles = windows.tilesOf(window, level);
    for (const tile of tiles) {
      const { rows, cols } = windows.unitsOf(tile, EXTENT);
      for (let row = rows[0]; row < rows[1]; row++) for (let col = cols[0]; col < cols[1]; col++) count[row * 1000 + col]++;
    }
    for (let row = 200; row < 777; row++) for (let col = 0; col < 1000; col++) assert.equal(count[row * 1000 + col], 1);
    const [first] = tiles;
    const { rows, cols } = windows.unitsOf(first, EXTENT);
    assert.ok(rows[0] <= 488 + 256 * 2 ** level && rows[1] >= 488 - 256 * 2 ** level && cols[1] > 0);
  }
});

test("what is sharper is drawn over what is coarser, as far as it is there", () => {
  const there = new Set(["2/0/0", "1/0/0", "0/1/1"]);
  const drawn = windows.tileLayers({ rows: [0, 400], cols: [0, 400] }, 0, EXTENT, (tile) => there.has(windows.tileName(tile)) || undefined);
  assert.deepEqual(drawn.map(({ tile }) => windows.tileName(tile)), ["2/0/0", "1/0/0", "0/1/1"]);
});

test("a causal mask hides the tiles whose keys all come later", () => {
  const units = (/** @type {number} */ row, /** @type {number} */ col) => windows.unitsOf({ level: 0, row, col }, EXTENT);
  assert.equal(windows.isHidden(units(0, 1), true), true);
  assert.equal(windows.isHidden(units(1, 1), true), false);
  assert.equal(windows.isHidden(units(2, 1), true), false);
  assert.equal(windows.isHidden(units(0, 1), false), false);
});

test("a short text beside a long one fills the space until its units are as large as the other's", () => {
  for (const turned of [false, true]) {
    const [short, long] = /** @type {("rows" | "cols")[]} */ (turned ? ["cols", "rows"] : ["rows", "cols"]);
    const [low, fine] = /** @type {("wide" | "high")[]} */ (turned ? ["wide", "high"] : ["high", "wide"]);
    const size = turned ? { width: 400, height: 500 } : SIZE;
    const extent = { rows: 0, cols: 0, [short]: 20, [long]: 1000 };
    let camera = windows.wholeCamera(extent, size);
    assert.deepEqual([camera[low], camera[fine]], [20, 0.5]);
    assert.equal(windows.isWhole(windows.windowOf(camera, extent, size), extent), true);
    assert.equal(windows.levelOf(windows.scaleOf(camera), extent), 1);
    assert.deepEqual(windows.spanOf(1, extent), { [short]: 1, [long]: 2 });
    const point = { x: 100, y: 100 };
    const under = () => [camera.left + point.x / camera.wide, camera.top + point.y / camera.high];
    const before = under();
    camera = windows.zoomedCamera(camera, 20, point, extent, size);
    assert.deepEqual([camera[low], camera[fine]], [20, 10], "the long side alone");
    assert.deepEqual(under(), before);
    const window = windows.windowOf(camera, extent, size);
    assert.deepEqual(window[short], [0, 20]);
    assert.deepEqual(windows.windowOf(windows.cameraOf(window, extent, size), extent, size)[short], [0, 20]);
    camera = windows.zoomedCamera(camera, 3, point, extent, size);
    assert.deepEqual([camera[low], camera[fine]], [30, 30], "then both");
  }
});

test("a few rows are not higher than they need to be", () => {
  assert.equal(windows.wholeCamera({ rows: 3, cols: 1000 }, SIZE).high, windows.ROOMY);
});
