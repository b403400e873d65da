import assert from "node:assert/strict";
import { test } from "node:test";

import { memberGroups } from "../../static/js/room/members.js";

const AT = 10_000;
const member = (/** @type {string} */ id, /** @type {object} */ some = {}) => ({ id, network: 1, joined: 0, here: true, answered: true, ...some });
const room = (/** @type {any[]} */ members) => ({ closed: false, at: AT, network: 1, members });
const told = (/** @type {any[]} */ members, asked = false) =>
  memberGroups(room(members), asked).map(({ kind, minutes, own, ids }) => [minutes ?? own ?? kind, ids.join("")]);

test("those who are away and, during a question, those who have not answered", () => {
  const some = [member("a"), member("b", { here: false }), member("c", { answered: false, here: false })];
  assert.deepEqual(told(some), [["absent", "bc"]]);
  assert.deepEqual(told(some, true), [["absent", "bc"], ["silent", "c"]]);
  assert.deepEqual(told([]), []);
});

test("those who came lately, unless that says the same or is everybody", () => {
  const some = [member("a"), member("b", { joined: AT - 800 }), member("c", { joined: AT - 50 }), member("d", { joined: AT - 40 })];
  assert.deepEqual(told(some), [[1, "cd"], [15, "bcd"]]);
  assert.deepEqual(told([member("a", { joined: AT - 1 })]), []);
});

test("those who came from one network, the most first, if there are several networks", () => {
  const some = [member("a"), member("b"), member("c", { network: 2, joined: 5 }), member("d", { network: 2, joined: 3 }), member("e", { network: 2 }), member("f", { network: 3 })];
  assert.deepEqual(told(some), [[false, "cde"], [true, "ab"]]);
  assert.deepEqual(memberGroups(room(some), false)[0].came, [0, 5]);
  assert.deepEqual(told([member("a"), member("b")]), []);
});
