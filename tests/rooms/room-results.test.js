import assert from "node:assert/strict";
import { test } from "node:test";

import { answerTable, classAnswers, voteSummary, voteTable } from "../../static/js/room/vote-results.js";
import { translator } from "../../static/js/lib/i18n.js";

/** @import { Results } from "../../static/js/core/wire/schemas.d.ts" */

const { t } = translator({});

/** @param {Partial<Results>} [some] @returns {Results} */
const results = (some) => ({ count: 0, chosen: {}, mean: [], right: null, distance: null, rows: [], ...some });
const NONE = results();
const FIRST = results({ count: 5, chosen: { 1: 4, 2: 1 }, right: 1 });
const SECOND = results({ count: 4, chosen: { 2: 4 }, right: 4 });

/** The text of what is described. @param {any} child @returns {string} */
function text(child) {
  if (Array.isArray(child)) return child.map(text).join("");
  if (child && typeof child === "object") return text(child.children);
  return child ? String(child) : "";
}

/** All that is described with a tag. @param {any} child @param {string} tag @returns {any[]} */
const all = (child, tag) => [...(child?.tag === tag ? [child] : []), ...(child?.children ?? []).flatMap((/** @type {any} */ one) => all(one, tag))];

const lines = (/** @type {Results} */ first, /** @type {Results} */ second) => voteSummary(t, { first, second }).filter(Boolean).map(text);

test("each vote has a line with its count and how many were right", () => {
  assert.deepEqual(lines(FIRST, SECOND), ["First vote 5 answered · 1 right", "Second vote 4 answered · 4 right"]);
  assert.deepEqual(lines(FIRST, NONE), ["First vote 5 answered · 1 right"]);
});

test("nobody right is said; what has no right answer has no number of right ones", () => {
  assert.deepEqual(lines(results({ count: 2, right: 0 }), NONE), ["First vote 2 answered · 0 right"]);
  assert.deepEqual(lines(results({ count: 2 }), NONE), ["First vote 2 answered"]);
});

test("rows of numbers have their mean distance, also if it is 0", () => {
  assert.deepEqual(lines(results({ count: 3, distance: 0.127 }), NONE), ["First vote 3 answered · mean distance from the model’s row 0.13"]);
  assert.match(lines(results({ count: 3, distance: 0 }), NONE)[0], /row 0$/);
});

test("without answers it says so, once", () => {
  assert.deepEqual(lines(NONE, NONE), ["Nobody has answered."]);
});

test("both votes are side by side, with a bar of the vote's own share", () => {
  const choices = [{ id: "1", label: "The" }, { id: "2", label: "cat" }, { id: "3", label: "sat" }];
  const table = voteTable(t, choices, { first: FIRST, second: SECOND });
  const [head, ...rows] = all(table, "tr");
  assert.deepEqual(all(head, "th").map(text), ["Answer", "First vote", "Second vote"]);
  assert.deepEqual(rows.map((row) => [text(all(row, "th")), ...all(row, "td").map(text)]), [["The", "4", "0"], ["cat", "1", "4"], ["sat", "0", "0"]]);
  const widths = rows.map((row) => all(row, "span").flatMap(({ props }) => props.style?.width ?? []));
  assert.deepEqual(widths, [["80%", "0%"], ["20%", "100%"], ["0%", "0%"]]);
});

test("a vote that nobody took part in has no column", () => {
  const [head, row] = all(voteTable(t, [{ id: "1", label: "The" }], { first: FIRST, second: NONE }), "tr");
  assert.deepEqual(all(head, "th").map(text), ["Answer", "First vote"]);
  assert.deepEqual(all(row, "span").flatMap(({ props }) => props.style?.width ?? []), ["80%"]);
});

test("of many choices, only those that someone chose are listed", () => {
  const choices = Array.from({ length: 9 }, (_, i) => ({ id: String(i), label: `token ${i}` }));
  const [, ...rows] = all(voteTable(t, choices, { first: FIRST, second: SECOND }), "tr");
  assert.deepEqual(rows.map((row) => text(all(row, "th"))), ["token 1", "token 2"]);
});

test("of a number, each that was given is listed in order, of several fields none", () => {
  const [first, second] = [results({ count: 3, chosen: { 10: 1, "-2.5": 2 } }), results({ count: 1, chosen: { 9: 1 } })];
  const listed = (/** @type {import("../../static/js/ask/question.js").Choice[]} */ fields) => all(answerTable(t, "numbers", fields, { first, second }), "tr").slice(1).map(text);
  assert.deepEqual(listed([{ id: "0", label: "Number" }]), ["−2.520", "901", "1010"]);
  assert.deepEqual(listed([{ id: "0", label: "a" }, { id: "1", label: "b" }]), []);
});

test("the answers are shown as the prediction shows them: choices one by one, numbers as their mean", () => {
  assert.deepEqual(classAnswers("choice", FIRST), [["1"], ["1"], ["1"], ["1"], ["2"]]);
  assert.deepEqual(classAnswers("numbers", results({ count: 2, mean: [0.25, 0.75] })), [["0.25", "0.75"]]);
  assert.deepEqual(classAnswers("choice", NONE), []);
  assert.deepEqual(classAnswers("numbers", results({ mean: [0] })), []);
});

test("answers that are not among the most frequent are counted in words", () => {
  assert.deepEqual(lines(results({ count: 60, chosen: { 1: 21 }, others: 39 }), NONE), ["First vote 60 answered · 39 gave rarer answers"]);
  assert.deepEqual(lines(results({ count: 2, chosen: { 1: 2 }, others: 0 }), NONE), ["First vote 2 answered"]);
});
