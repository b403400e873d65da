/** What the changes of a model did to one weight: the number beside what the picture shows by colour. */

import { heatmapOf } from "./heatmap-data.js";
import { otherRunPage, runKind } from "./trained-and-changed.js";

/** @import { Step } from "../wire/tokens.js" */
/** @import { Page } from "./store.js" */

/** Less is not said. */
const NOTHING = 0.005;

/**
 * The weight of a cell in both runs of a changed model.
 * @param {Page} page
 * @param {{row: number, col: number}} cell  of the heatmap that is shown
 * @returns {{trained: number, changed: number, error: number} | null}  null: not changed, not known, or the other run has other tokens there
 */
export function weightChange(page, { row, col }) {
  const otherPage = otherRunPage(page);
  if (!otherPage || otherPage.status !== "ready") return null;
  const [reading, otherReading] = [heatmapOf(page), heatmapOf(otherPage)];
  if (!reading || !otherReading || !isSameToken(reading.rows.steps, otherReading.rows.steps, row) || !isSameToken(reading.cols.steps, otherReading.cols.steps, col)) return null;
  const [weight, otherWeight] = [reading, otherReading].map(({ matrix }) => matrix.values[row * matrix.cols + col]);
  if (!(Math.abs(weight - otherWeight) >= NOTHING)) return null;
  const error = Math.max(reading.matrix.error ?? 0, otherReading.matrix.error ?? 0);
  return runKind(page.link) === "trained" ? { trained: weight, changed: otherWeight, error } : { trained: otherWeight, changed: weight, error };
}

/**
 * The weight of a row that the changes moved most: of a head that is off, the largest as trained.
 * @param {Page} page
 * @param {number} row
 * @param {number} cols
 * @returns {{col: number, change: NonNullable<ReturnType<typeof weightChange>>} | null}  null: none
 */
export function largestChange(page, row, cols) {
  const changes = Array.from({ length: cols }, (_, col) => ({ col, change: weightChange(page, { row, col }) }));
  const moved = changes.flatMap(({ col, change }) => (change ? [{ col, change, size: Math.abs(change.changed - change.trained) }] : []));
  const [largest] = moved.sort((a, b) => b.size - a.size);
  return largest ? { col: largest.col, change: largest.change } : null;
}

/** Whether both runs have read the same token there. @param {Step[]} steps @param {Step[]} otherSteps @param {number} index */
function isSameToken(steps, otherSteps, index) {
  const [token, otherToken] = [steps[index], otherSteps[index]].map((step) => step && (step.reads ?? step.writes));
  return Boolean(token && otherToken && token.word === otherToken.word);
}
