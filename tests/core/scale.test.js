import assert from "node:assert/strict";
import { test } from "node:test";

import { legible } from "../../static/js/core/draw/matrix-canvas.js";
import { colorscale, colour, contrast, diverging, rgb, sequential, shares } from "../../static/js/core/draw/colour-scales.js";

const LIGHT = {
  paper: "#fbfaf7",
  ink: "#14171f",
  attention: "#4c1d95",
  q: "#2563eb",
  k: "#c2410c",
};
const DARK = { paper: "#0f1218", ink: "#e9e7e1", attention: "#c4b5fd", q: "#6ea0ff", k: "#f58a5b" };

/**
 * CIE L*a*b* of D65, in hundredths: another measure of what looks equally far apart than the one that the
 * scales are made with.
 * @param {[number, number, number]} colour
 */
function lab(colour) {
  const [r, g, b] = colour.map((channel) => {
    const c = channel / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  const [x, y, z] = [
    (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
    0.2126 * r + 0.7152 * g + 0.0722 * b,
    (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
  ].map((v) => (v > 216 / 24389 ? Math.cbrt(v) : ((24389 / 27) * v + 16) / 116));
  return [1.16 * y - 0.16, 5 * (x - y), 2 * (y - z)];
}

for (const [name, palette] of Object.entries({ light: LIGHT, dark: DARK })) {
  test(`${name}: scales begin and end at the named colours`, () => {
    const violet = sequential(palette);
    assert.deepEqual(colour(violet, 0), rgb(palette.paper));
    assert.deepEqual(colour(violet, 1), rgb(palette.attention));
    const signed = diverging(palette);
    assert.deepEqual(
      [0, 0.5, 1].map((at) => colour(signed, at)),
      [palette.q, palette.paper, palette.k].map(rgb),
    );
  });

  test(`${name}: more attention is always further from the paper`, () => {
    const stops = sequential(palette);
    const steps = Array.from({ length: 101 }, (_, i) =>
      contrast(colour(stops, i / 100), rgb(palette.paper)),
    );
    for (let i = 2; i < steps.length; i++) assert.ok(steps[i] >= steps[i - 2], `at ${i}`);
    assert.ok(steps[100] > 8);
  });

  test(`${name}: a weight of 0.15 is seen, and a small one is told from none`, () => {
    const seen = (/** @type {number} */ weight) => contrast(colour(sequential(palette), weight), rgb(palette.paper));
    assert.ok(seen(0.15) >= 1.65, String(seen(0.15)));
    assert.ok(seen(0.05) >= 1.2, String(seen(0.05)));
    const change = contrast(colour(diverging(palette), 0.5 + 0.15 / 2), rgb(palette.paper));
    assert.ok(change >= 1.45, String(change));
  });

  test(`${name}: a small share of a sentence's attention is seen`, () => {
    const seen = (/** @type {number} */ share) => contrast(colour(shares(palette), share), rgb(palette.paper));
    assert.ok(seen(0.06) >= 1.7, String(seen(0.06)));
    assert.ok(seen(0.02) >= 1.15, String(seen(0.02)));
    assert.deepEqual(colour(shares(palette), 1), rgb(palette.attention));
    assert.ok(seen(1) / seen(0.5) > 1.3, "strong ones still differ");
  });

  test(`${name}: equal steps shrink evenly towards the strong end`, () => {
    const stops = sequential(palette);
    const steps = stops.slice(1).map((stop, i) => Math.hypot(...lab(stop).map((value, c) => value - lab(stops[i])[c])));
    const mean = steps.reduce((sum, step) => sum + step, 0) / steps.length;
    steps.forEach((step, i) => {
      assert.ok(step > 0.45 * mean, `${i}: ${step / mean} of the mean`);
      // Channels are whole numbers: at most half of one off.
      if (i) assert.ok(step < steps[i - 1] + 0.006, `${i}: ${step} after ${steps[i - 1]}`);
    });
  });

  test(`${name}: numbers read on every shade`, () => {
    for (const stop of [...sequential(palette), ...diverging(palette)]) {
      assert.ok(contrast(stop, rgb(legible(stop))) >= 4.5, String(stop));
    }
  });
}

test("what lies outside is clamped, what is no colour is named", () => {
  const stops = sequential(LIGHT);
  assert.deepEqual(colour(stops, 2), colour(stops, 1));
  assert.throws(() => rgb("violet"), /violet/);
});

test("Plotly gets the same stops", () => {
  const scale = colorscale(sequential(LIGHT));
  assert.deepEqual(
    [scale[0], scale.at(-1)],
    [
      [0, "rgb(251, 250, 247)"],
      [1, "rgb(76, 29, 149)"],
    ],
  );
});
