/**
 * Names say what they hold out of their sentence too: `token` or `limit`, not `one` or `most`.
 *
 * Counts the definitions (variables, parameters, functions, classes) whose whole name is such a
 * word, in each folder of the page. A count may only go down; whoever lowers it lowers `REMAINING`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const [, listed] = readFileSync(`${ROOT}tests/test_names.py`, "utf8").split(/^WORDS = |^\)$/m);
const PYTHON = [...listed.matchAll(/"(\w+)"/g)].map(([, word]) => word);
const MORE = ["both", "each", "every", "look", "looks", "most", "other", "others", "rest", "same", "tells", "way", "ways"];
/** Never a name alone, in any case; `left` is one beside `top`. */
const WORDS = new Set([...PYTHON, ...MORE].filter((word) => word !== "left"));
/** Left over, by folder of static/js; in core `given`, which docs/development.md documents. @type {Record<string, number>} */
const REMAINING = { core: 1, views: 23 };

const DEFINITIONS = new Set([
  SyntaxKind.BindingElement,
  SyntaxKind.ClassDeclaration,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.Parameter,
  SyntaxKind.VariableDeclaration,
]);

/**
 * @param {import("typescript/unstable/ast").Node} node
 * @returns {string[]}  the names that are defined in it
 */
function defined(node) {
  /** @type {string[]} */
  const names = DEFINITIONS.has(node.kind) ? [/** @type {any} */ (node).name?.text ?? ""] : [];
  node.forEachChild((child) => void names.push(...defined(child)));
  return names;
}

test("no folder of the page has more names that say nothing alone than it had", () => {
  const api = new API({ cwd: ROOT });
  const [project] = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProjects();
  /** @type {Record<string, string[]>} */
  const places = {};
  for (const path of project.program.getSourceFileNames().filter((name) => name.includes("/static/js/"))) {
    const source = project.program.getSourceFile(path);
    const file = relative(`${ROOT}static/js`, path);
    for (const name of source && !file.endsWith(".d.ts") ? defined(source) : [])
      if (WORDS.has(name.toLowerCase().replace(/^_+|_+$/g, ""))) (places[file.split("/")[0]] ??= []).push(`${file} ${name}`);
  }
  api.close();
  for (const [folder, names] of Object.entries(places))
    assert.ok(names.length <= (REMAINING[folder] ?? 0), `${folder}: ${names.length} names say nothing alone:\n${names.join("\n")}`);
});
