import assert from "node:assert/strict";
import { test } from "node:test";

import { parts, translator } from "../../static/js/lib/i18n.js";

test("what is missing in a catalog is said in English", () => {
  const { t } = translator({ "Layer {n}": "第 {n} 层" });
  assert.equal(t("Layer {n}", { n: 2 }), "第 2 层");
  assert.equal(t("Head {n}", { n: 3 }), "Head 3");
});

test("elements stand in the places of a translated message", () => {
  const { t, phrase } = translator({ "{a} looks at {b}": "{b} 被 {a} 看" });
  const node = /** @type {any} */ ({ node: true });
  assert.deepEqual(phrase(t("{a} looks at {b}"), { a: node, b: "x" }), ["x", " 被 ", node, " 看"]);
});

test("an open place stays visible", () => {
  assert.equal(translator({}).t("{seconds} s"), "{seconds} s");
  assert.deepEqual(parts("{a}{b} c"), [{ name: "a" }, { name: "b" }, { text: " c" }]);
});
