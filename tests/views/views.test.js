import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULTS } from "../../static/js/core/store/link.js";
import { VIEWS } from "../../static/js/views/index.js";

const WORDS = ["", "0", "1", "7", "64", "0,2", "3-9", "head", "log", "reads", "words of mine"];

test("views that share a key of the link mean the same by it, and none is the link's own", () => {
  /** @type {Map<string, string>} */
  const meanings = new Map();
  for (const { id, options = {} } of VIEWS)
    for (const [name, { initial, read }] of Object.entries(options)) {
      const meaning = JSON.stringify([initial, WORDS.map((words) => read(words) ?? null)]);
      assert.equal(meanings.get(name) ?? meaning, meaning, `${name} of ${id}`);
      meanings.set(name, meaning);
      assert.ok(!(name in DEFAULTS), name);
      assert.match(name, /^[a-z_]{1,20}$/);
    }
});

test("a view has an id and a paragraph of its own", () => {
  const said = VIEWS.map(({ id, about }) => [id, about((text) => text)]);
  assert.equal(new Set(said.flat()).size, 2 * VIEWS.length);
});
