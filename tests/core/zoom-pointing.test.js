import assert from "node:assert/strict";
import test from "node:test";

import { bindZoomPointing } from "../../static/js/core/figure/zoom.js";

/** @typedef {[number, number]} Point */

/** Cells of 10 pixels, ten by ten. @param {number} x @param {number} y */
const cellAt = (x, y) => (x >= 0 && y >= 0 && x < 100 && y < 100 ? { row: Math.floor(y / 10), col: Math.floor(x / 10) } : null);

function plot() {
  const ownerDocument = new EventTarget();
  const element = Object.assign(new EventTarget(), { ownerDocument });
  /** @type {[string, string | null][]} */
  const told = [];
  bindZoomPointing(/** @type {any} */ (element), {
    cellAt,
    onHover: (cell) => told.push(["hover", cell && `${cell.row} ${cell.col}`]),
    onPick: ({ row, col }) => told.push(["pick", `${row} ${col}`]),
  });
  /** @param {string} name @param {Point} at @param {number} [time] @param {object} [more] */
  const tell = (name, [clientX, clientY], time = 0, more = {}) => {
    const event = Object.assign(new Event(name), { clientX, clientY, isPrimary: true, button: 0, pointerType: "mouse", ...more });
    Object.defineProperty(event, "timeStamp", { value: time });
    (["pointerup", "pointercancel"].includes(name) ? ownerDocument : element).dispatchEvent(event);
  };
  /** @param {Point} at @param {number} time @param {object} [more] */
  const click = (at, time, more) => {
    tell("pointerdown", at, time, more);
    tell("pointerup", at, time + 20, more);
  };
  return { told, tell, click };
}

test("A pointer that moves is over a cell, and over none beside them; a finger hovers nowhere", () => {
  const { told, tell } = plot();
  tell("pointermove", [25, 47]);
  tell("pointermove", [125, 47]);
  tell("pointermove", [35, 47], 0, { pointerType: "touch" });
  tell("pointerleave", [25, 47]);
  assert.deepEqual(told, [["hover", "4 2"], ["hover", null], ["hover", null]]);
});

test("A click picks its cell although no hover came before; a hand may tremble", () => {
  const { told, tell, click } = plot();
  click([25, 47], 0);
  tell("pointerdown", [55, 55], 1000);
  tell("pointerup", [58, 57], 1100);
  assert.deepEqual(told, [["pick", "4 2"], ["pick", "5 5"]]);
});

test("A drag picks nothing, hovers nothing on its way, and the next click counts again", () => {
  const { told, tell, click } = plot();
  tell("pointerdown", [25, 47]);
  tell("pointermove", [45, 47]);
  tell("pointerleave", [45, 47]);
  tell("pointerup", [65, 47]);
  tell("pointermove", [65, 47]);
  click([65, 47], 100);
  assert.deepEqual(told, [["hover", "4 6"], ["pick", "4 6"]]);
});

test("A press that the browser takes over picks nothing", () => {
  const { told, tell } = plot();
  tell("pointerdown", [25, 47], 0, { pointerType: "touch" });
  tell("pointercancel", [25, 47]);
  tell("pointerup", [25, 47]);
  assert.deepEqual(told, []);
});

test("A double click picks once; two clicks apart in time or place pick twice", () => {
  const { told, click } = plot();
  click([25, 47], 0);
  click([25, 47], 150);
  click([25, 47], 1000);
  click([85, 47], 1100);
  assert.deepEqual(told, [["pick", "4 2"], ["pick", "4 2"], ["pick", "4 8"]]);
});

test("Other buttons, further fingers and what lies beside the cells pick nothing", () => {
  const { told, click } = plot();
  click([25, 47], 0, { button: 2 });
  click([25, 47], 1000, { isPrimary: false });
  click([125, 47], 2000);
  assert.deepEqual(told, []);
});
