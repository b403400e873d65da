/** The lab's page around its figure: projector mode with letters for the last row, the formulas, and exports. */

import { latex, latexNumber } from "../core/compute/formula.js";
import { maskTerm } from "../core/draw/colour-scales.js";
import { isPlainKey } from "../core/figure/pointing.js";
import { bindExportPanel, worksheetOf } from "../core/page/disclosure.js";
import { bindFit } from "../core/page/projector-fit.js";
import { Problem } from "../core/wire/reply.js";
import { csv, number } from "../lib/csv.js";
import { find, h } from "../lib/dom.js";
import { matrixSymbol } from "./figure/controls.js";
import { numberFormat } from "./figure/step-results.js";
import { FORMULAS, createFormula } from "./formulas/formula.js";
import { format, labRequest, shareState } from "./lab-link.js";
import { axisLabels, shownSteps } from "./steps.js";

/** @import { Lab } from "./matrices.js" */
/** @import { Answer } from "./steps.js" */

/** What takes letters for itself. */
const WRITES = "input:not([type=radio], [type=checkbox], [type=range]), textarea, select";

/**
 * @param {import("../core/figure/types.js").PageContext & {restyle: () => void}} page
 * @param {object} lab
 * @param {boolean} lab.startsOn  whether it begins in projector mode
 * @param {() => string} lab.subject  what is shown
 * @param {() => void} lab.changed  called when it is switched
 * @returns {{on: () => boolean, follow: () => void}}  follow: something else is shown
 */
export function bindLabProjector({ t, announce, restyle }, { startsOn, subject, changed }) {
  const root = document.documentElement;
  const enter = find("#projector");
  const on = () => root.hasAttribute("data-projector");
  root.toggleAttribute("data-projector", startsOn);
  const follow = bindFit({ on, subject, restyle, place: find("#lab") });

  /** @param {boolean} turnOn */
  function turn(turnOn) {
    if (turnOn === on()) return;
    root.toggleAttribute("data-projector", turnOn);
    enter.setAttribute("aria-pressed", String(turnOn));
    restyle();
    follow();
    changed();
    find(turnOn ? "#figure" : "#more").focus();
    announce(turnOn ? t("Projector mode. Escape leaves.") : t("Left projector mode."));
  }

  enter.setAttribute("aria-pressed", String(startsOn));
  enter.addEventListener("click", () => turn(!on()));
  find("#projector-leave").addEventListener("click", () => turn(false));
  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (!isPlainKey(event) || document.querySelector("dialog[open]")) return;
    if (key === "Escape") return turn(false);
    if (key.toLowerCase() !== "p" || (target instanceof Element && target.closest(WRITES))) return;
    event.preventDefault();
    turn(!on());
  });
  return { on, follow };
}

/** What decides how large it is: not what is typed into a cell. @param {import("./matrices.js").Lab} [lab] */
export const labShape = (lab) => lab && [lab.heads, lab.scoring, ...Object.values(lab.matrices).map((cells) => [cells.length, cells[0]?.length])];

// The lab's formulas, one of them shown at a time in place of the matrices.

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {URLSearchParams} link  from the link
 * @param {() => void} changed  called when the link must change
 * @param {string[]} [offered]  keys of `FORMULAS`
 */
export function bindFormulas(page, api, link, changed, offered = Object.keys(FORMULAS)) {
  const root = find("#formulas");
  let shownId = "";
  const panels = offered.map((id) => {
    const { title } = FORMULAS[id];
    const place = h("div", {});
    const section = h("section", { className: "panel-of-formula", hidden: true }, h("h2", {}, title(page.t)), place);
    root.append(section);
    return { id, section, figure: createFormula({ root: place, page, api, id, link, onChange: changed }) };
  });

  /** @param {string} id  of the one to be shown; "": none */
  function go(id) {
    shownId = offered.includes(id) ? id : "";
    root.hidden = !shownId;
    for (const panel of panels) {
      panel.section.hidden = panel.id !== shownId;
      if (panel.id === shownId) panel.figure.draw();
    }
    changed();
  }

  return {
    names: Object.fromEntries(offered.map((id) => [id, FORMULAS[id].title(page.t)])),
    shown: () => shownId,
    go,
    /** The formula and the changed fields as part of a link: "&…", or "". */
    query: () =>
      [...(shownId ? [["show", shownId]] : []), ...panels.flatMap(({ figure }) => figure.query())]
        .map(([name, value]) => `&${name}=${encodeURIComponent(value)}`)
        .join(""),
  };
}

// The lab's exports: numbers for a spreadsheet or a program, LaTeX, a handout.

/**
 * The axes of matrices that follow tokens; all others have rows and columns.
 * @type {Record<string, string[]>}
 */
const AXES = { x: ["query", "feature"], memory: ["key", "feature"], padding: ["row", "key"], targets: ["row", "query"] };

/**
 * Matrices and steps, one number per line, in the convention shown.
 * @param {Lab} lab
 * @param {Answer} answer
 */
export function labCsv(lab, { steps, dims }) {
  const column = lab.convention === "column";
  const named = (/** @type {string} */ side, /** @type {number} */ count) => axisLabels(lab, side, count).map((text) => ({ text }));
  const typed = Object.entries(lab.matrices).map(([name, cells]) => {
    const [first, second] = AXES[name] ?? ["row", "column"];
    return tensor(name, column ? [second, first] : [first, second], cells.map((row) => row.map((text) => number(text).value ?? NaN)));
  });
  const computed = Object.entries(steps).map(([name, values]) => tensor(name, dims[name], values));
  const tensors = Object.fromEntries([...typed, ...computed]);
  const tokens = { query: named("query", lab.tokens.length), key: named("key", (lab.matrices.memory ? lab.memoryTokens : lab.tokens).length) };
  return csv(/** @type {any} */ ({ tokens, tensors }), Object.keys(tensors));
}

/** @param {string} name @param {string[]} dims @param {any} values @returns {[string, object]} */
function tensor(name, dims, values) {
  const data = [values].flat(Infinity).map(Number);
  const over = Object.fromEntries(dims.filter((dim) => dim === "query" || dim === "key").map((dim) => [dim, dim]));
  return [name, { dims, over, shape: shapeOf(values), dtype: "float64", data }];
}

/** @param {any} values @returns {number[]} */
const shapeOf = (values) => (Array.isArray(values) ? [values.length, ...shapeOf(values[0])] : []);

/** The request as a program sends it, with the reply. @param {Lab} lab @param {Answer} answer */
const labJson = (lab, answer) => JSON.stringify({ request: labRequest(lab), ...answer }, null, 1);

/**
 * Every matrix and every step with its formula, as LaTeX with amsmath.
 * @param {Lab} lab
 * @param {Answer} answer
 * @param {import("../lib/i18n.js").Translate} t
 * @param {(value: number) => string} format
 * @param {(name: string) => import("../core/compute/formula.js").Formula} printed  a matrix's name
 */
export function labLatex(lab, answer, t, format, printed) {
  const inputs = Object.entries(lab.matrices).map(([name, cells]) => `\\[ ${latex(printed(name))} = ${matrix(cells.map((row) => row.map(asTyped)))} \\]`);
  const steps = shownSteps(lab, answer, t).flatMap(({ id, name, formula, tables, scale }) => [
    "",
    `% ${name}`,
    `\\[ ${latex(formula)} \\]`,
    ...tables.map(({ title, values }) => {
      const cells = values.map((row) => row.map((value) => latexNumber(scale === "mask" ? maskTerm(Boolean(value)) : format(value))));
      return `\\[ ${symbol(formula, id)}${title ? `^{(${title.replace(/\D+/g, "")})}` : ""} = ${cells.length === 1 && cells[0].length === 1 ? cells[0][0] : matrix(cells)} \\]`;
    }),
  ]);
  return ["% \\usepackage{amsmath}", `% ${lab.tokens.join(" ").replace(/\s+/g, " ")}`, ...inputs, ...steps, ""].join("\n");
}

/**
 * The left side of a formula.
 * @param {import("../core/compute/formula.js").Formula} formula
 * @param {string} otherwise
 */
const symbol = (formula, otherwise) => latex(Array.isArray(formula) ? formula[0] : otherwise);

/** @param {string[][]} cells */
const matrix = (cells) => `\\begin{pmatrix} ${cells.map((row) => row.join(" & ")).join(" \\\\ ")} \\end{pmatrix}`;

/** A cell as typed: 1/3 is a fraction. @param {string} text */
const asTyped = (text) => latexNumber(text.normalize("NFKC").replace(/[-–]/g, "−").replace(/\s/g, ""));

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("./figure/lab-figure.js").LabFigure} figure
 * @param {string} lang
 * @param {import("../core/wire/api.js").Api | null} [api]  of the server that makes handouts and
 *   worksheets; null: there is none
 */
export function bindExports({ t }, figure, lang, api = null) {
  const kinds = [
    { kind: "csv", name: "CSV", says: t("the numbers, for a spreadsheet") },
    { kind: "tex", name: "LaTeX", says: t("matrices and formulas, for a paper") },
    { kind: "json", name: "JSON", says: t("the request and the reply of the API") },
    ...(api ? [{ kind: "html", name: "HTML", says: t("a handout: opens anywhere, without a network") }] : []),
  ];

  /** @param {string} kind */
  async function make(kind) {
    const computed = figure.computed();
    if (!computed) throw new Problem("nothing-drawn");
    const { lab, answer } = computed;
    if (kind === "csv") return new Blob([labCsv(lab, answer)], { type: "text/csv" });
    if (kind === "json") return new Blob([labJson(lab, answer)], { type: "application/json" });
    if (kind === "tex") return new Blob([labLatex(lab, answer, t, numberFormat(lab), matrixSymbol)], { type: "application/x-tex" });
    if (!api) throw new Problem("unsupported", { detail: "a handout needs a server" });
    const dark = find("#theme").getAttribute("aria-pressed") === "true";
    return api.file(`/api/handout?theme=${dark ? "dark" : "light"}`, { body: { state: shareState(lab, lang) } });
  }

  const worksheet = () => worksheetOf(`/lab?${format(figure.lab())}`, lang);
  bindExportPanel({ t, kinds, ...(api ? { worksheet } : {}), make: async (kind) => ({ file: await make(kind), name: `headlight-by-hand.${kind}` }) });
}
