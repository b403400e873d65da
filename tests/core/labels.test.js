import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { clippedSteps, createLabels, textRuler, isUpright } from "../../static/js/core/draw/matrix-labels.js";

/** An element as far as a label is one. */
function element() {
  /** @type {any} */
  const made = {
    children: [],
    namespaceURI: "http://www.w3.org/1999/xhtml",
    get childNodes() {
      return [...made.children];
    },
    insertBefore: (/** @type {any} */ one) => made.append(one),
    style: { setProperty: (/** @type {string} */ name, /** @type {string} */ value) => ((made.style[name] = value), (made.placed = (made.placed ?? 0) + 1)) },
    className: "",
    append: (/** @type {any[]} */ ...more) => more.forEach((one) => (made.children.push(one), typeof one === "object" && one && (one.parent = made))),
    remove: () => made.parent.children.splice(made.parent.children.indexOf(made), 1),
    replaceChildren: (/** @type {any[]} */ ...more) => ((made.children = more), (made.filled = (made.filled ?? 0) + 1)),
    setAttribute: () => {},
    classList: {
      add: (/** @type {string} */ name) => (made.className = `${made.className} ${name}`),
      remove: (/** @type {string} */ name) => (made.className = made.className.split(" ").filter((/** @type {string} */ one) => one !== name).join(" ")),
    },
  };
  return made;
}

let measured = 0;
beforeEach(() => {
  measured = 0;
  const brush = { font: "", measureText: (/** @type {string} */ text) => (measured++, { width: text.length * parseFloat(brush.font.split(" ")[1]) }) };
  Object.assign(globalThis, {
    document: {
      createElement: (/** @type {string} */ name) => ({ getContext: (/** @type {string} */ kind) => (name === "canvas" && kind === "2d" ? brush : null) }),
      createElementNS: element,
      createTextNode: () => ({}),
    },
  });
});
afterEach(() => Object.assign(globalThis, { document: undefined }));

/** @param {string} word @param {boolean} [pad] */
const one = (word, pad = false) => ({ reads: null, writes: { space: "", word, nth: null, lang: "en", special: false, pad } });
const GEOMETRY = /** @type {any} */ ({ left: 50, top: 40, cellHeight: 20, cellWidth: 10, slant: 60, line: 15 });
/** Labels of which every so many are shown, and which lie on each other. @param {number} [rows] @param {number} [cols] */
const places = (rows = 2, cols = 1) => {
  const side = (/** @type {number} */ every) => ({ shown: Array.from({ length: 9 }, (_, i) => i % every === 0), clash: (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) < every });
  return { rows: side(rows), cols: side(cols) };
};

test("single characters stand, words and marks slant", () => {
  for (const text of ["猫", "的₁₂", "妈ᴬ₁", "爸ᴮ"]) assert.ok(isUpright(text), text);
  for (const text of ["the", "猫坐", "a", "", "猫₁x", "猫ᴬx", "ᴬ", "x猫", "→", "，", ".", "’"]) assert.ok(!isUpright(text), text);
});

const TITLES = { rows: "query (looks)", cols: "key (looked at)" };
/** A side's labels, behind the axis title. @param {any} side */
const labelsOf = (side) => side.children.slice(1);

test("labels stand beside their rows and above their columns, with the axes' titles", () => {
  const labels = createLabels();
  const [rows, cols] = /** @type {any[]} */ (labels.elements);
  labels.write(GEOMETRY, { rows: [one("a"), one("b"), one("p", true)], cols: [one("x"), one("猫"), one("q", true)] }, [false, true, false], TITLES, places());
  assert.deepEqual(labelsOf(rows).map((/** @type {any} */ row) => [row.className, row.style.top, row.style.right]), [
    ["label", "50px", "calc(100% - 42px)"],
    ["label between", "70px", "calc(100% - 42px)"],
    ["label pad", "90px", "calc(100% - 42px)"],
  ]);
  assert.deepEqual(labelsOf(cols).map((/** @type {any} */ col) => [col.className, col.style.rotate, col.style.left, col.style.top]), [
    ["label slanted", "-60deg", "55px", "34px"],
    ["label", "none", "65px", "34px"],
    ["label pad slanted", "-60deg", "75px", "34px"],
  ]);
  assert.deepEqual([rows.children[0].textContent, cols.children[0].textContent], [TITLES.rows, TITLES.cols]);
  labels.write({ ...GEOMETRY, slant: 0 }, { rows: [], cols: [one("x"), one("y")] }, [false, false], TITLES, places(2, 2));
  assert.deepEqual(labelsOf(cols).map((/** @type {any} */ col) => [col.className, col.style.rotate]), [["label", "none"], ["label between", "none"]]);
  assert.equal(labelsOf(cols)[0].children[0].className, "token");
  assert.deepEqual([labelsOf(rows), rows.className, cols.className], [[], "labels rows", "labels cols"]);
});

test("an axis's title stands along its cells, and moves with them", () => {
  const labels = createLabels();
  const [rows, cols] = /** @type {any[]} */ (labels.elements).map((side) => side.children[0]);
  const geometry = { ...GEOMETRY, rows: 3, cols: 4 };
  const at = (/** @type {any} */ { style: { top, left, width, height } }) => [top, left, width, height];
  labels.write(geometry, { rows: [], cols: [] }, [], TITLES, places());
  assert.deepEqual([rows.className, cols.className], ["axis", "axis"]);
  assert.deepEqual(at(rows), ["40px", "0px", undefined, "60px"]);
  assert.deepEqual(at(cols), ["0px", "50px", "40px", undefined]);
  labels.write(geometry, { rows: [], cols: [] }, [], { rows: "r", cols: "c" }, places());
  assert.deepEqual([rows.placed, cols.placed, rows.textContent], [3, 3, "r"], "only the words have changed");
  labels.write({ ...geometry, top: 41 }, { rows: [], cols: [] }, [], TITLES, places());
  assert.deepEqual([rows.placed, cols.placed, rows.style.top], [4, 3, "41px"]);
});

test("a label that is lit stays so when its look changes", () => {
  const labels = createLabels();
  const [rows] = /** @type {any[]} */ (labels.elements);
  const names = () => labelsOf(rows).map((/** @type {any} */ { className }) => className.trim());
  const write = (/** @type {boolean} */ pad) => labels.write(GEOMETRY, { rows: [one("a", pad), one("b")], cols: [] }, [], TITLES, places());
  write(false);
  labels.light({ row: 0, col: null });
  labels.light({ row: 0, col: null });
  assert.deepEqual(names(), ["label lit", "label between under"]);
  write(true);
  assert.deepEqual(names(), ["label pad lit", "label between under"]);
  write(true);
  labels.light({ row: null, col: null });
  assert.deepEqual(names(), ["label pad", "label between"]);
});

test("only the labels that have changed are touched", () => {
  const labels = createLabels();
  const [rows, cols] = /** @type {any[]} */ (labels.elements);
  const steps = { rows: [one("a"), one("c")], cols: [one("x")] };
  const touched = () => [...labelsOf(rows), ...labelsOf(cols)].map(({ filled, placed }) => [filled, placed]);
  labels.write(GEOMETRY, steps, [false], TITLES, places());
  labels.write({ ...GEOMETRY }, { rows: [one("a"), one("c")], cols: [one("x")] }, [false], TITLES, places());
  assert.deepEqual(touched(), [[1, 2], [1, 2], [1, 3]], "nothing has changed");
  labels.write(GEOMETRY, { ...steps, rows: [one("b"), one("c")] }, [false], TITLES, places());
  assert.deepEqual(touched(), [[2, 2], [1, 2], [1, 3]], "a word");
  labels.write({ ...GEOMETRY, top: 41 }, { ...steps, rows: [one("b"), one("c")] }, [false], TITLES, places());
  assert.deepEqual(touched(), [[2, 3], [1, 3], [1, 4]], "where they stand");
  labels.write({ ...GEOMETRY, top: 41 }, { ...steps, rows: [one("b"), one("c")] }, [true], TITLES, places());
  assert.deepEqual(touched(), [[2, 3], [1, 3], [1, 5]], "which stand upright");
});

test("the lit row and the lit column are told apart, and only those", () => {
  const labels = createLabels();
  const [rows, cols] = /** @type {any[]} */ (labels.elements);
  const steps = [one("a"), one("b"), one("c")];
  const write = () => labels.write({ ...GEOMETRY, slant: 0 }, { rows: steps, cols: steps }, [false, false, false], TITLES, places(1));
  write();
  const lit = () => [rows, cols].map((side) => labelsOf(side).map((/** @type {any} */ { className }) => className.includes("lit")));
  labels.light({ row: 1, col: 2 });
  write();
  assert.deepEqual(lit(), [[false, true, false], [false, false, true]]);
  labels.light({ row: null, col: 0 });
  assert.deepEqual(lit(), [[false, false, false], [true, false, false]]);
});

test("what would lie on the lit label makes room for it", () => {
  const labels = createLabels();
  const [rows] = /** @type {any[]} */ (labels.elements);
  const steps = ["a", "b", "c", "d"].map((word) => one(word));
  labels.write(GEOMETRY, { rows: steps, cols: [] }, [], TITLES, places());
  const under = () => labelsOf(rows).map((/** @type {any} */ { className }) => className.includes("under"));
  labels.light({ row: 1, col: null });
  assert.deepEqual(under(), [true, false, true, false], "its neighbours");
  labels.light({ row: 3, col: null });
  assert.deepEqual(under(), [false, false, true, false]);
  labels.light({ row: null, col: null });
  assert.deepEqual(under(), [false, false, false, false]);
});

test("text is measured once in each font and size, and not for ever", () => {
  const letters = (/** @type {string} */ font, size = 11) => ({ font, size });
  const small = textRuler(letters("serif"));
  assert.deepEqual([small("cat"), small("cat"), measured], [33, 33, 1]);
  assert.equal(textRuler(letters("serif"))("cat"), 33);
  assert.equal(measured, 1, "another ruler of the same");
  textRuler(letters("sans"))("cat");
  assert.deepEqual([textRuler(letters("serif", 22))("cat"), measured], [66, 3]);
  const large = textRuler(letters("serif", 22));
  for (let n = 0; n < 4096; n++) large(`word ${n}`);
  const before = measured;
  large("word 4095");
  large("word 0");
  assert.equal(measured, before);
  small("cat");
  assert.equal(measured, before + 1, "what nobody asked for in 4096 others is forgotten");
});

test("a long label is cut so that the cells keep their room", () => {
  const label = (/** @type {string} */ word) => ({ reads: null, writes: { space: "·", word, nth: null, lang: "en", special: false } });
  const measure = (/** @type {string} */ text) => 10 * text.length;
  const [short, long] = clippedSteps([label("mat"), label("<0xF0><0x9F><0x98>")], measure, 100);
  assert.equal(short.writes.word, "mat");
  assert.equal(long.writes.word, "<0xF0>…", "84 pixels at least");
  assert.equal(clippedSteps([label("<0xF0><0x9F>")], measure, 1000)[0].writes.word, "<0xF0><0x9F>", "there is room");
});
