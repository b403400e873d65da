import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ROOMS, missing, testFile } from "./mutants.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("every file and every test that mutants are made for is there", () => {
  assert.deepEqual(missing(ROOT, ROOMS), []);
});

test("what is not there is named", () => {
  const rooms = { "core/store/gone.js": ["link", "frozen"], "core/store/link.js": ["link"] };
  assert.deepEqual(missing(ROOT, rooms), ["static/js/core/store/gone.js", "tests/*/frozen.test.js"]);
});

test("a file is held by the tests that have its name", () => {
  for (const [file, tests] of Object.entries(ROOMS)) {
    const own = /([^/]+)\.js$/.exec(file)?.[1] ?? "";
    if (existsSync(join(ROOT, testFile(ROOT, own)))) assert.ok(tests.includes(own), file);
  }
});
