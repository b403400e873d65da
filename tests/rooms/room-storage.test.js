import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import * as storage from "../../static/js/room/room-storage.js";

/** @typedef {Record<string, string>} Kept */

/** A storage in memory. @param {Kept} kept */
const stored = (kept) => ({
  getItem: (/** @type {string} */ name) => kept[name] ?? null,
  setItem: (/** @type {string} */ name, /** @type {string} */ value) => void (kept[name] = value),
  removeItem: (/** @type {string} */ name) => void delete kept[name],
});

/** @type {Kept} */
let local;
/** @type {Kept} */
let session;

beforeEach(() => {
  [local, session] = [{}, {}];
  Object.assign(globalThis, { window: { localStorage: stored(local), sessionStorage: stored(session) } });
  storage.setPresentedRoom(null);
  for (const { code } of storage.ownRooms()) storage.forgetRoom(code);
});

/** A browser that refuses storage. */
function refuse() {
  const refused = {
    get() {
      throw new DOMException("refused", "SecurityError");
    },
  };
  Object.defineProperties(globalThis.window, { localStorage: refused, sessionStorage: refused });
}

const room = (/** @type {string} */ code) => ({ code, url: `http://host/room/${code}`, key: "k".repeat(26) });

test("a member keeps its token, which the server accepts", () => {
  const token = storage.memberToken();
  assert.match(token, /^[a-z0-9]{8,64}$/);
  assert.equal(storage.memberToken(), token);
  local["room-member"] = "Not a token!";
  const fresh = storage.memberToken();
  assert.match(fresh, /^[a-z0-9]{8,64}$/);
  assert.equal(local["room-member"], fresh);
});

test("the eight newest rooms are remembered, each once, the newest first", () => {
  for (const n of Array(10).keys()) storage.rememberRoom(room(`room${n}`));
  storage.rememberRoom(room("room5"));
  assert.deepEqual(storage.ownRooms().map(({ code }) => code), ["room5", "room9", "room8", "room7", "room6", "room4", "room3", "room2"]);
  storage.forgetRoom("room9");
  assert.equal(storage.ownRooms().length, 7);
  assert.ok(!storage.ownRooms().some(({ code }) => code === "room9"));
});

for (const damaged of ["{", "{}", "null", '[null, {"code": "abc234"}, 3]'])
  test(`stored rooms that cannot be read are none: ${damaged}`, () => {
    local.rooms = session["room-presenting"] = damaged;
    assert.deepEqual([storage.ownRooms(), storage.presentedRoom()], [[], null]);
  });

test("a tab presents in one room, until it does not", () => {
  storage.setPresentedRoom(room("abc234"));
  assert.deepEqual(storage.presentedRoom(), room("abc234"));
  assert.deepEqual(local, {}, "another tab does not");
  storage.setPresentedRoom(null);
  assert.deepEqual([storage.presentedRoom(), session], [null, {}]);
});

test("a tab that explores does so in that room only", () => {
  storage.setExploring("abc234", true);
  assert.deepEqual([storage.isExploring("abc234"), storage.isExploring("def567")], [true, false]);
  storage.setExploring("abc234", false);
  assert.deepEqual([storage.isExploring("abc234"), session], [false, {}]);
});

test("without storage all of it lasts until the page is left", () => {
  refuse();
  const token = storage.memberToken();
  assert.equal(storage.memberToken(), token);
  storage.rememberRoom(room("abc234"));
  storage.setPresentedRoom(room("abc234"));
  storage.setExploring("abc234", true);
  assert.deepEqual(storage.ownRooms(), [room("abc234")]);
  assert.deepEqual(storage.presentedRoom(), room("abc234"));
  assert.equal(storage.isExploring("abc234"), true);
  storage.setExploring("abc234", false);
  assert.equal(storage.isExploring("abc234"), false);
});
