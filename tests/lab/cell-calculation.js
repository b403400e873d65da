/**
 * For test_cell_calculation.py: prints the requests of labs of all kinds; then, given the server's answers,
 * what the arithmetic that the page prints of each number comes to, and which cells it names.
 */

import { readFileSync } from "node:fs";
import { transposedLab, withExtra, withSizes } from "../../static/js/lab/matrices.js";
import { PRESETS, labRequest, preset } from "../../static/js/lab/lab-link.js";
import { cellOrigins } from "../../static/js/lab/cell-calculation.js";

/** @import { Lab } from "../../static/js/lab/matrices.js" */

/** Numbers that are neither whole nor alike. @param {Lab} lab @returns {Lab} */
function drawn(lab) {
  let at = 0;
  const entries = Object.entries(lab.matrices).map(([name, cells]) => [
    name,
    name === "targets" || name === "padding" ? cells : cells.map((row) => row.map(() => String(Math.sin(1.7 * ++at)))),
  ]);
  return { ...lab, matrices: Object.fromEntries(entries) };
}

/** Its first token is padding. @param {Lab} lab @returns {Lab} */
const padded = (lab) => ({ ...lab, matrices: { ...lab.matrices, padding: [["1", "0", "0"]] } });

/** @param {Lab} lab @param {...string} parts */
const having = (lab, ...parts) => parts.reduce((made, part) => withExtra(made, part, true), lab);

const full = having(preset("heads"), "biases", "ffn", "vocab");
const labs = [
  ...Object.keys(PRESETS).map(preset),
  drawn(full),
  drawn(withSizes({ ...having(full, "memory"), norm: "pre", mask: "causal", relative: "sinusoidal", smoothing: "0.1" }, { m: 4 })),
  drawn(withSizes({ ...full, norm: "post", scoring: "additive", relative: "multiply", mask: "window", shift: false })),
  drawn(withSizes({ ...having(preset("ffn"), "vocab"), norm: "residual", scoring: "dot", relative: "sinusoidal" })),
  drawn(withSizes({ ...having(preset("identity"), "vocab"), norm: "pre" })),
  drawn(having({ ...full, norm: "pre", mask: "causal-window", scoring: "additive" }, "affine", "padding", "memory")),
  padded(drawn(having({ ...full, norm: "post", mask: "window" }, "affine", "padding"))),
  drawn(withSizes({ ...having(preset("heads"), "vocab"), norm: "post" }, { has: ["x", "w_q", "w_k", "w_v", "w_vocab", "targets"], k: 3 })),
].flatMap((lab) => [lab, transposedLab(lab)]);

const say = String;
/** Minus infinity, which JSON cannot write. */
const MASKED = -1e300;

/** A formula as JavaScript. @param {any} formula @returns {string} */
function code(formula) {
  if (typeof formula === "string") return { "·": "*", "−": "-", tanh: "Math.tanh", max: "Math.max", log: "Math.log" }[formula] ?? formula;
  if (Array.isArray(formula)) {
    const parts = formula.map((part, i) => (formula[i - 1] === "log" ? `(${code(part)})` : code(part)));
    return parts.join(" ");
  }
  if ("plain" in formula) return `(${String(formula.plain).replace("−∞", String(MASKED))})`;
  if ("over" in formula) return `((${code(formula.over)}) / (${code(formula.under)}))`;
  if ("root" in formula) return `Math.sqrt(${code(formula.root)})`;
  return `Math.exp(${code(formula.power)})`;
}

/** @param {Lab} lab @param {any} answer */
function checked(lab, answer) {
  const origin = cellOrigins(lab, answer, say);
  /** @type {object[]} */
  const found = [];
  for (const [step, dims] of Object.entries(answer.dims)) {
    const heads = dims[0] === "head" ? answer.steps[step] : [answer.steps[step]];
    heads.forEach((/** @type {any} */ values, /** @type {number} */ head) => {
      const rows = !dims.length ? [[values]] : dims.length === 1 ? values.map((/** @type {number} */ one) => [one]) : values;
      rows.forEach((/** @type {number[]} */ row, /** @type {number} */ i) =>
        row.forEach((value, j) => {
          const from = origin(step, { head, row: i, col: j });
          if (!from) return;
          const comes = (0, eval)(from.terms.map(code).join(" "));
          const added = step === "mask" ? { value: value ? 0 : MASKED, comes: Math.max(comes, MASKED) } : { value, comes };
          found.push({ step, head, row: i, col: j, ...added, from: from.from });
        }),
      );
    });
  }
  return found;
}

if (process.argv[2]) {
  const answers = JSON.parse(readFileSync(process.argv[2], "utf8"));
  console.log(JSON.stringify(labs.map((lab, i) => checked(lab, answers[i]))));
} else console.log(JSON.stringify(labs.map(labRequest)));
