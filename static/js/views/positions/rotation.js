/** PE(pos + k) as a rotation of PE(pos): shown for one pair of features, checked for all. */

import { check, frequency, pairs, rotationMatrix, wavelength } from "../../core/compute/positions.js";
import { drawing, file, fine, s } from "../../core/draw/svg.js";
import { controls } from "../../core/figure/controls.js";
import { el, h, render } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { four, significant, tiny } from "../../lib/numbers.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Positions } from "./encodings.js" */
/** @import { Theme } from "../../core/page/page-context.js" */

const SMALL = 8;

/** @typedef {{position: number, by: number, pair: number}} Chosen  a position, how far on, and the pair of features */

/** @param {Context} context */
export function createTurn(context) {
  const { store, t, theme } = context;
  /** @type {Positions | null} */
  let encodingTable = null;
  // The sliders' ranges follow the table.
  const options = controls(context, [
    { option: "at", label: t("Position"), range: () => [0, Math.max(0, (encodingTable?.length ?? 2) - 2), 1] },
    { option: "by", label: t("k, the offset"), range: () => [1, Math.max(1, (encodingTable?.length ?? 2) - 1), 1] },
    { option: "channels", label: t("Pair i"), range: () => [0, pairs(encodingTable?.d_model ?? 2) - 1, 1] },
  ]);
  const face = h("div", { className: "clock" });
  const strip = h("div", { className: "clocks scroller", tabIndex: 0, role: "group", "aria-label": t("Clocks of other pairs; the slider also selects them") });
  const sum = h("div", { className: "sum scroller", tabIndex: 0, role: "group", "aria-label": t("The rotation in numbers") });
  let verdict = "";
  const note = h("p", { className: "note" });
  const element = h(
    "div",
    { className: "turn" },
    h("div", {}, options),
    h("div", { className: "panels" }, face, h("div", { className: "beside" }, sum, strip, note)),
  );
  strip.addEventListener("click", (event) => {
    const group = /** @type {Element} */ (event.target).closest("[data-pair]");
    if (group) store.choose({ channels: Number(group.getAttribute("data-pair")) });
  });

  /** @param {Positions} table */
  function draw(table) {
    encodingTable = table;
    const { length, d_model } = table;
    const small = length < 2 || d_model < 2;
    element.toggleAttribute("data-small", small);
    if (small) return void (verdict = t("A rotation needs two positions and two features."));
    options.refresh();
    const now = chosen(store.get().link.options, table);
    const { largest, compared } = check({ rows: length, cols: d_model, values: table.positions }, now.by);
    verdict = t(
      "PE(pos + {k}) is a rotation of PE(pos) for every pos: largest difference {difference}, over {count} numbers.",
      { k: now.by, difference: tiny(largest), count: compared },
    );
    face.replaceChildren(large(context, now, table));
    face.dataset.drawn = "";
    render(sum, equation(t, now, table));
    strip.replaceChildren(row(theme(), now, table));
    note.textContent = prose(remarks(t, now.pair, d_model));
  }

  return {
    element,
    draw,
    light() {},
    finding: () => (verdict ? [verdict] : []),
    destroy() {},
    picture: () => ({ svg: file(/** @type {SVGSVGElement} */ (face.querySelector("svg")), theme()) }),
  };
}

/**
 * The chosen values, clamped to the table.
 * @param {any} options
 * @param {Positions} table
 * @returns {Chosen}
 */
function chosen({ at: position, by, channels }, { length, d_model }) {
  const start = Math.min(position, length - 2);
  return {
    position: start,
    by: Math.max(1, Math.min(by, length - 1 - start)),
    pair: Math.min(channels, pairs(d_model) - 1),
  };
}

/** @param {Context["t"]} t @param {number} pair @param {number} d_model */
const remarks = (t, pair, d_model) => [
  t("Pair {i} is features {a} and {b}, like the hand of a clock: it rotates by ω = {omega} rad per position and " +
    "completes a turn in λ = {length} positions.", {
    i: pair,
    a: 2 * pair,
    b: 2 * pair + 1,
    omega: significant(frequency(pair, d_model), 4),
    length: significant(wavelength(2 * pair, d_model), 4),
  }),
  t("The matrix depends on k and ω, not on the position: moving by k is the same rotation everywhere, so a head can " +
    "learn to look k positions away."),
];

/** @param {Context} context @param {Chosen} chosen @param {Positions} table */
function large({ t, theme }, { position, by, pair }, { length, d_model }) {
  const omega = frequency(pair, d_model);
  const svg = drawing(
    330,
    330,
    theme(),
    clock({ x: 165, y: 165, radius: 125 }, { omega, position, by, count: length, label: true }, theme()),
  );
  svg.setAttribute("role", "img");
  svg.setAttribute(
    "aria-label",
    t("A clock whose hand is at position {a}, and at position {b}, {angle} rad further", {
      a: position,
      b: position + by,
      angle: four(by * omega),
    }),
  );
  return svg;
}

/**
 * All pairs, or a selection from the fastest to the slowest.
 * @param {import("../../core/page/page-context.js").Theme} theme
 * @param {Chosen} chosen
 * @param {Positions} table
 */
function row(theme, { position, by, pair }, { length, d_model }) {
  const count = Math.min(SMALL, pairs(d_model));
  const some = Array.from({ length: count }, (_, n) =>
    Math.round((n * (pairs(d_model) - 1)) / Math.max(1, count - 1)),
  );
  const groups = some.map((i, n) =>
    s(
      "g",
      { "data-pair": i },
      s("rect", { x: n * 68, y: 0, width: 64, height: 92, rx: 6, fill: theme.attention, "fill-opacity": i === pair ? 0.12 : 0 }),
      clock({ x: n * 68 + 32, y: 34, radius: 26 }, { omega: frequency(i, d_model), position, by, count: length }, theme),
      s("text", { x: n * 68 + 32, y: 80, "text-anchor": "middle", fill: theme.muted }, `i = ${i}`),
    ),
  );
  const svg = drawing(count * 68, 94, theme, ...groups);
  svg.setAttribute("aria-hidden", "true");
  return svg;
}

/**
 * The rotation with numbers, one line per side of the equation.
 * @param {Context["t"]} t
 * @param {Chosen} chosen
 * @param {Positions} table
 */
function equation(t, { position, by, pair }, { d_model, positions }) {
  const part = (/** @type {number} */ pos) => [0, 1].map((offset) => positions[pos * d_model + 2 * pair + offset]);
  const [before, after] = [part(position), part(position + by)];
  const matrix = rotationMatrix(by * frequency(pair, d_model));
  const [x, y] = matrix.map((line) => line[0] * before[0] + line[1] * before[1]);
  const sides = [
    [table([["cos kω", "sin kω"], ["−sin kω", "cos kω"]]), table([[`sin ${position}ω`], [`cos ${position}ω`]], "q")],
    [table(matrix.map((line) => line.map(four))), table(before.map((value) => [four(value)]), "q")],
    [table([[four(x)], [four(y)]])],
    [table(after.map((value) => [four(value)]), "k"), el("mtext", {}, " ", t("as in the table: PE({pos})", { pos: position + by }))],
  ];
  const lines = sides.map((side, i) => el("div", {}, el("math", {}, el("mrow", {}, i > 0 && el("mo", {}, "="), side))));
  return el("div", { className: "equation" }, lines);
}

/** A matrix in brackets. @param {string[][]} rows @param {string} [role] */
function table(rows, role) {
  const cells = rows.map((row) => el("mtr", {}, row.map((cell) => el("mtd", {}, el("mtext", {}, cell)))));
  return el("mrow", { class: role && `as-${role}` }, el("mo", {}, "["), el("mtable", {}, cells), el("mo", {}, "]"));
}

// A (sin, cos) pair of an encoding as the hand of a clock: x is the sine, y the cosine, so that it
// starts at twelve and moves clockwise by ω radians per position.

/** @typedef {{x: number, y: number, radius: number}} Face */

/**
 * @param {Face} face
 * @param {{omega: number, position: number, by: number, count: number, label?: boolean}} hands
 * @param {Theme} theme
 */
function clock({ x, y, radius }, { omega, position, by, count, label = false }, theme) {
  const point = (/** @type {number} */ pos, r = radius) =>
    /** @type {[number, number]} */ ([fine(x + r * Math.sin(pos * omega)), fine(y - r * Math.cos(pos * omega))]);
  const hand = (/** @type {number} */ pos, /** @type {string} */ colour, width = 3) => {
    const [px, py] = point(pos);
    return s("path", { d: `M${x} ${y}L${px} ${py}`, stroke: colour, "stroke-width": width, "stroke-linecap": "round" });
  };
  const face = s("circle", { cx: x, cy: y, r: radius, fill: "none", stroke: theme.hatch });
  const group = s("g", {}, face);
  if (label)
    for (let pos = 0; pos < Math.min(count, 60); pos++) {
      const [px, py] = point(pos);
      group.append(s("circle", { cx: px, cy: py, r: 3, fill: theme.hatch }));
    }
  group.append(hand(position, theme.q, label ? 4 : 2.5), hand(position + by, theme.k, label ? 4 : 2.5));
  if (label) {
    group.append(arc({ x, y, radius: radius * 0.3 }, position * omega, by * omega, theme));
    for (const [pos, colour, far] of /** @type {[number, string, number][]} */ ([[position, theme.q, 20], [position + by, theme.k, 20]])) {
      const [px, py] = point(pos, radius + far);
      group.append(
        s("text", { x: px, y: py, fill: colour, "font-weight": 600, "text-anchor": "middle", "dominant-baseline": "central" }, String(pos)),
      );
    }
  }
  return group;
}

/**
 * An arc from an angle, by another angle.
 * @param {Face} face
 * @param {number} start
 * @param {number} turn
 * @param {Theme} theme
 */
function arc({ x, y, radius }, start, turn, theme) {
  const steps = 48;
  const points = Array.from({ length: steps + 1 }, (_, i) => {
    const angle = start + (Math.min(turn, 2 * Math.PI) * i) / steps;
    return `${fine(x + radius * Math.sin(angle))} ${fine(y - radius * Math.cos(angle))}`;
  });
  return s("path", { d: `M${points.join("L")}`, fill: "none", stroke: theme.ink, "stroke-width": 1.5, "stroke-dasharray": "3 3" });
}
