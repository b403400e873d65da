/** The editable matrices, each in its grid. */

import { formulaText } from "../../core/compute/formula.js";
import { h, render, write } from "../../lib/dom.js";
import { NAMES, enlarged } from "../matrices.js";
import { numberGrid } from "./number-grid.js";

/** @import { Lab } from "../matrices.js" */
/** @import { PageContext as Page } from "../../core/figure/types.js" */

/** @typedef {{get: () => Lab, change: (next: Lab, subject?: string) => void, fixed: boolean, idPrefix: string, offered: (name: string) => boolean}} LabEditor  idPrefix: what ids begin with */

/** Their printed names. @type {Record<string, string>} */
const PRINTED = {
  x: "X", memory: "E", padding: "padding", w: "w", pi: "π", w_vocab: "W_vocab", targets: "y",
  gamma: "γ", beta: "β", ffn_gamma: "γ_2", ffn_beta: "β_2",
};
const HEADED = new Set(["w_q", "w_k", "w_v", "b_q", "b_k", "b_v"]);
const OFFSETS = ["≤ −2", "−1", "0", "1", "≥ 2"];

/** @param {string} name */
export const matrixSymbol = (name) => PRINTED[name] ?? name.toUpperCase().replace(/^B/, "b");

/** @param {Page} page @param {LabEditor} editor */
export function createMatrices(page, { get, change, fixed, idPrefix, offered }) {
  const { t, announce } = page;
  const element = h("div", { className: "lab-matrices", role: "group", "aria-label": t("Matrices") });
  /** @type {Map<string, ReturnType<typeof boxed>>} */
  const boxes = new Map();
  /**
   * What each grid currently shows.
   * @type {Map<string, {cells: string[][], depends: string, theme: object}>}
   */
  const drawn = new Map();

  /** @param {string} name */
  function boxed(name) {
    const grid = numberGrid({
      id: `${idPrefix}-${name}`,
      name: formulaText(matrixSymbol(name)),
      t,
      announce,
      onEdit: (cells, place) => change({ ...get(), matrices: { ...get().matrices, [name]: cells } }, `${name} ${place}`),
      onGrow: (rows, cols) => {
        const larger = enlarged(get(), name, rows, cols);
        if (larger) change(larger);
      },
      onName(index, text) {
        const key = name === "memory" ? "memoryTokens" : "tokens";
        change({ ...get(), [key]: get()[key].map((token, i) => (i === index ? text : token)) }, `${key} ${index}`);
      },
    });
    const called = name === "padding" ? [t("Padding")] : subscript(matrixSymbol(name));
    const [title, size] = [h("h2", {}, ...called), h("span", { className: "size" })];
    const box = h("div", { className: `matrix-box is-${name}`, "data-of": name }, h("div", { className: "box-head" }, title, size), h("div", { className: "scrolled" }, grid.element), ...grid.notes);
    return { element: box, size, grid };
  }

  return {
    element,
    /** @param {Lab} lab @param {ReturnType<typeof import("../lab-link.js").invalidCells>} wrong */
    show(lab, wrong) {
      const names = NAMES.filter((name) => lab.matrices[name] && offered(name));
      const column = lab.convention === "column";
      const messages = reasons(t, lab);
      for (const name of names) {
        const box = boxes.get(name) ?? boxed(name);
        boxes.set(name, box);
        const cells = lab.matrices[name];
        // A matrix that was not edited is not redrawn with each key.
        const depends = JSON.stringify([wrong[name], lab.tokens, lab.memoryTokens, lab.heads, lab.convention, messages.id]);
        const before = drawn.get(name);
        drawn.set(name, { cells, depends, theme: page.theme() });
        if (before && before.cells === cells && before.depends === depends && before.theme === page.theme()) continue;
        const places = named(t, lab, name, cells);
        const [first, second] = [places.rows, places.cols];
        const typed = name === "x" || name === "memory" ? (column ? "cols" : "rows") : null;
        write(box.size, `${cells.length} × ${cells[0].length}`);
        const room = `${60 * cells[0].length + (first.length > 1 ? 70 : 10)}px ${34 * cells.length + 60}px`;
        box.element.style.setProperty("contain-intrinsic-size", room); // approximate size
        box.grid.show({
          cells,
          rows: column ? second : first,
          cols: column ? first : second,
          named: typed,
          ...(HEADED.has(name) ? { heads: lab.heads, shared: column ? "rows" : "cols" } : {}),
          ...(name === "w_o" ? { heads: lab.heads, shared: column ? "cols" : "rows" } : {}),
          why: (i, j) => messages[wrong[name]?.[`${i},${j}`] ?? ""] ?? "",
          theme: page.theme(),
          fixed,
        });
      }
      render(element, ...names.map((name) => /** @type {ReturnType<typeof boxed>} */ (boxes.get(name)).element));
    },
  };
}

/**
 * The labels of a matrix's rows and columns in the row convention.
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {Lab} lab
 * @param {string} name
 * @param {string[][]} cells
 */
function named(t, lab, name, cells) {
  const [rows, cols] = lab.convention === "column" ? [cells[0].length, cells.length] : [cells.length, cells[0].length];
  const counted = (/** @type {number} */ count, first = 1) => Array.from({ length: count }, (_, i) => String(i + first));
  if (name === "x") return { rows: lab.tokens, cols: counted(cols) };
  if (name === "memory") return { rows: lab.memoryTokens, cols: counted(cols) };
  if (name === "pi") return { rows: [""], cols: OFFSETS };
  if (name === "padding") return { rows: [""], cols: lab.matrices.memory ? lab.memoryTokens : lab.tokens };
  if ((name === "w" || name === "b") && rows > 1) return { rows: counted(rows).map((n) => t("Head {n}", { n })), cols: counted(cols) };
  if (name === "targets") return { rows: [""], cols: lab.tokens };
  return { rows: rows === 1 ? [""] : counted(rows), cols: counted(cols, name === "w_vocab" ? 0 : 1) };
}

/** @param {import("../../lib/i18n.js").Translate} t @param {Lab} lab @returns {Record<string, string>} */
function reasons(t, lab) {
  const vocab = lab.matrices.w_vocab;
  const last = (lab.convention === "column" ? vocab?.length : vocab?.[0].length) ?? 1;
  return {
    empty: t("Type a number."),
    text: t("Not a number. Write 0.5, −2 or 1/3."),
    flag: t("1 for padding, 0 for a token."),
    large: t("At most 1,000,000 in size."),
    id: t("A whole number from 0 to {last}.", { last: last - 1 }),
  };
}

/** "W_Q" with Q as a subscript. @param {string} name */
function subscript(name) {
  const [body, sub] = name.split("_");
  return sub ? [body, h("sub", {}, sub)] : [body];
}
