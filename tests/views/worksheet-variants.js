/**
 * Works out cells of models that come in on stdin as JSON, one after the other, and prints of each
 * its stages, the largest difference from what the model recorded, and the sheet as text
 * (tests/views/test_worksheet_variants.py).
 */

import { readFileSync } from "node:fs";

import { blocks, isBetweenTexts } from "../../static/js/core/wire/model-description.js";
import { names } from "../../static/js/views/worksheet/needed-tensors.js";
import { worksheet } from "../../static/js/views/worksheet/cell-stages.js";
import { overall, stages, transcript } from "../../static/js/views/worksheet/stage-order.js";
import { tensor } from "../js/trace.js";

/** @param {string} words @param {Record<string, unknown>} [values] */
const t = (words, values = {}) => words.replace(/\{(\w+)\}/g, (place, name) => String(values[name] ?? place));
/** @param {string} word @returns {import("../../static/js/core/wire/tokens.js").Step} */
const step = (word) => ({ reads: null, writes: { space: "", word, nth: null, lang: "en", special: false } });

/** @param {any} told */
function workedOut({ model, tensors, parameters, lengths }) {
  const find = (/** @type {string} */ name) => {
    const { dims, shape, data } = tensors[name] ?? parameters[name];
    return tensor(dims, shape, data);
  };
  return blocks(model).flatMap((block) =>
    block.rows.map(({ layer, heads }) => {
      const head = (layer + 1) % heads;
      const cell = { block: block.id, layer, head, query: lengths[block.query] - 1, key: layer };
      const named = names(model, cell);
      const missing = [...named.tensors, ...named.parameters, ...named.slices, ...named.fed].filter((name) => !tensors[name] && !parameters[name]);
      if (missing.length) return { block: block.id, layer, missing };
      const sheet = worksheet(find, cell, named);
      const keys = Array.from({ length: lengths[block.key] }, (_, j) => step(`k${j}`));
      const list = stages({ t, sheet, named, cell, joins: isBetweenTexts(block), query: step("q"), key: keys[cell.key], keys });
      const { largest, count, agrees } = overall(list);
      const checks = Object.fromEntries(list.flatMap(({ id, check }) => (check ? [[id, check.largest]] : [])));
      const text = transcript(t, [], list);
      return { block: block.id, layer, missing, stages: list.map(({ id }) => id), checks, largest, count, agrees, text };
    }),
  );
}

console.log(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(workedOut)));
