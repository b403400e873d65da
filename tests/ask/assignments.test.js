import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import { plainNumbers } from "../../static/js/ask/answer-entry.js";
import { contextOf } from "../../static/js/ask/question-kinds.js";
import { questionsOf } from "../../static/js/assignment/new-assignment.js";
import { randomToken } from "../../static/js/lib/browser.js";
import { assignmentKeys, keepWork, workIn } from "../../static/js/assignment/owned-pages.js";
import { parse } from "../../static/js/core/store/link.js";
import { OPTIONS } from "../../static/js/views/index.js";
import { linkTo } from "../../static/js/views/create-figure.js";

/** @type {Map<string, string>} */
const stored = new Map();

beforeEach(() => {
  stored.clear();
  globalThis.window = /** @type {any} */ ({
    localStorage: {
      getItem: (/** @type {string} */ name) => stored.get(name) ?? null,
      setItem: (/** @type {string} */ name, /** @type {string} */ value) => stored.set(name, value),
      removeItem: (/** @type {string} */ name) => stored.delete(name),
    },
  });
});

const one = (/** @type {string} */ id, title = id) => ({ id, title, key: `key of ${id}` });

test("the assignments of this browser: the last one first, each once, until it is forgotten", () => {
  for (const id of ["a", "b", "a"]) assignmentKeys.remember(one(id));
  assert.deepEqual(assignmentKeys.all().map(({ id }) => id), ["a", "b"]);
  assert.equal(assignmentKeys.keyOf("b"), "key of b");
  assert.equal(assignmentKeys.keyOf("c"), "");
  assignmentKeys.forget("a");
  assert.deepEqual(assignmentKeys.all(), [one("b")]);
  stored.set("assignments", '{"not": "a list"}');
  assert.deepEqual(assignmentKeys.all(), []);
});

test("a student's work is the same after a reload, and another one where it does not fit", () => {
  assert.deepEqual(workIn("a", 2, () => "token-1"), { member: "token-1", nickname: "", answers: [null, null], sent: [false, false] });
  const work = { member: "token-1", nickname: "Mei", answers: [null, ["3"]], sent: [false, true] };
  keepWork("a", work);
  assert.deepEqual(workIn("a", 2, () => "token-2"), work);
  assert.equal(workIn("b", 2, () => "token-2").member, "token-2");
  assert.deepEqual(workIn("a", 3, () => "token-3").answers, [null, null, null]);
  stored.set("assignment-work-a", "{");
  assert.equal(workIn("a", 2, () => "token-4").member, "token-4");
});

test("a token is one that the server accepts, and never the same", () => {
  const tokens = Array.from({ length: 50 }, randomToken);
  for (const token of tokens) assert.match(token, /^[a-z0-9]{28}$/);
  assert.equal(new Set(tokens).size, 50);
});

test("numbers are sent as a program reads them", () => {
  assert.deepEqual(plainNumbers(["1/2", "０．５", "−2", " 3 ", "x"]), ["0.5", "0.5", "-2", "3", "x"]);
});

const MODEL = /** @type {any} */ ({
  texts: ["source", "target"],
  attentions: [{ place: "decoder.0.cross", stack: "decoder", layer: 0, kind: "cross", query: "target", key: "source", heads: 1, mask: "padding" }],
});
const CAUSAL = { place: "decoder.0.self", stack: "decoder", layer: 0, kind: "self", query: "target", key: "target", heads: 1, mask: "causal" };
MODEL.attentions.unshift(CAUSAL);
const token = (/** @type {number} */ start, /** @type {number} */ end) => ({ text: "", id: 1, start, end, special: false });

/** @param {string} kind @param {object} [more] */
function asked(kind, more = {}) {
  const link = "source=The+cat&block=cross&query=1";
  const trace = { direction: "en-zh", tokens: { source: [token(0, 3), token(3, 7)], target: [token(0, 0), token(0, 1), token(1, 2)] }, output: { text: "猫睡。" } };
  return /** @type {any} */ ({ question: { kind, link, ...more }, state: { ...linkTo(), ...parse(link, OPTIONS) }, model: async () => MODEL, run: async () => trace });
}

/** @param {any[]} described */
const text = (described) => described.map((child) => (typeof child === "string" ? child : child.children.join(""))).join("");

test("a question shows the sentence, and no more of what is written than it may", async () => {
  assert.equal(text(await contextOf(asked("looks"))), "The cat");
  assert.equal(text(await contextOf(asked("next"))), "The cat → 猫 …");
  assert.equal(text(await contextOf(asked("off"))), "The cat → 猫睡。");
  assert.deepEqual(await contextOf(asked("row", { page: "lab", words: "Which row?" })), []);
  assert.deepEqual(await contextOf(asked("number", { value: 7 })), []);
});

test("of a single text only what is before the row is shown, if the next token is asked", async () => {
  const model = { texts: ["text"], attentions: [{ ...CAUSAL, query: "text", key: "text" }] };
  const link = "source=The+cat+sat&block=decoder&query=1";
  const trace = { direction: null, tokens: { text: [token(0, 3), token(3, 7), token(7, 11)] }, output: { text: "" } };
  const about = (/** @type {string} */ kind) => /** @type {any} */ ({ question: { kind, link }, state: { ...linkTo(), ...parse(link, OPTIONS) }, model: async () => model, run: async () => trace });
  assert.equal(text(await contextOf(about("next"))), "The cat …");
  assert.equal(text(await contextOf(about("looks"))), "The cat sat");
});

test("questions are those of a link, or of everything in a collection that still exists", async () => {
  const question = (/** @type {string} */ link) => ({ kind: "looks", link, page: "workspace" });
  const api = /** @type {any} */ ({
    readCollection: async (/** @type {string} */ id) => ({ title: `collection ${id}`, items: [{ link: "/learn/a" }, { link: "/s/gone" }, { link: "/learn/b" }] }),
    async link(/** @type {string} */ link) {
      if (link === "/s/gone") throw new Error("gone");
      return { title: `title of ${link}`, questions: [question(`source=${link}`)] };
    },
  });
  assert.deepEqual(await questionsOf(api, "/learn/a", "en"), { title: "title of /learn/a", questions: [question("source=/learn/a")] });
  const both = { title: "collection abc", questions: [question("source=/learn/a"), question("source=/learn/b")] };
  for (const link of ["/c/abc", "https://school.example/headlight/c/abc?lang=zh", " /c/abc#edit"]) assert.deepEqual(await questionsOf(api, link, "en"), both);
  await assert.rejects(questionsOf(api, "/s/gone", "en"));
});

test("what the owner of a collection asks is taken with its key, after what its links ask", async () => {
  const written = { kind: "open", link: "", words: "Why?" };
  const items = [{ link: "/s/gone", questions: [{ entry: "text", ask: written }] }, { link: "/learn/a" }];
  const api = /** @type {any} */ ({
    link: async (/** @type {string} */ link) => (link === "/s/gone" ? Promise.reject(new Error("gone")) : { title: link, questions: [{ kind: "looks", link: "source=a" }] }),
    readCollection: async (/** @type {string} */ _, /** @type {string} */ key) => ({ title: "Mine", items: key === "key of abc" ? items : items.map(({ link }) => ({ link })) }),
  });
  const kinds = async () => (await questionsOf(api, "/c/abc", "en")).questions.map(({ kind }) => kind);
  assert.deepEqual(await kinds(), ["looks"]);
  stored.set("collections", JSON.stringify([one("abc")]));
  assert.deepEqual(await kinds(), ["open", "looks"]);
});
