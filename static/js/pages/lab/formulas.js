/** Formulas to try with other numbers: positions, the learning rate, the cost of layers. */

import { fraction, mathml, plain, raised } from "../../compute/formula.js";
import { encoding } from "../../compute/position-rotation.js";
import { layerCosts } from "../../compute/layer-costs.js";
import { learningRate, milestones } from "../../compute/warm-up.js";
import { plot } from "../../draw/curves.js";
import { number } from "../../lib/cells.js";
import { find } from "../../lib/dom.js";
import { grouped, short, tiny } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { numberTable } from "../../parts/number-table.js";
import { bindScaling } from "./scaling.js";

/** @typedef {import("../../state/types.js").PageContext} Page */

/** The limits of each field. @type {Record<string, [number, number]>} */
const LIMITS = {
  pos: [0, 1e6], width: [1, 64], model: [1, 1e6], warmup: [1, 1e6], n: [1, 1e6], d: [1, 1e6], k: [1, 1000], w: [1, 1e6],
  keys: [2, 32], seed: [0, 9999],
};
/** Prefix of fields in a link, to separate them from the lab's own keys. */
const PREFIX = "f_";
const CURVE = 60;
/** An integer of any size. @param {number} value */
const counted = (value) => (value < 1e15 ? grouped(value) : tiny(value));

/**
 * @param {Page} page
 * @param {import("../../data/api.js").Api} api
 * @param {URLSearchParams} said  from the link
 * @param {() => void} changed  called when the link must change
 */
export function bindFormulas(page, api, said, changed) {
  const root = find("#formulas");
  const panels = /** @type {HTMLElement[]} */ ([...root.querySelectorAll("[data-formula]")]);
  let shown = "";
  const inputs = /** @type {HTMLInputElement[]} */ ([...root.querySelectorAll("input[name]")]);
  for (const input of inputs) input.value = said.get(PREFIX + input.name) ?? input.value;

  /** @param {string} name @returns {number | null}  null: outside of its limits, and it says so */
  function value(name) {
    const input = /** @type {HTMLInputElement} */ (find(`[name=${name}]`, root));
    const [least, most] = LIMITS[name];
    const found = number(input.value).value;
    const fits = found !== null && Number.isInteger(found) && found >= least && found <= most;
    input.setAttribute("aria-invalid", String(!fits));
    find(`[data-why=${name}]`, root).textContent = fits ? "" : page.t("A whole number from {least} to {most}.", { least: counted(least), most: counted(most) });
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
    render(find("#rate"), table([page.t("Step"), page.t("Learning rate"), ""], rows), rateCurve(page, width, warmup));
  }

  function showCosts() {
    const [n, d, k, w] = ["n", "d", "k", "w"].map(value);
    if (n === null || d === null || k === null || w === null) return;
    const called = names(page.t);
    const rows = layerCosts({ n, d, k, w }).map(({ id, operations, count, steps, path }) => [called[id], operations, counted(count), steps, path]);
    const heads = [page.t("Layer"), page.t("Operations"), "", page.t("Sequential steps"), page.t("Longest path")];
    render(find("#costs"), table(heads, rows));
    find("#costs-says").textContent =
      n < d
        ? page.t("n < d: self-attention takes fewer operations than recurrence, and its steps are not sequential.")
        : page.t("n ≥ d: self-attention takes no fewer operations than recurrence, but its steps are still not " +
          "sequential.");
  }

  const scaling = bindScaling(page, api, value);
  /**
   * What to update for each field; all others belong to the costs.
   * @type {Record<string, () => void>}
   */
  const shows = { pos: showPosition, width: showPosition, model: showRate, warmup: showRate, dk: scaling.show, keys: scaling.ask, seed: scaling.ask };
  root.addEventListener("input", ({ target }) => {
    const { name } = /** @type {HTMLInputElement} */ (target);
    (shows[name] ?? showCosts)();
    changed();
  });
  /** The function that draws each formula. @type {Record<string, () => void>} */
  const draws = { why: scaling.ask, encoding: showPosition, "warm-up": showRate, "layer-costs": showCosts };
  /** @param {string} id  of the one to be shown; "": none */
  function go(id) {
    shown = id in draws ? id : "";
    root.hidden = !shown;
    panels.forEach((panel) => (panel.hidden = panel.dataset.formula !== shown));
    draws[shown]?.();
    changed();
  }
  page.onTheme(() => draws[shown]?.());
  find("#position-formula").append(mathml(document, pe("2i", "sin")), " ", mathml(document, pe("2i+1", "cos")));
  find("#rate-formula").append(mathml(document, RATE));
  return {
    names: Object.fromEntries(panels.map((panel) => [panel.dataset.formula ?? "", find("h2", panel).textContent ?? ""])),
    shown: () => shown,
    go,
    /** The formula and the changed fields as part of a link: "&…", or "". */
    query: () =>
      [
        ...(shown ? [["show", shown]] : []),
        ...inputs.filter(({ value, defaultValue }) => value !== defaultValue).map(({ name, value }) => [PREFIX + name, value]),
      ].map(([name, value]) => `&${name}=${encodeURIComponent(value)}`).join(""),
  };
}

/** @param {string} at @param {string} wave @returns {import("../../compute/formula.js").Formula} */
const pe = (at, wave) => ["PE", plain("("), "pos", ",", plain(at), plain(")"), "=", wave, fraction("pos", raised(plain("10000"), fraction(plain("2i"), "d")))];
/** @type {import("../../compute/formula.js").Formula} */
const RATE = ["lr", "=", raised("d_model", plain("−0.5")), "·", "min", plain("("), raised("step", plain("−0.5")), ",", "step", "·", raised("warmup", plain("−1.5")), plain(")")];

/** @param {Page} page @param {number} width @param {number} warmup @returns {SVGElement}  up to four times the warm-up */
function rateCurve({ t, theme }, width, warmup) {
  const steps = Array.from({ length: CURVE + 1 }, (_, i) => Math.max(1, Math.round((4 * warmup * i) / CURVE)));
  const values = steps.map((step) => learningRate(step, width, warmup));
  const look = theme();
  return plot(
    {
      curves: [{ name: "lr", values, colour: look.ink }],
      range: [0, Math.max(...values)],
      titles: { x: t("Step"), y: t("Learning rate") },
      places: steps.map(counted),
      width: 420,
      height: 210,
      at: steps.indexOf(warmup),
      say: (value) => (value ? short(value) : "0"),
    },
    look,
  );
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
