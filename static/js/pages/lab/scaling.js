/** Why scores are divided by √d_k: scores, weights and gradients of random vectors against d_k. */

import { Problem } from "../../data/problem.js";
import { createAsker } from "../../data/retry.js";
import { plot } from "../../draw/curves.js";
import { find } from "../../lib/dom.js";
import { brief, significant, two } from "../../lib/numbers.js";
import { el, render } from "../../lib/render.js";
import { numberTable } from "../../parts/number-table.js";
import { trouble } from "../../parts/problem-line.js";

/** @typedef {{scores: number[][], weights: number[][], spread: number[], largest: number[], gradient: number[]}} Scored */
/** @typedef {{d_k: number[], dot: Scored, scaled: Scored}} Scaling  as GET /api/lab/scaling answers */

const [WIDTH, HEIGHT] = [400, 220];

/**
 * @param {import("../../state/types.js").PageContext} page
 * @param {import("../../data/api.js").Api} api
 * @param {(name: string) => number | null} value  the value of a field
 */
export function bindScaling(page, api, value) {
  const { t, theme } = page;
  const root = find("#scaling");
  const slider = /** @type {HTMLInputElement} */ (find("[name=dk]"));
  const seed = /** @type {HTMLInputElement} */ (find("[name=seed]"));
  const asker = createAsker();
  const failed = trouble(page, () => void ask());
  find("#scaling-problem").replaceWith(failed.element);
  /** @type {Scaling | null} */
  let found = null;

  async function ask() {
    const [keys, drawn] = [value("keys"), value("seed")];
    if (keys === null || drawn === null) return;
    const answer = await asker.ask((signal) => api.scaling(keys, drawn, signal), failed.show);
    if (answer === null) return;
    failed.show(answer instanceof Problem ? answer : null);
    if (answer instanceof Problem) return;
    found = answer;
    show();
  }

  function show() {
    if (!found) return;
    const at = Number(slider.value);
    const [width, { dot, scaled }] = [found.d_k[at], found];
    const said = { d: width, root: significant(Math.sqrt(width), 3) };
    find("#dk-says").textContent = String(width);
    slider.setAttribute("aria-valuetext", String(width));
    render(
      root,
      el("p", { className: "finding" }, sentence(dot, scaled, at, said)),
      el("div", { className: "beside" }, example(dot, scaled, at), ...curves(found, at)),
    );
  }

  /** @param {Scored} dot @param {Scored} scaled @param {number} at @param {Record<string, string | number>} said */
  const sentence = (dot, scaled, at, said) =>
    t("At d_k = {d} the products have a standard deviation of {spread}, and one key gets {most} of the weight on average; the softmax’s gradient is {gradient}. Divided by √{d} = {root} it is {scaledSpread}, {scaledMost} and {scaledGradient}.", {
      ...said,
      spread: two(dot.spread[at]),
      most: two(dot.largest[at]),
      gradient: two(dot.gradient[at]),
      scaledSpread: two(scaled.spread[at]),
      scaledMost: two(scaled.largest[at]),
      scaledGradient: two(scaled.gradient[at]),
    });

  /**
   * One query: its scores and weights with and without scaling.
   * @param {Scored} dot
   * @param {Scored} scaled
   * @param {number} at
   */
  function example(dot, scaled, at) {
    const rows = ["q · k", "q · k / √d_k"];
    const cols = dot.scores[at].map((_, key) => String(key + 1));
    const [scores, weights] = [[dot.scores[at], scaled.scores[at]], [dot.weights[at], scaled.weights[at]]];
    return el(
      "div",
      { className: "both-ways" },
      numberTable({ title: t("Scores of one query with each key"), values: scores, rows, cols, scale: "signed" }, theme(), t, two),
      numberTable({ title: t("Weights"), values: weights, rows, cols, scale: "share" }, theme(), t, two),
    );
  }

  /** @param {Scaling} all @param {number} at @returns {SVGElement[]} */
  function curves({ d_k, dot, scaled }, at) {
    const look = theme();
    /** @param {keyof Scored} what @param {string} y */
    const drawn = (what, y) =>
      plot(
        {
          curves: [
            { name: "q · k", values: /** @type {number[]} */ (dot[what]), colour: look.k, dash: "5 3" },
            { name: "/ √d_k", values: /** @type {number[]} */ (scaled[what]), colour: look.q },
          ],
          range: [0, Math.max(.../** @type {number[]} */ (dot[what]), .../** @type {number[]} */ (scaled[what]))],
          titles: { x: "d_k", y },
          places: d_k.map(String),
          width: WIDTH,
          height: HEIGHT,
          at,
          say: brief,
        },
        look,
      );
    return [drawn("spread", t("Standard deviation of the scores")), drawn("largest", t("Largest weight")), drawn("gradient", t("Gradient: ‖∂ weights / ∂ scores‖"))];
  }

  find("#draw-again").addEventListener("click", () => {
    seed.value = String(((value("seed") ?? 0) + 1) % 10000);
    seed.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return { ask: () => void ask(), show };
}
