/** PE(pos + k) as a rotation of PE(pos): shown for one pair of features, checked for all. */

import { prose } from "../../lib/i18n.js";
import { four, tiny } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { controls } from "../../parts/controls.js";
import { check, frequency, pairs, turn, wavelength } from "../../compute/position-rotation.js";
import { drawing, file, s } from "../../draw/svg.js";
import { clock } from "./clock.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("./encodings.js").Positions} Positions */

const MATHML = "http://www.w3.org/1998/Math/MathML";
const SMALL = 8;

/** @param {Context} context */
export function createTurn(context) {
  const { store, t, theme } = context;
  /** @type {Positions | null} */
  let found = null;
  const options = h("div", {});
  const face = h("div", { className: "clock" });
  const strip = h("div", { className: "clocks scroller", tabIndex: 0, role: "group", "aria-label": t("Clocks of other pairs; the slider chooses too") });
  const sum = h("div", { className: "sum scroller", tabIndex: 0, role: "group", "aria-label": t("The rotation in numbers") });
  const verdict = h("p", { className: "finding verdict" });
  const says = h("p", { className: "note" });
  const element = h(
    "div",
    { className: "turn" },
    options,
    verdict,
    h("div", { className: "panels" }, face, h("div", { className: "beside" }, sum, strip, says)),
  );
  strip.addEventListener("click", (event) => {
    const group = /** @type {Element} */ (event.target).closest("[data-pair]");
    if (group) store.choose({ pair: Number(group.getAttribute("data-pair")) });
  });
  let made = "";

  /** The sliders reach as far as the table does. @param {Positions} table */
  function offer({ length, d_model }) {
    const size = `${length} ${d_model}`;
    if (size === made) return /** @type {ReturnType<typeof controls>} */ (options.firstChild).refresh();
    made = size;
    options.replaceChildren(
      controls(context, [
        { option: "at", label: t("Position"), range: [0, Math.max(0, length - 2), 1] },
        { option: "by", label: t("k, how far on"), range: [1, Math.max(1, length - 1), 1] },
        { option: "pair", label: t("Pair i"), range: [0, pairs(d_model) - 1, 1] },
      ]),
    );
  }

  /** What is chosen, brought within the table. @param {Positions} table */
  function chosen({ length, d_model }) {
    const { at, by, pair } = store.get().link.options;
    const start = Math.min(at, length - 2);
    return {
      at: start,
      by: Math.max(1, Math.min(by, length - 1 - start)),
      pair: Math.min(pair, pairs(d_model) - 1),
    };
  }

  function draw() {
    if (!found) return;
    const { length, d_model } = found;
    const small = length < 2 || d_model < 2;
    element.toggleAttribute("data-small", small);
    if (small) return verdict.replaceChildren(t("A rotation needs two positions and two features."));
    offer(found);
    const { at, by, pair } = chosen(found);
    const { largest, compared } = check({ rows: length, cols: d_model, values: found.positions }, by);
    verdict.textContent = t(
      "PE(pos + {k}) is PE(pos) turned, for every pos: largest difference {difference}, over {count} numbers.",
      { k: by, difference: tiny(largest), count: compared },
    );
    face.replaceChildren(large(at, by, pair));
    face.dataset.drawn = "";
    sum.replaceChildren(equation(at, by, pair));
    strip.replaceChildren(row(at, by, pair));
    says.textContent = prose([
      t("Pair {i} is features {a} and {b}, one hand of a clock: it turns by ω = {omega} rad a position and comes round in λ = {length} positions.", {
        i: pair,
        a: 2 * pair,
        b: 2 * pair + 1,
        omega: frequency(pair, d_model).toPrecision(4),
        length: wavelength(2 * pair, d_model).toPrecision(4),
      }),
      t("The matrix has k and ω in it, and no position: what is k further on looks the same from everywhere, so a head can learn to look there."),
    ]);
  }

  /** @param {number} at @param {number} by @param {number} pair */
  function large(at, by, pair) {
    const { length, d_model } = /** @type {Positions} */ (found);
    const omega = frequency(pair, d_model);
    const svg = drawing(
      330,
      330,
      theme(),
      clock({ x: 165, y: 165, radius: 125 }, { omega, at, by, count: length, label: true }, theme()),
    );
    svg.setAttribute("role", "img");
    svg.setAttribute(
      "aria-label",
      t("A clock whose hand stands at position {a}, and at position {b}, {angle} rad further on", {
        a: at,
        b: at + by,
        angle: four(by * omega),
      }),
    );
    return svg;
  }

  /** All pairs, or some of them from the fastest to the slowest. @param {number} at @param {number} by @param {number} pair */
  function row(at, by, pair) {
    const { length, d_model } = /** @type {Positions} */ (found);
    const count = Math.min(SMALL, pairs(d_model));
    const some = Array.from({ length: count }, (_, n) =>
      Math.round((n * (pairs(d_model) - 1)) / Math.max(1, count - 1)),
    );
    const groups = some.map((i, n) =>
      s(
        "g",
        { "data-pair": i },
        s("rect", { x: n * 68, y: 0, width: 64, height: 92, rx: 6, fill: theme().attention, "fill-opacity": i === pair ? 0.12 : 0 }),
        clock({ x: n * 68 + 32, y: 34, radius: 26 }, { omega: frequency(i, d_model), at, by, count: length }, theme()),
        s("text", { x: n * 68 + 32, y: 80, "text-anchor": "middle", fill: theme().muted }, `i = ${i}`),
      ),
    );
    const svg = drawing(count * 68, 94, theme(), ...groups);
    svg.setAttribute("aria-hidden", "true");
    return svg;
  }

  /** @param {number} at @param {number} by @param {number} pair */
  function equation(at, by, pair) {
    const { d_model, positions } = /** @type {Positions} */ (found);
    const part = (/** @type {number} */ pos) => [0, 1].map((one) => positions[pos * d_model + 2 * pair + one]);
    const [before, after] = [part(at), part(at + by)];
    const matrix = turn(by * frequency(pair, d_model));
    const [x, y] = matrix.map((line) => line[0] * before[0] + line[1] * before[1]);
    return math(
      [table([["cos kω", "sin kω"], ["−sin kω", "cos kω"]]), table([[`sin ${at}ω`], [`cos ${at}ω`]], "q")],
      [table(matrix.map((line) => line.map(four))), table(before.map((value) => [four(value)]), "q")],
      [table([[four(x)], [four(y)]])],
      [table(after.map((value) => [four(value)]), "k"), words(t("as in the table: PE({pos})", { pos: at + by }))],
    );
  }

  return {
    element,
    /** @param {Positions} table */
    draw(table) {
      found = table;
      draw();
    },
    light() {},
    destroy() {},
    picture: () => ({ svg: file(/** @type {SVGSVGElement} */ (face.querySelector("svg")), theme()) }),
  };
}

/** @param {string} tag @param {...(Node | string)} children */
function m(tag, ...children) {
  const element = document.createElementNS(MATHML, tag);
  element.append(...children);
  return element;
}

/** Sides of an equation, one below the other. @param {...Node[]} sides */
function math(...sides) {
  return h(
    "div",
    { className: "equation" },
    ...sides.map((side, i) => h("div", {}, m("math", m("mrow", ...(i ? [m("mo", "=")] : []), ...side)))),
  );
}

/** In brackets. @param {string[][]} rows @param {string} [role] */
function table(rows, role) {
  const cells = rows.map((row) => m("mtr", ...row.map((cell) => m("mtd", m("mtext", cell)))));
  const made = m("mrow", m("mo", "["), m("mtable", ...cells), m("mo", "]"));
  if (role) made.setAttribute("class", `as-${role}`);
  return made;
}

/** @param {string} text */
const words = (text) => m("mtext", ` ${text}`);
