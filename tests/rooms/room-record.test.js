import assert from "node:assert/strict";
import { test } from "node:test";

import { presentedLinks } from "../../static/js/room/members.js";

/** States, each with the seconds at which it was presented. @param {...[number, string]} shown */
const states = (...shown) => shown.map(([at, link], i) => ({ seq: i + 1, at: 1000 + at, link }));
const links = (/** @type {ReturnType<typeof states>} */ shown, /** @type {Record<string, string[]>} */ collections = {}) => presentedLinks(shown, collections).map(({ link }) => link);

test("of links in a row about the same text, the one that was shown longest stays", () => {
  const shown = states([0, "/?source=Hi&layer=0"], [2, "/?source=Hi&layer=1"], [60, "/?source=Hi&layer=2"], [61, "/?source=Bye"], [90, "/?source=Hi&layer=2"]);
  assert.deepEqual(presentedLinks(shown), [
    { link: "/?source=Hi&layer=1", at: 0 },
    { link: "/?source=Bye", at: 61 },
    { link: "/?source=Hi&layer=2", at: 90 },
  ]);
});

test("a long text is in the fragment", () => {
  assert.deepEqual(links(states([0, "/?view=heads#source=Long"], [9, "/?view=lines#source=Long"])), ["/?view=lines#source=Long"]);
});

test("of a lesson, figures are items, and what the teacher changed in one is a link of its own", () => {
  const shown = states([0, "/learn/masks"], [5, "/learn/masks#figure-1"], [9, "/learn/masks?shows=source%3DOwn%26layer%3D2#figure-1"], [20, "/learn/order?shows=x%3D1_0%26w_q%3D1#figure-2"], [30, "/learn/masks#question-2"]);
  assert.deepEqual(links(shown), ["/learn/masks", "/learn/masks#figure-1", "/?source=Own&layer=2", "/lab?x=1_0&w_q=1", "/learn/masks"]);
});

test("a formula and models of the zoo stay in their lesson, as they were changed; of a run, the lesson's figure is the item", () => {
  const shown = states([0, "/learn/scores?shows=show%3Dwhy%26f_dk%3D3#figure-1"], [5, "/learn/order?shows=task%3Dreverse%26models%3Dreverse%26length%3D12%26seed%3D2#figure-5"], [9, "/learn/training?shows=run%3Dabc%26step%3D38#figure-1"]);
  for (const half of ["", "-", "3x"])
    assert.deepEqual(links(states([0, `/learn/scores?shows=show%3Dwhy%26f_dk%3D${half}#figure-1`])), ["/learn/scores#figure-1"]);
  assert.deepEqual(links(shown), ["/learn/scores?shows=show%3Dwhy%26f_dk%3D3#figure-1", "/learn/order?shows=task%3Dreverse%26models%3Dreverse%26length%3D12%26seed%3D2#figure-5", "/learn/training#figure-1"]);
});

test("items of a collection are what they link to; what cannot be an item is left out", () => {
  const shown = states([0, "/c/abc"], [1, "/c/abc#item-2"], [2, "/c/gone#item-1"], [3, "/lab"], [4, "/"], [5, "/s/xyz?layer=1"]);
  assert.deepEqual(links(shown, { abc: ["/?source=One", "/learn/masks#figure-3"] }), ["/learn/masks#figure-3", "/s/xyz?layer=1"]);
  assert.deepEqual(links([]), []);
});

test("of more than fifty, those that were shown longest are in order", () => {
  const shown = states(.../** @type {[number, string][]} */ (Array.from({ length: 60 }, (_, i) => [i < 30 ? i : 30 + (i - 30) * 10, `/?source=text-${i}`])));
  const found = links(shown);
  assert.equal(found.length, 50);
  assert.deepEqual(found.slice(-30), Array.from({ length: 30 }, (_, i) => `/?source=text-${i + 30}`));
});
