import assert from "node:assert/strict";
import { test } from "node:test";

import { createServerClock } from "../../static/js/core/wire/connection.js";
import { BURST, PER_SECOND, createBudget, figureState } from "../../static/js/room/work-tiles.js";
import { clockTime } from "../../static/js/room/question.js";

test("a timer of a minute begins with 1:00 and ends with 0:00", () => {
  assert.deepEqual([60, 59.2, 59, 0.1, 0, -3].map(clockTime), ["1:00", "1:00", "0:59", "0:01", "0:00", "0:00"]);
});

test("the server's clock counts, not a wrong one of the phone", () => {
  let local = 1_000_000;
  const clock = createServerClock(() => local);
  clock.hear(new Response("", { headers: { Date: "Sun, 29 Nov 2026 10:00:00 GMT" } }));
  local += 10_000;
  assert.equal(clock.now(), Date.UTC(2026, 10, 29, 10, 0, 10, 500) / 1000);
  clock.hear(new Response(""));
  assert.equal(clock.now(), Date.UTC(2026, 10, 29, 10, 0, 10, 500) / 1000);
});

test("a wall of figures requests a burst, then fewer than one run per second", () => {
  let now = 0;
  const allows = createBudget(() => now);
  const granted = () => Array.from({ length: 200 }, allows).filter(Boolean).length;
  assert.equal(granted(), BURST);
  assert.equal(granted(), 0);
  now += 10_000;
  assert.equal(granted(), Math.floor(10 * PER_SECOND));
  now += 3_600_000;
  assert.equal(granted(), BURST);
});

test("the figure of a link is that of its page, or of the state of a lesson's figure", () => {
  assert.equal(figureState("/?source=Hi&layer=1&head=3")?.head, 3);
  assert.equal(figureState("/learn/scaling?shows=source%3DHi%26layer%3D2#figure-1")?.layer, 2);
  assert.equal(figureState("/?view=attention#source=A+long+text")?.source, "A long text");
  assert.equal(figureState("/lab?x=1"), null);
  assert.equal(figureState("/learn/scaling"), null);
});
