import assert from "node:assert/strict";
import { test } from "node:test";

import { figure } from "../../static/js/draw/plotly-figure.js";
import { fit } from "../../static/js/draw/geometry.js";
import { colourOf } from "../../static/js/draw/paint.js";
import { COVER } from "../../static/js/compute/reshape.js";
import { colour, sequential } from "../../static/js/draw/scale.js";

const THEME = {
  paper: "#fbfaf7",
  ink: "#14171f",
  muted: "#5b606d",
  attention: "#4c1d95",
  q: "#2563eb",
  k: "#c2410c",
  v: "#0f766e",
  hatch: "#b9b7b0",
  font: "sans-serif",
  size: 13,
};

/** @param {number} width */
function picture(width) {
  const matrix = { rows: 2, cols: 2, values: Float32Array.of(0.25, 0.75, 1, NaN) };
  const geometry = fit({ rowWidths: [40, 40], colWidths: [20, 20], width, height: 400 });
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
  const { data, layout } = /** @type {any} */ (figure(picture(600)));
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
  assert.deepEqual(
    [layout.xaxis.ticktext, layout.yaxis.ticktext],
    [
      ["c", "d"],
      ["a", "b"],
    ],
  );
});

test("the plot area is the cells, to the pixel", () => {
  const { geometry } = picture(600);
  const { layout } = /** @type {any} */ (figure(picture(600)));
  assert.equal(layout.width - layout.margin.l - layout.margin.r, 2 * geometry.cellWidth);
  assert.equal(layout.height - layout.margin.t - layout.margin.b, 2 * geometry.cellHeight);
});

test("numbers stand in every open cell once, in an ink that reads, where there is room", () => {
  const { data } = /** @type {any} */ (figure(picture(600)));
  const [black, white, muted] = data.slice(1);
  assert.deepEqual(
    [black.textfont.color, white.textfont.color, black.texttemplate],
    ["#000000", "#ffffff", "%{z:.2f}"],
  );
  const numbers = [0, 1, 2, 3].map(
    (i) =>
      [black, white, muted].filter(({ z }) => !Number.isNaN(z[Math.floor(i / 2)][i % 2])).length,
  );
  assert.deepEqual(numbers, [1, 1, 1, 0]);
  assert.equal(figure(picture(130)).data.length, 1);
});

test("on a logarithmic scale z stays the weight, the colours say its power of ten", () => {
  const shade = { ...picture(600).shade, floor: 1e-4 };
  const matrix = { rows: 2, cols: 2, values: Float32Array.of(0.003, 0.75, 0.00002, NaN) };
  const { data } = /** @type {any} */ (figure({ ...picture(600), matrix, shade }));
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
  assert.deepEqual(said.filter(Boolean).sort(), ["0.00", "0.75", "3e−3"]);
});

test("a covered cell has no number and no colour", () => {
  const { open, weak, masked } = COVER;
  const cover = Uint8Array.of(weak, open, open, masked);
  const { data } = /** @type {any} */ (figure({ ...picture(600), cover }));
  assert.deepEqual(data[0].z.map((/** @type {Float32Array} */ row) => [...row]), [
    [NaN, 0.75],
    [1, NaN],
  ]);
});
