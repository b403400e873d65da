import assert from "node:assert/strict";
import { test } from "node:test";

import { thread } from "../../static/js/opening/word-pairing.js";

/** Rows of words, each 40 wide and 20 high, 10 apart. @param {number} top @param {...number} counts */
const rows = (top, ...counts) =>
  counts.flatMap((count, row) =>
    Array.from({ length: count }, (_, i) => ({ left: i * 50, right: i * 50 + 40, top: top + row * 30, bottom: top + row * 30 + 20 })),
  );

/** The points at which a path begins, ends and changes. @param {string} path */
const points = (path) => [...path.matchAll(/(-?[\d.]+) (-?[\d.]+)(?=[CLM]|$)/g)].map(([, x, y]) => [Number(x), Number(y)]);

test("a line between neighbouring rows is one curve", () => {
  assert.deepEqual(points(thread(rows(0, 3), 1, rows(100, 3), 2)), [[70, 20], [120, 100]]);
});

test("a line passes the rows between through gaps, on both sides", () => {
  const path = thread(rows(0, 3, 3), 0, rows(200, 4, 4), 7);
  assert.deepEqual(points(path), [[20, 20], [45, 30], [45, 50], [145, 200], [145, 220], [170, 230]]);
  assert.equal(path.match(/M/g)?.length, 1);
});

test("no line crosses a word, wherever it goes", () => {
  const [above, below] = [rows(0, 4, 5, 2), rows(200, 5, 3, 4)];
  for (const from of above.keys())
    for (const to of below.keys()) {
      const corners = points(thread(above, from, below, to));
      for (let i = 0; i + 1 < corners.length; i++) {
        const [[x1, y1], [x2, y2]] = [corners[i], corners[i + 1]];
        const crossed = [...above, ...below].filter(({ left, right, top, bottom }) => {
          const within = Math.max(y1, top) < Math.min(y2, bottom);
          return within && Math.max(Math.min(x1, x2), left) < Math.min(Math.max(x1, x2), right) + (x1 === x2 && x1 > left && x1 < right ? 1 : 0);
        });
        assert.deepEqual(crossed, []);
      }
    }
});
