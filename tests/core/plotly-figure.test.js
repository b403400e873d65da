import assert from "node:assert/strict";
import { test } from "node:test";

import { distinct, figure, frames, NUMBERS } from "../../static/js/core/draw/plotly-figure.js";
import { fitGeometry } from "../../static/js/core/draw/matrix-geometry.js";
import { colourOf } from "../../static/js/core/draw/matrix-canvas.js";
import { COVER } from "../../static/js/core/compute/aggregate-attention.js";
import { colour, sequential } from "../../static/js/core/draw/colour-scales.js";

const THEME = {
  paper: "#fbfaf7",
  ink: "#14171f",
  muted: "#5b606d",
  attention: "#4c1d95",
  q: "#2563eb",
  k: "#c2410c",
  v: "#0f766e",
  rule: "#e2dfd6",
  hatch: "#b9b7b0",
  font: "sans-serif",
  size: 13,
};

const SIZE = { width: 700, height: 500 };

/** @param {number} width */
function picture(width) {
  const matrix = { rows: 2, cols: 2, values: Float32Array.of(0.25, 0.75, 1, NaN) };
  const geometry = fitGeometry({ rowWidths: [40, 40], colWidths: [20, 20], width, height: 400 });
  return {
    matrix,
    geometry,
    theme: THEME,
    shade: { stops: sequential(THEME), range: /** @type {[number, number]} */ ([0, 1]) },
    labels: { rows: ["a", "b"], cols: ["c", "d"] },
    titles: { rows: "query (looks)", cols: "key (looked at)" },
  };
}

test("the figure says what the design asks of a heatmap", () => {
  const { data, layout } = /** @type {any} */ (figure(picture(600), SIZE));
  assert.deepEqual(
    data[0].z.map((/** @type {Float32Array} */ row) => [...row]),
    [
      [0.25, 0.75],
      [1, NaN],
    ],
  );
  assert.deepEqual([data[0].zmin, data[0].zmax, data[0].zsmooth], [0, 1, false]);
  assert.deepEqual(layout.yaxis.range, [1.5, -0.5], "rows run down");
  assert.deepEqual(
    [layout.xaxis.side, layout.xaxis.title.text, layout.yaxis.title.text],
    ["top", "key (looked at)", "query (looks)"],
  );
  assert.deepEqual([data[0].x, data[0].y], [["c", "d"], ["a", "b"]]);
});

test("it is as large as its room, and pans no further than its cells", () => {
  const { layout } = /** @type {any} */ (figure(picture(600), SIZE));
  assert.deepEqual([layout.width, layout.height], [700, 500]);
  for (const axis of [layout.xaxis, layout.yaxis])
    assert.deepEqual([axis.minallowed, axis.maxallowed], [-0.5, 1.5]);
});

test("names that Plotly would take for markup or for the same place stay what they are", () => {
  const names = distinct(["<eos>", "a & b", "the", "the", "<b>"]);
  assert.deepEqual(names.slice(0, 3), ["&lt;eos&gt;", "a &amp; b", "the"]);
  assert.equal(names[4], "&lt;b&gt;");
  assert.equal(new Set(names).size, 5);
});

test("what is lit is framed: its row in the ink of queries, its column in that of keys", () => {
  const found = /** @type {any[]} */ (frames(picture(600), { row: 1, col: 0 }));
  assert.deepEqual(
    found.map(({ x0, x1, y0, y1, line }) => [x0, x1, y0, y1, line.color]),
    [
      [-0.5, 1.5, 0.5, 1.5, THEME.q],
      [-0.5, 0.5, -0.5, 1.5, THEME.k],
    ],
  );
  assert.deepEqual(frames(picture(600), { row: 2, col: null }), [], "a row that is not there");
});

test("numbers stand once in every open cell that does not print as zero, in an ink that reads", () => {
  const { data } = /** @type {any} */ (figure(picture(600), SIZE));
  const [black, white] = NUMBERS.map((i) => data[i]);
  assert.ok([black, white].every(({ visible }) => visible === false), "until cells have room");
  assert.deepEqual(
    [black.textfont.color, white.textfont.color, black.texttemplate],
    ["#000000", "#ffffff", "%{z:.2f}"],
  );
  const numbers = [0, 1, 2, 3].map(
    (i) =>
      [black, white].filter(({ z }) => !Number.isNaN(z[Math.floor(i / 2)][i % 2])).length,
  );
  assert.deepEqual(numbers, [1, 1, 1, 0]);
});

test("on a logarithmic scale z stays the weight, the colours say its power of ten", () => {
  const shade = { ...picture(600).shade, floor: 1e-4 };
  const matrix = { rows: 2, cols: 2, values: Float32Array.of(0.003, 0.75, 0.00002, NaN) };
  const { data } = /** @type {any} */ (figure({ ...picture(600), matrix, shade }, SIZE));
  assert.equal(data[0].z[1][0], Math.fround(0.00002));
  const positions = data[0].colorscale.map((/** @type {[number, string]} */ [at]) => at);
  assert.deepEqual([positions[0], positions[1], positions.at(-1)], [0, 1e-4, 1]);
  assert.ok(positions.every((/** @type {number} */ at, /** @type {number} */ i) => !i || at > positions[i - 1]));
  assert.equal(data[0].colorscale[1][1], data[0].colorscale[0][1], "below the floor is the floor");
  assert.deepEqual(
    colourOf(shade, 0.01),
    colour(shade.stops, 0.5),
    "a hundredth is half the way down to a ten-thousandth",
  );
  const said = data.slice(1).flatMap((/** @type {any} */ { text }) => text.flat());
  assert.deepEqual(said.filter(Boolean).sort(), ["0.75", "3e−3"]);
});

test("a covered cell has no number and no colour", () => {
  const { open, weak, masked } = COVER;
  const cover = Uint8Array.of(weak, open, open, masked);
  const { data } = /** @type {any} */ (figure({ ...picture(600), cover }, SIZE));
  assert.deepEqual(data[0].z.map((/** @type {Float32Array} */ row) => [...row]), [
    [NaN, 0.75],
    [1, NaN],
  ]);
});
