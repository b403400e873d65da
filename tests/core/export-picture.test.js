import assert from "node:assert/strict";
import { test } from "node:test";
import { poster, sizeOf, wrapped } from "../../static/js/core/draw/export-picture.js";

const measure = (/** @type {string} */ text, size = 10) => [...text].length * size;
const look = { paper: "#fff", ink: "#000", muted: "#666", font: '"A", sans', size: 13 };
const words = { title: 'Tom & "Jerry" <3 \u0001', place: "Attention", caption: "", footer: "model" };

test("lines break at spaces, between Chinese characters, and in a word only when it must be", () => {
  assert.deepEqual(wrapped("one two three", 70, measure), ["one two", "three"]);
  assert.deepEqual(wrapped("我妈妈昨天", 30, measure), ["我妈妈", "昨天"]);
  assert.deepEqual(wrapped("a longword b", 40, measure), ["a", "long", "word", "b"]);
  assert.deepEqual(wrapped("  ", 40, measure), []);
  assert.deepEqual(wrapped("", 40, measure), []);
});

test("a drawing stands in its place, under its words", () => {
  const drawing = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="800" height="300.5"><g/></svg>';
  const { svg, width, height } = poster(drawing, words, look, measure);
  assert.equal(width, 848);
  assert.ok(height > 300 + 48);
  assert.equal(svg.match(/<svg\b/g)?.length, 2);
  assert.match(svg, /<svg x="24" y="[\d.]+" xmlns/);
  assert.ok(!svg.includes("<?xml"));
  assert.ok(svg.includes("Tom &amp; &quot;Jerry&quot; &lt;3 </text>"));
  assert.ok(svg.includes('font-family="&quot;A&quot;, sans"'));
  assert.deepEqual(sizeOf(svg), { width, height });
});

test("a narrow one leaves the words room", () => {
  const { width } = poster('<svg width="100" height="50"/>', words, look, measure);
  assert.equal(width, 560 + 48);
});

test("the size of a drawing is its own, or that of its view box", () => {
  assert.deepEqual(sizeOf('<svg viewBox="0 0 20 10">'), { width: 20, height: 10 });
  assert.deepEqual(sizeOf('<svg width="7px" height="8" stroke-width="3">'), { width: 7, height: 8 });
  assert.throws(() => sizeOf("<svg>"), TypeError);
});
