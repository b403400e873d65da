import assert from "node:assert/strict";
import { test } from "node:test";

import { createApi } from "../../static/js/core/wire/api.js";
import { Problem } from "../../static/js/core/wire/reply.js";
import { wording } from "../../static/js/core/figure/problem-wording.js";
import { translator } from "../../static/js/lib/i18n.js";

/** @param {object} document  of the problem @param {number} status */
async function answered(document, status) {
  const api = createApi(async () => Response.json(document, { status }));
  return /** @type {Promise<Problem>} */ (api.share({ state: {}, select: [], asks: [] }).catch((error) => error));
}

test("what is too long is said with its numbers, in either language", async () => {
  const problem = await answered(
    { type: "urn:headlight:text-too-long", field: "source", detail: "", limit: 128, unit: "tokens", value: 140 },
    422,
  );
  assert.deepEqual({ ...problem.excess }.limit, 128);
  const { t } = translator({});
  assert.equal(
    wording(t, problem),
    "The sentence is too long: 140 of at most 128 tokens. Shorten it, or run its parts one by one.",
  );
});

test("where nobody counted, no number is made up", async () => {
  const problem = await answered({ type: "urn:headlight:body-too-large", detail: "", limit: 100000, unit: "bytes" }, 413);
  const { t } = translator({});
  assert.equal(wording(t, problem), "The sentence is too long. Shorten it, or run its parts one by one.");
});

test("a problem without a limit has none", async () => {
  const problem = await answered({ type: "urn:headlight:empty-text", detail: "" }, 422);
  assert.equal(problem.excess, null);
});
