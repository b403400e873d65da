import assert from "node:assert/strict";
import { test } from "node:test";

import { cellCounts, cellPicker } from "../../static/js/ask/cells.js";
import { emptyDraft, questionOf } from "../../static/js/ask/own-question-form.js";
import { translator } from "../../static/js/lib/i18n.js";
import { el } from "../../static/js/lib/dom.js";
import { spreadOf } from "../../static/js/room/vote-results.js";

const { t } = translator({});
const WEIGHTS = [[0.9, Number.NaN], [0.25, 0.75], [0.5, 0.5]];
const [ROWS, COLUMNS] = [["a", "b", "c"], ["x", "y"]];
const CHOICES = WEIGHTS.flatMap((weights, i) =>
  weights.map((weight, j) => {
    const [rowLabel, columnLabel] = [el("span", {}, ROWS[i]), el("span", {}, COLUMNS[j])];
    return { id: `${i} ${j}`, label: "", cell: { row: i, column: j, rowLabel, columnLabel, weight } };
  }),
);

/** All that is described with a tag. @param {any} child @param {string} tag @returns {any[]} */
const all = (child, tag) => [...(child?.tag === tag ? [child] : []), ...(child?.children ?? []).flatMap((/** @type {any} */ part) => all(part, tag))];
/** @param {any} child @returns {string} */
const text = (child) => (child && typeof child === "object" ? child.children.map(text).join("") : child ? String(child) : "");

test("a class's heat map has a row for each query, shares of the cell chosen most, and the right cell marked", () => {
  const table = cellCounts(t, CHOICES, { name: "First vote", chosen: { "1 0": 1, "2 1": 4 }, count: 5 }, ["1 0"]);
  const rows = all(table, "tr").slice(1);
  assert.deepEqual(rows.map((row) => all(row, "th").map(text).concat(all(row, "td").map(text))), [["a", "", ""], ["b", "1✓", ""], ["c", "", "4"]]);
  assert.deepEqual(rows.map((row) => all(row, "td").map(({ props }) => props.style["--share"])), [["0", "0"], ["0.25", "0"], ["0", "1"]]);
  assert.equal(cellCounts(t, CHOICES, { name: "", chosen: {}, count: 0 }, []), null);
});

test("a masked cell cannot be chosen; one cell at a time is reached by Tab, the others by arrows", () => {
  /** @type {string[]} */
  const taken = [];
  const table = cellPicker(t, CHOICES.map((choice) => ({ ...choice, label: el("span", {}) })), { chosen: ["1 1"], fixed: false, choose: (id) => taken.push(id) });
  const buttons = all(table, "button");
  assert.deepEqual(buttons.map(({ props }) => props["data-cell"]), ["0 0", "1 0", "1 1", "2 0", "2 1"]);
  assert.deepEqual(buttons.filter(({ props }) => props.tabIndex === 0).map(({ props }) => props["data-cell"]), ["1 1"]);
  buttons[3].props.onclick();
  assert.deepEqual(taken, ["2 0"]);
});

test("right cells of another figure do not count; without a figure the question is not whole", () => {
  const figure = { link: "source=Hi", axes: { rows: ROWS, columns: COLUMNS } };
  const draft = { ...emptyDraft(), kind: /** @type {const} */ ("point"), words: "Where?", point: { link: "source=Hi", cells: ["1 0"] } };
  const plain = { kind: "point", link: "source=Hi", words: "Where?", axes: figure.axes };
  assert.deepEqual(questionOf(draft, "en", (items) => items, figure), { entry: "cell", ask: { ...plain, cells: ["1 0"] } });
  assert.deepEqual(questionOf({ ...draft, point: { link: "source=Ho", cells: ["1 0"] } }, "en", (items) => items, figure), { entry: "cell", ask: plain });
  assert.deepEqual(questionOf(draft, "en", (items) => items), { missing: "figure" });
});

test("the teacher's own count of a vote judges cells", () => {
  const votes = ["1 0", "2 1", "1 0"].map((id) => ({ vote: "first", answer: [id] }));
  assert.deepEqual(spreadOf("cell", votes, "first", { right: ["1 0"] }), { count: 3, right: 2, answerCounts: [["1 0", 2], ["2 1", 1]] });
});
