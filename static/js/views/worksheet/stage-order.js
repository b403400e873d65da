/** The order of the stages, and the whole sheet as plain text. */

import { formulaText } from "../../core/compute/formula.js";
import { four, tiny } from "../../lib/numbers.js";
import { plainStep } from "../../core/wire/tokens.js";
import { ffn, hidden, mix, onwards, output, softmax } from "./layer-stages.js";
import { givenProjection, input, project } from "./input-stages.js";
import { add, close, headNorm, norm, normAgain, ownNorm, ownNormAgain } from "./norm-stages.js";
import { rotate, score } from "./score-stages.js";
import { ONWARD } from "./stage-contents.js";

/** @import { Scene, Stage, Table, Entry, Prose } from "./stage-contents.js" */
/** @import { Translate } from "../../lib/i18n.js" */

/** The stages that a link may name; "all" shows all of them. */
export const STEPS = Object.freeze([
  "input",
  "project",
  "headnorm",
  "rotate",
  "score",
  "softmax",
  "mix",
  "output",
  "ownnorm",
  "add",
  "norm",
  "norm2",
  "hidden",
  "ffn",
  "ownnorm2",
  "close",
  ONWARD,
  "all",
]);

/** Longer tables are truncated in the plain text. */
const LINES = 64;

/**
 * The stages in the model's order of computation: norms come after the sublayers, or before them.
 * What the model does not have, or what is not known of it, has no stage.
 * @param {Scene} scene
 * @returns {Stage[]}
 */
export function stages(scene) {
  const { sheet, named } = scene;
  const before = sheet.project
    ? [input, ...(sheet.before ? [norm] : []), project, ...(sheet.perHead ? [headNorm] : []), ...(sheet.rotate ? [rotate] : [])]
    : [givenProjection];
  const added = sheet.norm ? [norm] : sheet.added ? [add] : [];
  const out = sheet.output ? [output, ...(sheet.outputNorm ? [ownNorm] : []), ...added] : [];
  const { ffn: fed } = sheet;
  const network = fed ? [...(fed.first ? [normAgain] : []), hidden, ffn, ...(fed.outputNorm ? [ownNormAgain] : []), close] : [];
  const next = !sheet.ffn && named.onwards ? [onwards] : [];
  return [...before, score, softmax, mix, ...out, ...network, ...next].map((stage) => stage(scene));
}

/**
 * @param {Stage[]} list
 * @returns {import("./sublayer.js").Check}  of all stages together
 */
export function overall(list) {
  const checks = list.flatMap(({ check }) => check ?? []);
  return {
    largest: Math.max(...checks.map(({ largest }) => largest)),
    count: checks.reduce((sum, { count }) => sum + count, 0),
    agrees: checks.every(({ agrees }) => agrees),
  };
}

/** @param {Translate} t @param {import("./sublayer.js").Check} check */
export function verdict(t, { agrees, largest, count }) {
  const values = { difference: tiny(largest), count };
  return agrees
    ? t("agrees with the model: largest difference {difference}, over {count} numbers", values)
    : t("differs from the model: largest difference {difference}, over {count} numbers", values);
}

/**
 * The whole calculation as plain text.
 * @param {Translate} t
 * @param {string[]} heading  lines of text
 * @param {Stage[]} list
 */
export function transcript(t, heading, list) {
  const blocks = list.map((stage, i) => {
    const lines = [
      `${i + 1}. ${stage.title}`,
      ...stage.prose.map(proseText),
      ...stage.formulas.map((formula) => `    ${formulaText(formula)}`),
      ...stage.tables.flatMap((table) => ["", table.title, ...columns(t, table)]),
      ...(stage.check ? ["", `${stage.check.agrees ? "✓" : "✗"} ${verdict(t, stage.check)}`] : []),
    ];
    return lines.join("\n");
  });
  return [heading.join("\n"), ...blocks].join("\n\n") + "\n";
}

/** @param {Prose} prose */
function proseText({ message, values = {} }) {
  return message.replace(/\{(\w+)\}/g, (place, name, offset) => {
    const value = values[name];
    if (value === undefined) return place;
    if (typeof value !== "object") return String(value);
    if ("math" in value) return formulaText(value.math);
    const token = plainStep({ ...value, reads: null });
    return message[offset - 1] === "“" ? token : `“${token}”`;
  });
}

/** @param {Translate} t @param {Table} table */
function columns(t, { head, rows, entries, foot }) {
  const firstRows = rows.length > LINES ? rows.slice(0, LINES / 4) : rows;
  const lines = [
    head.map((name) => (typeof name === "string" ? name : formulaText(name.math))),
    ...firstRows.map((row) => entries(row).map(entryText)),
    ...(foot ? [foot.map(entryText)] : []),
  ];
  const bars = new Set(head.flatMap((name, i) => (name === "" ? [i] : [])));
  const textLines = lines.map((line) => line.filter((_, i) => !bars.has(i)));
  const widths = textLines[0].map((_, i) => Math.max(...textLines.map((line) => breadth(line[i]))));
  const set = textLines.map((line) => line.map((word, i) => " ".repeat(widths[i] - breadth(word)) + word).join("  "));
  const omitted = rows.length - firstRows.length;
  if (omitted) set.splice(1 + firstRows.length, 0, t("… and {count} more", { count: omitted }));
  return set;
}

/** @param {Entry} entry @returns {string} */
function entryText(entry) {
  if (entry === null) return "";
  if (typeof entry === "number") return four(entry);
  if (typeof entry === "string") return entry;
  if ("bar" in entry) return "";
  if ("exact" in entry) return tiny(entry.exact);
  if ("math" in entry) return formulaText(entry.math);
  return plainStep({ ...entry, reads: null });
}

/** The width of a text in columns; a Chinese character takes two. @param {string} text */
function breadth(text) {
  let width = 0;
  for (const letter of text) width += /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/.test(letter) ? 2 : 1;
  return width;
}
