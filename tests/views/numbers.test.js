import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { asTyped, brief, four, grouped, oneDecimal, plainly, roughly, short, significant, tiny, two, times } from "../../static/js/lib/numbers.js";
import { inNats, likelihood } from "../../static/js/views/whatif/before-after.js";

test("four decimals, and a power of ten where they would say nothing", () => {
  assert.deepEqual([0.61234, -8.76214, 1, 12345.678].map(four), ["0.6123", "−8.7621", "1.0000", "12345.6780"]);
  assert.deepEqual([0, -0].map(four), ["0", "0"]);
  assert.deepEqual([5e-5, 4.9e-5, -3.14e-7, 145830, -2e12].map(four), ["0.0001", "4.9 · 10⁻⁵", "−3.1 · 10⁻⁷", "1.4583 · 10⁵", "−2.0000 · 10¹²"]);
  assert.deepEqual([NaN, Infinity].map(four), ["NaN", "Infinity"]);
});

test("two decimals never print a zero for what is none", () => {
  assert.deepEqual([0.614, 0.005, 0.0049, -0.0049, -0.5, 0].map(two), ["0.61", "0.01", "<0.01", ">−0.01", "−0.50", "0"]);
  assert.equal(two(1234567), "1.23 · 10⁶");
});

test("no number but zero is printed as zero", () => {
  for (let power = -300; power < 300; power += 7)
    for (const value of [10 ** power, -3.3 * 10 ** power])
      for (const say of [two, four, tiny, short]) assert.match(say(value), /[1-9]/, `${say.name} ${value}`);
});

test("other ways to print a number", () => {
  assert.deepEqual([3, -2, 0.25, 1e-13, 3e5].map(plainly), ["3", "−2", "0.2500", "0", "3.0000 · 10⁵"]);
  assert.deepEqual([31.44, 12.3, 1234.5].map((value, i) => [oneDecimal, roughly, roughly][i](value)), ["31.4", "12.3", "1,235"]);
  assert.deepEqual([significant(0.31622, 3), significant(-10, 3), grouped(1234567)], ["0.316", "−10", "1,234,567"]);
  assert.deepEqual([0.07, 1.4, -0.693, 1234567, 0.1 + 0.2].map(asTyped), ["0.07", "1.4", "−0.693", "1234567", "0.3"]);
  assert.deepEqual([0, -0.001, 0.5, -1].map(brief), ["0", "0", "0.5", "−1"]);
  assert.deepEqual([tiny(2.13e-7), tiny(0), tiny(1234, 3), short(2.1e-7)], ["2.1 · 10⁻⁷", "0", "1.234 · 10³", "2e−7"]);
});

test("numbers that are read are printed in one place", () => {
  const root = new URL("../../static/js/", import.meta.url);
  const files = readdirSync(root, { recursive: true }).map(String).filter((name) => name.endsWith(".js"));
  const prints = /\.to(Fixed|Precision|Exponential|LocaleString)\(/;
  // Shortest decimals of float32 for a spreadsheet, dates, values that a request or a drawing takes.
  const others = /(csv|share-panel|share-menu|changes-panel)\.js$/;
  const found = files.filter((name) => !name.endsWith("lib/numbers.js") && !others.test(name)).flatMap((name) =>
    readFileSync(new URL(name, root), "utf8")
      .split("\n")
      .filter((line) => prints.test(line) && !/data-|dataset|"?M\$\{|v\$\{|read:/.test(line))
      .map((line) => `${name}: ${line.trim()}`),
  );
  assert.deepEqual(found, []);
});

test("a difference of log-probabilities is a ratio, however large", () => {
  assert.deepEqual([Math.log(255), Math.log(1.36), Math.log(12.34), Math.log(99_999), Math.log(123_456)].map(times), ["255", "1.4", "12.3", "99,999", "1.2 · 10⁵"]);
  assert.equal(times(2000), "3.9 · 10⁸⁶⁸", "beyond what a number holds");
  assert.equal(times(Math.LN10 * 8 - 1e-9), "1.0 · 10⁸");
});

test("and said in words", () => {
  const t = /** @type {any} */ ((/** @type {string} */ words, /** @type {any} */ values) => words.replace("{ratio}", values?.ratio));
  assert.deepEqual([-5.5413, 0.1570, -0.04, 0.004, 13, -0.7].map((nats) => likelihood(t, nats)), ["255 times less likely", "1.17 times as likely", "0.96 times as likely", "as likely as before", "4.4 · 10⁵ times as likely", "2.0 times less likely"]);
  assert.deepEqual([inNats(-5.541), inNats(0.31)], ["−5.54", "+0.31"]);
});
