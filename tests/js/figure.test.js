import assert from "node:assert/strict";
import { test } from "node:test";

import { figure } from "../../static/js/figure.js";
import { fit } from "../../static/js/geometry.js";
import { sequential } from "../../static/js/scale.js";

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
