import assert from "node:assert/strict";
import { test } from "node:test";

import { maskedSaid, windowSaid } from "../../static/js/core/store/model-part-names.js";
import { translator } from "../../static/js/lib/i18n.js";

const { t } = translator({});

test("a window is named by what a query sees", () => {
  assert.equal(windowSaid(t, "padding"), null);
  assert.equal(windowSaid(t, "causal"), null);
  assert.equal(windowSaid(t, "window-3"), "window: 2 to each side");
  assert.equal(windowSaid(t, "causal & window-3"), "window: itself and 2 before");
  assert.equal(windowSaid(t, "window-1"), "window: itself only");
});

test("a masked cell says which rule hides it", () => {
  const rule = "causal & window-3";
  assert.match(maskedSaid(t, rule, { query: 1, key: 2 }), /later/);
  assert.match(maskedSaid(t, rule, { query: 5, key: 2 }), /last 3/);
  assert.match(maskedSaid(t, "window-3", { query: 2, key: 5 }), /3 or more/);
  assert.match(maskedSaid(t, "padding", { query: 2, key: 5 }), /may not look there/);
  assert.match(maskedSaid(t, rule, { query: null, key: 5 }), /may not look there/);
});
