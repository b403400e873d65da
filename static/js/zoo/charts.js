/** Charts of the measurements: right answers by length, and learning curves. */

import { plot } from "../core/draw/line-chart.js";
import { changedName, unitName } from "../core/store/examples-and-tasks.js";
import { el, find, h, render } from "../lib/dom.js";

/** @import { Theme } from "../core/page/page-context.js" */
/** @import { ZooModel } from "./zoo-link.js" */

const HEIGHT = 260;
const DASHES = [undefined, "7 4", "2 3"];

/** The lengths that were measured. @param {ZooModel[]} models @returns {number[]} */
export const measuredLengths = (models) => [...new Set(models.flatMap(({ seeds }) => seeds.flatMap(({ accuracy }) => Object.keys(accuracy).map(Number))))].sort((a, b) => a - b);

/** The mean over the seeds, in per cent. @param {ZooModel} model @param {number} length */
function meanAccuracy({ seeds }, length) {
  const accuracies = seeds.map(({ accuracy }) => accuracy[length]).filter((accuracy) => accuracy !== undefined);
  return accuracies.length ? (100 * accuracies.reduce((a, b) => a + b, 0)) / accuracies.length : NaN;
}

/** As whole per cent, halves to even, as the tables of the documentation have it. @param {ZooModel} model @param {number} length */
export function percent(model, length) {
  const exact = Math.round(1e6 * meanAccuracy(model, length)) / 1e6; // 22.500000000000004
  if (Number.isNaN(exact)) return "";
  const down = Math.floor(exact);
  return String(exact - down === 0.5 && down % 2 === 0 ? down : Math.round(exact));
}

/** @param {number} i @param {Theme} theme  Told apart by colour, dashes and the names at their ends. */
const lineStyle = (i, { attention, q, k, v, muted }) => ({ colour: [attention, k, v, q, muted][i % 5], dash: DASHES[Math.floor(i / 4) % 3] });

/**
 * @param {ZooModel[]} models
 * @param {string} unit
 * @param {number} width
 * @param {Theme} theme
 * @param {import("../lib/i18n.js").Translate} t
 * @param {number | null} [marked]  a length
 * @returns {import("../core/draw/line-chart.js").Plot}
 */
export function lengthCurves(models, unit, width, theme, t, marked = null) {
  const all = measuredLengths(models);
  const longest = Math.max(...models.map(({ trained }) => trained[1]));
  return {
    curves: models.map((model, i) => ({
      name: changedName(t, model.changed),
      values: all.map((length) => meanAccuracy(model, length)),
      ...lineStyle(i, theme),
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

/** @param {import("../core/figure/types.js").PageContext} page */
export function bindCharts(page) {
  const { t } = page;
  const root = find("#charts");
  const boxes = [h("div", { className: "curves" }), h("div", { className: "curves" })];
  const table = h("div", { className: "scrolled", tabindex: 0, role: "group", "aria-label": t("Right answers by length, in per cent") });
  const note = h("p", { className: "note" });
  root.append(
    h("div", {}, h("h2", {}, t("Accuracy by input length")), boxes[0]),
    h("div", {}, h("h2", {}, t("Learning curves")), boxes[1]),
    h("details", {}, h("summary", {}, t("Right answers by length, in per cent")), table, note),
  );
  /** @type {ZooModel[]} */
  let models = [];
  let unit = "";

  function draw() {
    const [first, second] = boxes;
    if (!models.length || !first.clientWidth) return;
    const theme = page.theme();
    first.replaceChildren(plot(lengthCurves(models, unit, first.clientWidth, theme, t), theme));
    second.replaceChildren(plot(losses(models, second.clientWidth, theme, t), theme));
  }
  let width = 0;
  new ResizeObserver(() => {
    if (width !== root.clientWidth) draw();
    width = root.clientWidth;
  }).observe(root);
  page.onTheme(draw);

  return {
    /** @param {ZooModel[]} next @param {string} counted  what lengths count */
    show(next, counted) {
      [models, unit] = [next, counted];
      draw();
      render(table, numbers(models, unit, t));
      render(note, t("Measured on 200 inputs of each length that no model was trained on; mean over all seeds. Lengths " +
        "in italics are longer than any trained input."));
    },
  };
}

/**
 * The learning curve of the seed that is shown above.
 * @param {ZooModel[]} models
 * @param {number} width
 * @param {Theme} theme
 * @param {import("../lib/i18n.js").Translate} t
 * @returns {import("../core/draw/line-chart.js").Plot}
 */
function losses(models, width, theme, t) {
  const served = models.map(({ seeds }) => (seeds.find(({ shipped }) => shipped) ?? seeds[0]).curve);
  const maxLoss = Math.max(0.5, ...served.flatMap((curve) => curve.map(([, , dev]) => dev)));
  return {
    curves: models.map((model, i) => ({
      name: changedName(t, model.changed),
      values: served[i].map(([, , dev]) => dev),
      ...lineStyle(i, theme),
    })),
    range: [0, Math.ceil(maxLoss * 2) / 2],
    titles: { x: t("training step"), y: t("loss on held-out inputs, nats per token") },
    width,
    height: HEIGHT,
    places: served[0].map(([step]) => String(step)),
    markedIndex: null,
    format: String,
  };
}

/** @param {ZooModel[]} models @param {string} unit @param {import("../lib/i18n.js").Translate} t */
function numbers(models, unit, t) {
  const all = measuredLengths(models);
  const longest = Math.max(...models.map(({ trained }) => trained[1]));
  const head = all.map((length) => el("th", { key: length, scope: "col" }, length > longest ? el("i", {}, String(length)) : String(length)));
  const rows = models.map((model) =>
    el(
      "tr",
      { key: model.name },
      el("th", { scope: "row" }, changedName(t, model.changed)),
      el("td", {}, String(model.seeds.length)),
      all.map((length) => el("td", { key: length }, percent(model, length))),
    ),
  );
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, unitName(t, unit)), el("th", { scope: "col" }, t("Seeds")), head)), el("tbody", {}, rows));
}
