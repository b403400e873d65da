import assert from "node:assert/strict";
import { test } from "node:test";
import { createPointing } from "../../static/js/core/figure/pointing.js";

/** A figure of numbered words. */
function figure() {
  /** @type {(number | null)[]} */
  const lit = [];
  let told = 0;
  const { move, pointing } = createPointing({
    light: (/** @type {number | null} */ at) => lit.push(at),
    write: (at) => ({ query: { side: "word", index: at }, key: null }),
    read: ({ query }) => (query?.side === "word" ? query.index : null),
  });
  pointing.listen(() => told++);
  return { lit, move, pointing, told: () => told };
}

test("what is pointed at in one figure is highlighted in another, and no longer once the pointer has left", () => {
  const [own, other] = [figure(), figure()];
  own.move(2);
  other.pointing.show(own.pointing.at());
  own.move(null);
  other.pointing.show(own.pointing.at());
  assert.deepEqual(other.lit, [2, null]);
});

test("the same place is told once, and what a figure does not have is not highlighted", () => {
  const { lit, move, pointing, told } = figure();
  move(0);
  move(0);
  pointing.show({ query: { side: "word", index: 0 }, key: null });
  assert.deepEqual([lit, told()], [[0], 1]);
  pointing.show({ query: { side: "source", index: 0 }, key: null });
  assert.deepEqual([lit, pointing.at()], [[0, null], null]);
});
