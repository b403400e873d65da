import assert from "node:assert/strict";
import { test } from "node:test";

import { continuesAt, counted, logprob, outputKind, rowOf, writtenTokens } from "../../static/js/core/wire/reply.js";
import { token } from "../js/trace.js";

const DECODER = { texts: ["text"], mask: "" };
const ENCODER = { texts: ["text"], mask: "[MASK]" };
const OUTPUT = { text: "", tokens: ["a", "b", "c"].map((text) => token(text)), logprobs: [-1, -2, -0.5], score: 0, finished: false };

test("an output is a translation, what else an encoder–decoder writes, a text or what stands at masks", () => {
  const two = { texts: ["source", "target"] };
  const kinds = [{ ...two, languages: ["en", "zh"] }, { ...two, languages: [] }, DECODER, ENCODER].map(outputKind);
  assert.deepEqual(kinds, ["translation", "output", "text", "mask"]);
});

test("a text continues at a token; what is before it was given", () => {
  const output = { ...OUTPUT, continues: 2 };
  assert.equal(continuesAt(DECODER, output), 2);
  assert.equal(continuesAt(DECODER, OUTPUT), 0, "of a text of one token, all of it");
  assert.equal(continuesAt(ENCODER, OUTPUT), Infinity);
  assert.deepEqual(writtenTokens(output).map(({ text }) => text), ["c"]);
  assert.deepEqual(writtenTokens(OUTPUT), OUTPUT.tokens);
  assert.equal(logprob(output), -3.5);
});

test("the template of a chat is not counted", () => {
  const tokens = [true, false, false, true, false].map((template) => ({ ...token("a"), template }));
  const output = { ...OUTPUT, tokens, logprobs: [-100, -1, -2, -10, -0.5], continues: 4 };
  assert.deepEqual(counted(output), [1, 2, 4]);
  assert.equal(logprob(output), -3.5);
  const ended = { ...output, tokens: [...tokens.slice(0, 4), token("</s>", true)] };
  assert.equal(logprob(ended), -3.5, "of an answer, its end too");
  assert.equal(logprob({ ...OUTPUT, tokens: tokens.slice(1, 4).map((one) => ({ ...one, template: undefined })) }), -3.5, "of an older share");
});

test("masks are predicted by their rows", () => {
  assert.equal(rowOf({ ...OUTPUT, rows: [4, 7, 9] }, 1), 7);
  assert.equal(rowOf({ ...OUTPUT, rows: [] }, 1), 1);
  assert.equal(rowOf(OUTPUT, 2), 2);
});
