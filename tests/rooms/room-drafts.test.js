import assert from "node:assert/strict";
import { test } from "node:test";

import { createDrafts, identity } from "../../static/js/room/room-storage.js";

/** @typedef {import("../../static/js/core/wire/schemas.d.ts").QuestionReply["entry"]} Entry */

/** @param {number} n @param {string} name @param {Entry} [entry] @returns {any} */
const question = (n, name, entry = "choice") => ({ n, entry, ask: { kind: "looks", link: `source=${name}` } });

/** A member whose page can be loaded again: only what is stored lasts. */
function member() {
  let stored = "{}";
  const storage = { read: () => JSON.parse(stored), write: (/** @type {any} */ drafts) => void (stored = JSON.stringify(drafts)) };
  return { load: () => createDrafts(storage), size: () => Object.keys(storage.read()).length };
}

// Every order of what a presenter and a member can do, against what the member would say is theirs:
// what they entered last for a question, until that question is revealed.

const STEPS = ["ask A", "ask B", "end", "reveal", "second vote", "reload", "enter", "send"];
/** After the first question: before it nothing can be done, and A and B are alike. */
const LENGTH = 5;

/** @param {string[]} steps @param {Entry} entry */
function walk(steps, entry) {
  const { load } = member();
  let drafts = load();
  let [n, entered] = [0, 0];
  /** @type {any} */
  let open = null;
  let revealed = false;
  /** @type {Map<string, {answer: string, lastsTo: number}>} */
  const own = new Map(); // lastsTo: the question after which nothing is offered
  /** @type {Map<number, string>} */
  const sent = new Map();
  for (const step of steps) {
    const name = open?.ask.link;
    if (step.startsWith("ask")) [open, revealed] = [question(++n, step, entry), false];
    else if (step === "reload") drafts = load();
    else if (!open) continue;
    else if (step === "end") open = null;
    else if (revealed) continue;
    else if (step === "enter") {
      const answer = `answer ${++entered}`;
      drafts.enter(open, [answer]);
      own.set(name, { answer, lastsTo: Infinity });
    } else if (step === "send") {
      const answer = drafts.offered(open)?.answer[0];
      if (!answer) continue;
      drafts.send(open, answer);
      sent.set(n, answer);
      if (entry === "text") own.set(name, { answer, lastsTo: n });
    } else if (step === "reveal") {
      revealed = true;
      drafts.close(open);
      const answer = own.get(name);
      if (answer) answer.lastsTo = Math.min(answer.lastsTo, n);
    }
    if (!open) continue;
    const expected = own.get(open.ask.link);
    const offered = expected && n <= expected.lastsTo ? expected.answer : undefined;
    assert.equal(drafts.offered(open)?.answer[0], offered, steps.join(", "));
    assert.equal(drafts.sent(open), sent.get(n) ?? "", steps.join(", "));
  }
}

for (const entry of /** @type {Entry[]} */ (["choice", "text"]))
  test(`nothing entered is lost in any order of ${LENGTH} steps after a question: ${entry}`, () => {
    const steps = Array(LENGTH).fill("");
    for (let order = 0; order < STEPS.length ** LENGTH; order++) {
      for (let i = 0, rest = order; i < LENGTH; i++, rest = Math.floor(rest / STEPS.length)) steps[i] = STEPS[rest % STEPS.length];
      walk(["ask A", ...steps], entry);
    }
  });

test("a question is the same with another number and with its answer, and no other is", () => {
  const asked = question(1, "Hi");
  assert.equal(identity(asked), identity({ ...question(7, "Hi"), ask: { ...asked.ask, value: 3, within: 0.1 } }));
  const others = [question(1, "Ho"), question(1, "Hi", "text"), { ...asked, ask: { ...asked.ask, row: 1 } }];
  for (const other of others) assert.notEqual(identity(asked), identity(other));
});

test("an incomplete answer of several fields is kept as it was typed", () => {
  const { load } = member();
  load().enter(question(1, "row", "numbers"), ["0,3", "", "x"]);
  assert.deepEqual(load().offered(question(2, "row", "numbers"))?.answer, ["0,3", "", "x"]);
});

test("the oldest drafts make room for new ones", () => {
  const { load, size } = member();
  for (let n = 1; n <= 70; n++) load().enter(question(n, `question ${n}`), ["1"]);
  assert.equal(size(), 60);
  assert.equal(load().offered(question(71, "question 1")), null);
  assert.ok(load().offered(question(71, "question 70")));
});
