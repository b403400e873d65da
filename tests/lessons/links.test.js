/** Links of lessons: a parameter that a figure does not read would be ignored without a word. */

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { DEFAULTS } from "../../static/js/core/store/link.js";
import { FORMULAS } from "../../static/js/lab/formulas/formula.js";
import { CHOICES, NAMES } from "../../static/js/lab/matrices.js";
import { OPTIONS } from "../../static/js/views/index.js";

const t = (/** @type {string} */ text) => text;
const LESSONS = new URL("../../lessons/", import.meta.url);
const WORKSPACE = new Set([...Object.keys(DEFAULTS), ...Object.keys(OPTIONS), "opening"]);
const LAB = new Set([...NAMES, ...Object.keys(CHOICES), "convention", "heads", "window", "shift", "smoothing", "fractions", "order", "hidden", "tokens", "memory_tokens"]);
const ZOO = new Set(["task", "models", "length", "seed"]);

/** The parameters that a link's figure reads; null: another test knows them. @param {URL} link */
function readBy({ pathname, searchParams }) {
  const formula = FORMULAS[searchParams.get("show") ?? ""];
  if (pathname === "/lab" && formula) return new Set(["show", ...formula.fields(t).map(({ name }) => `f_${name}`)]);
  return { "/": WORKSPACE, "/lab": LAB, "/zoo": ZOO }[pathname] ?? null;
}

/** @param {string} text  a link @returns {string[]}  its parameters that are not read */
function unreadIn(text) {
  const link = new URL(text, "http://localhost");
  const names = readBy(link);
  return names ? [...link.searchParams.keys()].filter((name) => !names.has(name)) : [];
}

/** The links of the figures and questions of all lessons, in both languages. */
const LINKS = readdirSync(LESSONS, { recursive: true })
  .filter((file) => /\/(en|zh)\.md$/.test(String(file)))
  .flatMap((file) => [...readFileSync(new URL(String(file), LESSONS), "utf8").matchAll(/^(?:instead: )?(\/(?:lab|zoo|train)?\?\S+)$/gm)].map(([, link]) => link));

test("a figure reads every parameter of its link", () => {
  assert.ok(LINKS.length > 150);
  for (const link of LINKS) assert.deepEqual(unreadIn(link), [], link);
});

test("a parameter that nothing reads is found", () => {
  assert.deepEqual(unreadIn("/lab?show=why&seed=7"), ["seed"]);
  assert.deepEqual(unreadIn("/lab?show=encoding&f_dk=7"), ["f_dk"]);
  assert.deepEqual(unreadIn("/?source=a&headz=2"), ["headz"]);
  assert.deepEqual(unreadIn("/lab?x=1&w_q=1&masks=causal"), ["masks"]);
  assert.deepEqual(unreadIn("/zoo?task=sort&lengths=3"), ["lengths"]);
});
