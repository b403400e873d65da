import assert from "node:assert/strict";
import { relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { SyntaxKind } from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

const MOST = 120;

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const FUNCTIONS = new Set([
  SyntaxKind.ArrowFunction,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.MethodDeclaration,
]);

/** @returns {{file: string, name: string, lines: number}[]}  every function of the page's scripts */
function functions() {
  const api = new API({ cwd: ROOT });
  const [project] = api.updateSnapshot({ openProjects: [`${ROOT}tsconfig.json`] }).getProjects();
  const names = project.program.getSourceFileNames().filter((name) => name.includes("/static/js/"));
  const found = names.flatMap((path) => {
    const source = project.program.getSourceFile(path);
    return source ? within(source, source, relative(`${ROOT}static/js`, path)) : [];
  });
  api.close();
  return found;
}

/**
 * @param {import("typescript/unstable/ast").SourceFile} source
 * @param {import("typescript/unstable/ast").Node} node
 * @param {string} file
 * @returns {{file: string, name: string, lines: number}[]}
 */
function within(source, node, file) {
  /** @type {{file: string, name: string, lines: number}[]} */
  const found = [];
  if (FUNCTIONS.has(node.kind)) {
    const { name } = /** @type {any} */ (node).name ? /** @type {any} */ (node) : /** @type {any} */ (node.parent);
    found.push({ file, name: name?.text ?? "", lines: source.text.slice(node.getStart(source), node.end).split("\n").length });
  }
  node.forEachChild((child) => void found.push(...within(source, child, file)));
  return found;
}

test(`no function of the page is longer than ${MOST} lines`, () => {
  const all = functions();
  assert.ok(all.length > 2500, `${all.length} functions are read`);
  const long = all.filter(({ lines }) => lines > MOST).map(({ file, name }) => `${file} ${name}`);
  assert.deepEqual(long, []);
});
