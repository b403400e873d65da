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

/** Whether both runs have read the same token there. @param {Step[]} steps @param {Step[]} otherSteps @param {number} index */
function isSameToken(steps, otherSteps, index) {
  const [token, otherToken] = [steps[index], otherSteps[index]].map((step) => step && (step.reads ?? step.writes));
  return Boolean(token && otherToken && token.word === otherToken.word);
}
