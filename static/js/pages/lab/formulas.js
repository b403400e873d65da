/** Formulas beside attention, for numbers of one's own: positions, the learning rate, what layers cost. */

import { encoding } from "../../compute/position-rotation.js";
import { layerCosts } from "../../compute/layer-costs.js";
import { learningRate, milestones } from "../../compute/warm-up.js";
import { number } from "../../lib/cells.js";
import { find } from "../../lib/dom.js";
import { grouped, tiny } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { numberTable } from "../../parts/number-table.js";

/** @typedef {import("../../state/types.js").PageContext} Page */

/** What a field may hold. @type {Record<string, [number, number]>} */
const LIMITS = { pos: [0, 1e6], width: [1, 64], model: [1, 1e6], warmup: [1, 1e6], n: [1, 1e6], d: [1, 1e6], k: [1, 1000], w: [1, 1e6] };
/** A whole number, however large. @param {number} value */
const counted = (value) => (value < 1e15 ? grouped(value) : tiny(value));

/** @param {Page} page */
export function bindFormulas(page) {
  const root = find("#formulas");
  /** @param {string} name @returns {number | null}  null: outside of its limits, and marked so */
  function value(name) {
    const input = /** @type {HTMLInputElement} */ (find(`[name=${name}]`, root));
    const [least, most] = LIMITS[name];
    const found = number(input.value).value;
    const fits = found !== null && Number.isInteger(found) && found >= least && found <= most;
    input.setAttribute("aria-invalid", String(!fits));
    input.title = fits ? "" : page.t("A whole number from {least} to {most}.", { least: counted(least), most: counted(most) });
    return fits ? found : null;
  }

  function showPosition() {
    const [pos, width] = [value("pos"), value("width")];
    if (pos === null || width === null) return;
    const row = encoding(pos, width);
    const cols = row.map((_, i) => String(i));
    render(find("#position"), numberTable({ title: "", values: [row], rows: [""], cols, scale: "signed" }, page.theme(), page.t));
  }

  function showRate() {
    const [width, warmup] = [value("model"), value("warmup")];
    if (width === null || warmup === null) return;
    const rows = milestones(warmup).map((step) => [counted(step), tiny(learningRate(step, width, warmup), 3), step === warmup ? page.t("the peak") : ""]);
    render(find("#rate"), table([page.t("Step"), page.t("Learning rate"), ""], rows));
  }

  function showCosts() {
    const [n, d, k, w] = ["n", "d", "k", "w"].map(value);
    if (n === null || d === null || k === null || w === null) return;
    const called = names(page.t);
    const rows = layerCosts({ n, d, k, w }).map(({ id, operations, count, steps, path }) => [called[id], operations, counted(count), steps, path]);
    const heads = [page.t("Layer"), page.t("Operations"), "", page.t("Sequential steps"), page.t("Longest path")];
    render(find("#costs"), table(heads, rows));
  }

  root.addEventListener("input", ({ target }) => {
    const { name } = /** @type {HTMLInputElement} */ (target);
    if (name === "pos" || name === "width") showPosition();
    else if (name === "model" || name === "warmup") showRate();
    else showCosts();
  });
  page.onTheme(showPosition);
  showPosition();
  showRate();
  showCosts();
}

/** @param {import("../../lib/i18n.js").Translate} t @returns {Record<string, string>} */
const names = (t) => ({
  attention: t("Self-attention"),
  recurrence: t("Recurrence"),
  convolution: t("Convolution"),
  window: t("Attention in a window"),
});

/** @param {string[]} heads @param {string[][]} rows */
const table = (heads, rows) =>
  el(
    "table",
    { className: "number-table" },
    el("thead", {}, el("tr", {}, heads.map((text, j) => (text ? el("th", { key: j, scope: "col" }, text) : el("td", { key: j }))))),
    el("tbody", {}, rows.map((row, i) => el("tr", { key: i }, el("th", { scope: "row" }, row[0]), row.slice(1).map((text, j) => el("td", { key: j }, text))))),
  );
