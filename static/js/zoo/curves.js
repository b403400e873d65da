/** Right answers of the zoo's models by the length of the input, as curves. */

import { changedName, unitName } from "../core/store/zoo-names.js";

/** @import { ZooModel } from "./link.js" */
/** @import { Theme } from "../core/page/page-context.js" */

export const HEIGHT = 260;
const DASHES = [undefined, "7 4", "2 3"];

/** The lengths that were measured. @param {ZooModel[]} models @returns {number[]} */
export const tested = (models) => [...new Set(models.flatMap(({ seeds }) => seeds.flatMap(({ accuracy }) => Object.keys(accuracy).map(Number))))].sort((a, b) => a - b);

/** The mean over the seeds, in per cent. @param {ZooModel} model @param {number} length */
export function right({ seeds }, length) {
  const found = seeds.map(({ accuracy }) => accuracy[length]).filter((one) => one !== undefined);
  return found.length ? (100 * found.reduce((a, b) => a + b, 0)) / found.length : NaN;
}

/** As whole per cent, halves to even, as the tables of the documentation have it. @param {ZooModel} model @param {number} length */
export function percent(model, length) {
  const exact = Math.round(1e6 * right(model, length)) / 1e6; // 22.500000000000004
  if (Number.isNaN(exact)) return "";
  const down = Math.floor(exact);
  return String(exact - down === 0.5 && down % 2 === 0 ? down : Math.round(exact));
}

/** @param {number} i @param {Theme} theme  Told apart by colour, dashes and the names at their ends. */
export const look = (i, { attention, q, k, v, ink }) => ({ colour: [attention, k, v, q, ink][i % 5], dash: DASHES[Math.floor(i / 5) % 3] });

/**
 * @param {ZooModel[]} models
 * @param {string} unit
 * @param {number} width
 * @param {Theme} theme
 * @param {import("../lib/i18n.js").Translate} t
 * @param {number | null} [marked]  a length
 * @returns {import("../core/draw/curves.js").Plot}
 */
export function lengthCurves(models, unit, width, theme, t, marked = null) {
  const all = tested(models);
  const longest = Math.max(...models.map(({ trained }) => trained[1]));
  return {
    curves: models.map((model, i) => ({
      name: changedName(t, model.changed),
      values: all.map((length) => right(model, length)),
      ...look(i, theme),
    })),
    range: [0, 100],
    titles: { x: unitName(t, unit), y: t("right, %") },
    width,
    height: HEIGHT,
    places: all.map(String),
    markedIndex: marked === null ? null : all.indexOf(marked),
    band: { to: all.indexOf(longest), label: t("trained lengths") },
    format: String,
  };
}
