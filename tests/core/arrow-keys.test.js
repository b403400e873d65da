import assert from "node:assert/strict";
import { test } from "node:test";

import { arrow, onArrows, onSteps, within } from "../../static/js/core/figure/pointing.js";

const NONE = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false };
/** @param {string} key @param {object} [more] */
const press = (key, more = {}) => Object.assign(new Event("keydown", { cancelable: true }), { ...NONE, key, ...more });
/** @param {string} key @param {object} [more] */
const pressed = (key, more) => /** @type {any} */ (press(key, more));

test("an arrow leads one step down or to the right, by itself", () => {
  const ways = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home"].map((key) => arrow(pressed(key)));
  assert.deepEqual(ways, [[-1, 0], [1, 0], [0, -1], [0, 1], null]);
  for (const name of ["ctrlKey", "metaKey", "altKey", "isComposing"])
    assert.equal(arrow(pressed("ArrowUp", { [name]: true })), null, name);
  assert.deepEqual(arrow(pressed("ArrowUp", { shiftKey: true })), [-1, 0]);
});

test("what an arrow moves does not scroll the page, what it does not move may", () => {
  const element = new EventTarget();
  /** @type {number[][]} */
  const moves = [];
  let there = true;
  onArrows(element, (down, right, event) => {
    assert.ok(event.key);
    if (!there) return false;
    moves.push([down, right]);
    return true;
  });
  const send = (/** @type {Event} */ event) => (element.dispatchEvent(event), event.defaultPrevented);
  assert.equal(send(press("ArrowDown")), true);
  assert.equal(send(press("a")), false);
  assert.equal(send(press("ArrowLeft", { ctrlKey: true })), false);
  there = false;
  assert.equal(send(press("ArrowLeft")), false);
  assert.deepEqual(moves, [[1, 0]]);
});

test("the nearest that is there", () => {
  assert.deepEqual([within(-1, 3), within(0, 3), within(2, 3), within(3, 3), within(0, 0)], [0, 0, 2, 2, 0]);
});

/** @param {Partial<Parameters<typeof onSteps>[1]>} [how] A page that hands its listener over. */
function stepping(how) {
  /** @type {((event: Event) => void)[]} */
  const listeners = [];
  let dialog = false;
  /** @type {(number | string)[]} */
  const done = [];
  const keys = /** @type {any} */ ({
    listen: (/** @type {any} */ listener) => {
      const hear = (/** @type {any} */ event) => dialog || listener(event);
      listeners.push(hear);
      return () => listeners.splice(listeners.indexOf(hear), 1);
    },
  });
  const stop = onSteps(keys, {
    projector: () => false,
    takes: { arrows: "arrows", space: "space" },
    go: (by) => done.push(by),
    space: (back) => done.push(back ? "back" : "on"),
    ...how,
  });
  /** @param {string} key @param {string} [place] @param {object} [more] */
  const send = (key, place = "", more = {}) => {
    const event = { ...NONE, key, prevented: 0, stopped: 0, ...more };
    const closest = (/** @type {string} */ those) => (those.split(", ").includes(place) ? {} : null);
    const target = "target" in more ? more.target : { closest };
    const methods = { preventDefault: () => event.prevented++, stopPropagation: () => event.stopped++, target };
    listeners.forEach((listener) => listener(/** @type {any} */ (Object.assign(event, methods))));
    return event.prevented + event.stopped;
  };
  return { done, send, stop, open: () => (dialog = true) };
}

test("arrows and Space go through steps, and the page's own keys hear nothing of it", () => {
  const { done, send, stop } = stepping();
  for (const key of ["ArrowLeft", "ArrowRight", " "]) assert.equal(send(key), 2, key);
  assert.equal(send(" ", "", { shiftKey: true }), 2);
  assert.deepEqual(done, [-1, 1, "on", "back"]);
  for (const key of ["a", "Home", "PageDown", "ArrowUp"]) assert.equal(send(key), 0, key);
  assert.equal(send("ArrowLeft", "", { altKey: true }), 0);
  stop();
  send("ArrowLeft");
  assert.equal(done.length, 4);
});

test("what takes a key for itself keeps it", () => {
  const { done, send, open } = stepping();
  assert.equal(send("ArrowLeft", "arrows"), 0);
  assert.equal(send(" ", "space"), 0);
  for (const place of ["button", "a", "summary"]) assert.equal(send(" ", place), 0, place);
  assert.equal(send("ArrowLeft", "button"), 2);
  assert.equal(send(" ", "arrows"), 2);
  assert.equal(send("ArrowLeft", "", { target: {} }), 0, "the window itself");
  assert.equal(send("ArrowLeft", "", { target: null }), 0);
  open();
  assert.equal(send("ArrowLeft"), 0, "an open dialog");
  assert.deepEqual(done, [-1, "on"]);
});

test("a remote goes through steps in front of a class, Home and End where there are such", () => {
  const remote = stepping({ projector: () => true });
  remote.send("PageUp");
  remote.send("PageDown");
  assert.deepEqual(remote.done, [-1, 1]);
  const ends = stepping({ ends: true });
  ends.send("Home");
  ends.send("End");
  assert.deepEqual(ends.done, [-Infinity, Infinity]);
});
