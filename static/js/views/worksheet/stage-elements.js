/**
 * A stage of the worksheet as elements: text, formulas, bars, tables and the comparison with the
 * model.
 */

import { mathml } from "../../core/compute/formula.js";
import { shareBar } from "../../core/draw/colour-scales.js";
import { fine, s } from "../../core/draw/svg.js";
import { quoted } from "../../core/draw/token.js";
import { h, render } from "../../lib/dom.js";
import { four, tiny, two } from "../../lib/numbers.js";

/** @import { Band, Entry, Prose, Stage, Table, Turn } from "./stage-contents.js" */
/** @import { Context } from "../../core/figure/types.js" */

/** With more bars than this, some are thinner than a pixel, so they get an outline. */
const DENSE = 300;
const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Context} context
 * @param {Stage} stage
 * @param {number} number  from 1
 */
export function section(context, stage, number) {
  const { id, title, prose, formulas, bands, unit = "", turns = [], tables, check } = stage;
  const heading = h("h3", { tabIndex: -1 }, h("span", { className: "nth" }, String(number)), " ", title);
  const element = h(
    "section",
    { className: "sheet", "aria-label": title },
    heading,
    h(
      "div",
      { className: "working-out" },
      ...prose.map((words) => h("p", {}, ...spoken(context, words))),
      formulas.length > 0 && h("div", { className: "formulas" }, ...formulas.map((formula) => h("p", {}, mathml(document, formula, true)))),
      turns.length > 0 && dials(context, turns),
      bands.length > 0 && bars(context, bands, unit),
    ),
    tables.length > 0 && h("div", { className: "tables" }, ...tables.map((table) => numbers(context, table))),
    check && judgement(context, check),
  );
  element.dataset.stage = id;
  return element;
}

/** @param {Context} context @param {Prose} prose */
function spoken({ phrase }, { message, values = {} }) {
  return phrase(
    message,
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, uttered(value)]),
    ),
  );
}

/** @param {NonNullable<Prose["values"]>[string]} value */
function uttered(value) {
  if (typeof value !== "object") return value;
  return "math" in value ? mathml(document, value.math) : h("b", {}, quoted(value.writes));
}

/** @param {Context} context @param {import("./sublayer.js").Check} check */
export function judgement({ t, phrase }, { agrees, largest, count }) {
  const word = agrees
    ? h("b", {}, "✓ ", t("Agrees with the model"))
    : h("b", {}, "✗ ", t("Differs from the model"));
  const message = t("{verdict}: largest difference {difference}, over {count} numbers.");
  return h(
    "p",
    { className: agrees ? "verdict" : "verdict differs" },
    ...phrase(message, { verdict: word, difference: difference(largest), count }),
  );
}

/** A difference, such as 2.1 · 10⁻⁷. @param {number} value */
const difference = (value) => h("span", { className: "tiny" }, tiny(value));

/**
 * Vectors as bars above and below a line, one vector below the other; the hovered value is shown.
 * @param {Context} context
 * @param {Band[]} bands
 * @param {string} unit
 */
function bars({ t }, bands, unit) {
  const readout = h("p", { className: "readout", "aria-hidden": "true" }, t("Point at a bar to read its number."));
  const rows = bands.map(({ name, values, tone }) => {
    const limit = Math.max(...Array.from(values, Math.abs)) || 1;
    return h(
      "div",
      { className: `strip-band ${tone}` },
      h("span", { className: "name" }, mathml(document, name)),
      silhouette(values, limit),
      h("span", { className: "range" }, `±${two(limit)}`),
    );
  });
  const element = h("div", { className: "bands" }, ...rows, readout);
  element.addEventListener("pointermove", (event) => {
    const frame = rows[0].querySelector("svg")?.getBoundingClientRect();
    const length = bands[0].values.length;
    const index = frame ? Math.floor(((event.clientX - frame.left) / frame.width) * length) : -1;
    if (index < 0 || index >= length) return;
    render(
      readout,
      `${unit} ${index + 1}`,
      ...bands.flatMap(({ name, values }) => ["\u2003", mathml(document, name), ` = ${four(values[index])}`]),
    );
  });
  return element;
}

/**
 * Bars from a middle line, as two shapes: positive and negative values.
 * @param {ArrayLike<number>} values
 * @param {number} limit  half the height
 */
function silhouette(values, limit) {
  const svg = document.createElementNS(SVG, "svg");
  // Without negative values, no space is needed below the line.
  const depth = Array.from(values).some((value) => value < 0) ? 1 : 0;
  svg.setAttribute("viewBox", `0 -1 ${values.length} ${1 + depth}`);
  if (values.length > DENSE) svg.setAttribute("class", "dense");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  for (const [name, sign] of /** @type {const} */ ([["above", 1], ["below", -1]])) {
    const path = document.createElementNS(SVG, "path");
    const bar = (/** @type {number} */ value, /** @type {number} */ i) =>
      value * sign > 0 ? `M${(i + 0.08).toFixed(2)} 0v${(-value / limit).toFixed(4)}h.84V0z` : "";
    path.setAttribute("d", Array.from(values, bar).join(""));
    path.setAttribute("class", name);
    svg.append(path);
  }
  const zero = document.createElementNS(SVG, "path");
  zero.setAttribute("d", `M0 0H${values.length}`);
  zero.setAttribute("class", "zero");
  svg.append(zero);
  return svg;
}

/** @param {Context} context @param {Table} table */
function numbers({ t }, { title, head, rows, few, entries, marked, foot }) {
  const body = h("tbody", {});
  /** @param {number[]} some */
  const add = (some) =>
    body.append(
      ...some.map((row) => {
        const [first, ...cells] = entries(row);
        return h("tr", { className: row === marked ? "here" : "" }, h("th", { scope: "row" }, ...entryContent(first)), ...cells.map(datum));
      }),
    );
  add(rows.slice(0, few));
  const table = h(
    "table",
    {},
    h("caption", {}, title),
    h("thead", {}, h("tr", {}, ...head.map((name) => h("th", { scope: "col" }, typeof name === "string" ? name : mathml(document, name.math))))),
    body,
    foot && h("tfoot", {}, h("tr", {}, h("th", { scope: "row" }, ...entryContent(foot[0])), ...foot.slice(1).map(datum))),
  );
  const element = h("div", { className: "numbers" }, h("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": title }, table));
  if (rows.length > few) {
    const showAll = h("button", { type: "button", className: "button quiet more" }, t("Show all {count}", { count: rows.length }));
    showAll.addEventListener("click", () => {
      add(rows.slice(few));
      /** @type {HTMLElement} */ (element.firstElementChild).focus();
      showAll.remove();
    });
    element.append(showAll);
  }
  return element;
}

/** @param {Entry} entry */
const datum = (entry) => h("td", {}, ...entryContent(entry));

/** @param {Entry} entry @returns {import("../../lib/dom.js").Child[]} */
function entryContent(entry) {
  if (entry === null) return [];
  if (typeof entry === "number") return [four(entry)];
  if (typeof entry === "string") return [entry];
  if ("exact" in entry) return [difference(entry.exact)];
  if ("math" in entry) return [mathml(document, entry.math)];
  if ("bar" in entry) return [shareBar(entry.bar)];
  return [quoted(entry.writes)];
}

// Rotations of pairs of channels: arrows before and after, with the angle between them.

/** The length of an arrow in a drawing of 100 × 100, and that of the arc. */
const [LENGTH, ARC] = [42, 14];
/** The length of an arrow's head. */
const HEAD = 6;
/** Segments of a full turn. */
const STEPS = 48;

/** @param {Context} context @param {Turn[]} turns */
function dials({ t }, turns) {
  return h(
    "div",
    { className: "dials", role: "group", "aria-label": t("Rotated pairs") },
    ...turns.map((turn) =>
      h(
        "figure",
        { className: `dial ${turn.tone}` },
        dial(turn),
        h(
          "figcaption",
          {},
          mathml(document, turn.name),
          h("span", {}, t("channels {pair}", { pair: turn.pair })),
          h("span", { className: "turned" }, t("{angle} rad", { angle: four(turn.angle) })),
        ),
      ),
    ),
  );
}

/** Its arrow always has the same length. @param {Turn} turn */
function dial({ from, to, angle }) {
  const magnitude = Math.hypot(...to) || 1;
  const scaled = (/** @type {[number, number]} */ [x, y]) => [(x / magnitude) * LENGTH, (-y / magnitude) * LENGTH];
  const start = Math.atan2(from[1], from[0]);
  return s(
    "svg",
    { viewBox: "-50 -50 100 100", "aria-hidden": "true" },
    s("path", { class: "axis", d: "M-48 0H48M0 -48V48" }),
    s("circle", { class: "orbit", r: LENGTH }),
    s("path", { class: "arc", d: arc(start, angle, ARC) }),
    arrow(scaled(from), "was"),
    arrow(scaled(to), "is"),
  );
}

/**
 * An arc that winds around for more than one turn, slightly further out each time.
 * @param {number} start
 * @param {number} angle  in radians, counter-clockwise
 * @param {number} radius
 */
function arc(start, angle, radius) {
  // After several turns, only the last three are drawn.
  const drawn = Math.min(Math.abs(angle), 6 * Math.PI);
  const steps = Math.max(1, Math.ceil((drawn / (2 * Math.PI)) * STEPS));
  const first = angle - Math.sign(angle) * drawn;
  const points = Array.from({ length: steps + 1 }, (_, i) => {
    const pointAngle = start + first + ((angle - first) * i) / steps;
    const out = radius * (0.6 + (0.4 * i) / steps);
    return point(out * Math.cos(pointAngle), -out * Math.sin(pointAngle));
  });
  return `M${points.join("L")}`;
}

/** @param {number[]} end @param {string} name */
function arrow([x, y], name) {
  const length = Math.hypot(x, y);
  const shaft = s("path", { d: `M0 0L${point(x, y)}` });
  if (length < HEAD / 2) return s("g", { class: name }, shaft);
  const [ux, uy] = [x / length, y / length];
  const side = (/** @type {number} */ by) => point(x - HEAD * ux - by * uy, y - HEAD * uy + by * ux);
  const head = s("path", { class: "head", d: `M${point(x, y)}L${side(HEAD / 2.3)}L${side(-HEAD / 2.3)}Z` });
  return s("g", { class: name }, shaft, head);
}

/** @param {number} x @param {number} y */
const point = (x, y) => `${fine(x)} ${fine(y)}`;
