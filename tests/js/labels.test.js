import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { createLabels, ruler, stands } from "../../static/js/draw/labels.js";

/** An element as far as a label is one. */
function element() {
  /** @type {any} */
  const made = {
    children: [],
    style: {},
    className: "",
    append: (/** @type {any[]} */ ...more) => made.children.push(...more),
    replaceChildren: (/** @type {any[]} */ ...more) => ((made.children = more), (made.filled = (made.filled ?? 0) + 1)),
    setAttribute: () => {},
    classList: {
      toggle: (/** @type {string} */ name, /** @type {boolean} */ on) => {
        const names = made.className.split(" ").filter((/** @type {string} */ one) => one && one !== name);
        made.className = (on ? [...names, name] : names).join(" ");
      },
    },
  };
  return made;
}

let measured = 0;
let size = "12px";
beforeEach(() => {
  measured = 0;
  const brush = { font: "", measureText: (/** @type {string} */ text) => (measured++, { width: text.length * parseFloat(brush.font.split(" ")[1]) }) };
  Object.assign(globalThis, {
    document: { createElement: (/** @type {string} */ tag) => (tag === "canvas" ? { getContext: () => brush } : element()) },
    window: { document: {}, getComputedStyle: () => ({ getPropertyValue: () => size }) },
  });
});
afterEach(() => Object.assign(globalThis, { document: undefined, window: undefined }));

/** @param {string} word @param {boolean} [pad] */
const one = (word, pad = false) => ({ reads: null, writes: { space: "", word, nth: null, lang: "en", special: false, pad } });
const GEOMETRY = /** @type {any} */ ({ left: 50, top: 40, cellHeight: 20, cellWidth: 10, slant: 60, everyRow: 2, everyCol: 1 });

test("single characters and marks stand, words slant", () => {
  for (const text of ["猫", "，", "的₁₂", ".", "’"]) assert.ok(stands(text), text);
  for (const text of ["the", "猫坐", "a", "", "猫₁x", "x猫", "→"]) assert.ok(!stands(text), text);
});

test("labels stand beside their rows and above their columns", () => {
  const labels = createLabels();
  const [rows, cols] = /** @type {any[]} */ (labels.elements);
  labels.write(GEOMETRY, { rows: [one("a"), one("b"), one("p", true)], cols: [one("x"), one("猫"), one("q", true)] }, [false, true, false]);
  assert.deepEqual(rows.children.map((/** @type {any} */ row) => [row.className, row.style.top, row.style.right]), [
    ["label", "50px", "calc(100% - 42px)"],
    ["label between", "70px", "calc(100% - 42px)"],
    ["label pad", "90px", "calc(100% - 42px)"],
  ]);
  assert.deepEqual(cols.children.map((/** @type {any} */ col) => [col.className, col.style.rotate, col.style.left, col.style.top]), [
    ["label slanted", "-60deg", "55px", "34px"],
    ["label", undefined, "65px", "34px"],
    ["label pad slanted", "-60deg", "75px", "34px"],
  ]);
  labels.write({ ...GEOMETRY, slant: 0, everyCol: 2 }, { rows: [], cols: [one("x"), one("y")] }, [false, false]);
  assert.deepEqual(cols.children.map((/** @type {any} */ col) => [col.className, col.style.rotate]), [["label", undefined], ["label between", undefined]]);
  assert.equal(cols.children[0].children[0].className, "token");
  assert.deepEqual([rows.className, cols.className], ["labels rows", "labels cols"]);
});

test("labels are written again only when something about them has changed", () => {
  const labels = createLabels();
  const [rows, cols] = /** @type {any[]} */ (labels.elements);
  const steps = { rows: [one("a")], cols: [one("x")] };
  const filled = () => [rows.filled, cols.filled];
  labels.write(GEOMETRY, steps, [false]);
  labels.write({ ...GEOMETRY }, { rows: [one("a")], cols: [one("x")] }, [false]);
  assert.deepEqual(filled(), [1, 1]);
  labels.write(GEOMETRY, { ...steps, rows: [one("b")] }, [false]);
  labels.write(GEOMETRY, { ...steps, cols: [one("y")] }, [false]);
  labels.write({ ...GEOMETRY, top: 41 }, steps, [false]);
  labels.write({ ...GEOMETRY, top: 41 }, steps, [true]);
  assert.deepEqual(filled(), [5, 5]);
});

test("the lit row and the lit column are told apart, and only those", () => {
  const labels = createLabels();
  const [rows, cols] = /** @type {any[]} */ (labels.elements);
  const steps = [one("a"), one("b"), one("c")];
  labels.write({ ...GEOMETRY, everyRow: 1, slant: 0 }, { rows: steps, cols: steps }, [false, false, false]);
  const lit = () => [rows, cols].map(({ children }) => children.map((/** @type {any} */ { className }) => className.includes("lit")));
  labels.light({ row: 1, col: 2 });
  assert.deepEqual(lit(), [[false, true, false], [false, false, true]]);
  labels.light({ row: null, col: 0 });
  assert.deepEqual(lit(), [[false, false, false], [true, false, false]]);
});

test("text is measured once in each font and size, and not for ever", () => {
  size = "11px";
  const small = ruler("serif");
  assert.deepEqual([small("cat"), small("cat"), measured], [33, 33, 1]);
  assert.equal(ruler("serif")("cat"), 33);
  assert.equal(measured, 1, "another ruler of the same");
  ruler("sans")("cat");
  size = "22px";
  assert.deepEqual([ruler("serif")("cat"), measured], [66, 3]);
  const large = ruler("serif");
  for (let n = 0; n < 4096; n++) large(`word ${n}`);
  const before = measured;
  large("word 4095");
  large("word 0");
  assert.equal(measured, before);
  small("cat");
  assert.equal(measured, before + 1, "what nobody asked for in 4096 others is forgotten");
});
