import assert from "node:assert/strict";
import { test } from "node:test";

import { legible } from "../../static/js/draw/paint.js";
import { colorscale, colour, contrast, diverging, rgb, sequential } from "../../static/js/draw/scale.js";

const LIGHT = {
  paper: "#fbfaf7",
  ink: "#14171f",
  attention: "#4c1d95",
  q: "#2563eb",
  k: "#c2410c",
};
const DARK = { paper: "#0f1218", ink: "#e9e7e1", attention: "#c4b5fd", q: "#6ea0ff", k: "#f58a5b" };

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

  test(`${name}: numbers read on every shade`, () => {
    for (const stop of [...sequential(palette), ...diverging(palette)]) {
      assert.ok(contrast(stop, rgb(legible(stop))) >= 4.5, String(stop));
    }
  });
}

test("a weight of 0.15 is seen on dark, and a small one is told from none", () => {
  const seen = (/** @type {number} */ weight) => contrast(colour(sequential(DARK), weight), rgb(DARK.paper));
  assert.ok(seen(0.15) >= 1.6, String(seen(0.15)));
  assert.ok(seen(0.05) >= 1.2, String(seen(0.05)));
  const change = contrast(colour(diverging(DARK), 0.5 + 0.15 / 2), rgb(DARK.paper));
  assert.ok(change >= 1.6, String(change));
});

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
