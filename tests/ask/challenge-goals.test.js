import assert from "node:assert/strict";
import { test } from "node:test";

import {
  emptyGoal, goalOf, goalWords, ruleSentences, verdictWords, wordsOf, workLink,
} from "../../static/js/ask/own-questions.js";
import { emptyDraft, questionOf } from "../../static/js/ask/own-question-form.js";
import { translator } from "../../static/js/lib/i18n.js";

/** @import { Goal } from "../../static/js/core/wire/schemas.d.ts" */

globalThis.document ??= /** @type {any} */ ({ documentElement: { lang: "en" } });
const { t } = translator({});
const LINK = "source=The+cat+sleeps.&block=encoder&layer=1&head=2";

/** @param {Partial<Goal>} some */
const asked = (some) => ({ kind: "does", link: LINK, page: /** @type {const} */ ("workspace"), words: "", goal: { kind: /** @type {const} */ ("weight"), least: 0.5, words: [], free: [/** @type {const} */ ("sentence")], uses: [], one_word: false, ...some } });

test("a goal has what its kind is about, and nothing of the others", () => {
  const typed = { ...emptyGoal(), key: " it ", query: "animal", least: "0,6", words: "a, b", uses: "it，animal", oneWord: true };
  assert.deepEqual(goalOf(typed), { kind: "weight", key: "it", query: "animal", least: 0.6, words: [], free: ["sentence"], uses: ["it", "animal"], one_word: true });
  const written = { ...typed, kind: /** @type {const} */ ("contains"), free: [/** @type {const} */ ("change")] };
  assert.deepEqual(goalOf(written), { kind: "contains", least: 0.5, words: ["a", "b"], free: ["change"], uses: [], one_word: false });
});

test("what is missing of a goal is named", () => {
  const goal = { ...emptyGoal(), key: "it" };
  assert.deepEqual(goalOf({ ...goal, key: " " }), { missing: "word" });
  for (const least of ["", "0", "1.1", "-1", "x", "Infinity"]) assert.deepEqual(goalOf({ ...goal, least }), { missing: "least" });
  assert.deepEqual(goalOf({ ...goal, kind: "lacks", words: " , " }), { missing: "word" });
  assert.deepEqual(goalOf({ ...goal, kind: "any", key: "" }), { kind: "any", least: 0.5, words: [], free: ["sentence"], uses: [], one_word: false });
});

test("a challenge needs words of its own only if nothing else says what to do", () => {
  const draft = { ...emptyDraft(), kind: /** @type {const} */ ("does"), goal: { ...emptyGoal(), key: "it" } };
  const question = questionOf(draft, "en", (items) => items);
  assert.ok(!("missing" in question));
  assert.deepEqual([question.entry, question.ask.goal?.key, wordsOf(question.ask)], ["work", "it", ""]);
  assert.deepEqual(questionOf({ ...draft, goal: { ...emptyGoal(), kind: "any" } }, "en", (items) => items), { missing: "words" });
  assert.deepEqual(questionOf({ ...draft, goal: emptyGoal() }, "en", (items) => items), { missing: "word" });
});

test("a goal is said with its head, its rules, and what can be chosen", () => {
  const typed = asked({ key: "it", query: "cat", uses: ["cat"], one_word: true });
  assert.equal(goalWords(t, typed), "Encoder · Layer 2, head 3: the row of “cat” gives “it” at least 0.50 of its weight.");
  assert.deepEqual(ruleSentences(t, typed), ["The sentence has “cat”.", "Change one word only of: The cat sleeps."]);
  const ofAnyHead = asked({ kind: "strongest", key: "it", free: ["head", "change"] });
  assert.equal(goalWords(t, ofAnyHead), "A head of your choice: the largest weight of all goes to “it”.");
  assert.deepEqual(ruleSentences(t, ofAnyHead), ["You choose: the head, changes of the model."]);
  assert.equal(goalWords(t, asked({ kind: "any" })), "");
});

test("a verdict says why", () => {
  const run = { does: false, rewritten: false, weight: 0.312, strongest: "<eos>" };
  assert.equal(verdictWords(t, asked({ key: "it" }), run), "✗ It does not do it. “it” gets 0.31 at most; the largest weight goes to “<eos>”.");
  assert.equal(verdictWords(t, asked({ key: "it" }), { does: false, rewritten: false, missing: "it" }), "✗ It does not do it. “it” is not in it.");
  assert.equal(verdictWords(t, asked({ kind: "contains" }), { does: true, rewritten: false, output: "河岸" }), "✓ It does it. The model writes: 河岸");
  assert.equal(verdictWords(t, asked({ kind: "any" }), { does: null, rewritten: false }), "");
});

test("a work is a link of the workspace, also of a figure within a lesson", () => {
  assert.equal(workLink(`/?${LINK}`), `/?${LINK}`);
  assert.equal(workLink(`/learn/heads?shows=${encodeURIComponent(LINK)}#figure-1`), `/?${LINK}`);
  assert.equal(workLink("/learn/heads#figure-1"), null);
  assert.equal(workLink("/?source=+"), null);
  assert.equal(workLink(`/?source=${"x".repeat(2_000)}`), null);
  assert.match(workLink("/?source=你 \\ #") ?? "", /^\/\?[^\s#\\]*$/);
});
