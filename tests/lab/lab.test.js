import assert from "node:assert/strict";
import { test } from "node:test";

import { formulaText, latex, latexNumber } from "../../static/js/core/compute/formula.js";
import { copied, number, pasted, transposed } from "../../static/js/lib/csv.js";
import { createHistory } from "../../static/js/lab/figure/lab-figure.js";
import {
  PRESETS, format, invalidCells, labOfShare, labRequest, parse, preset, shareState,
} from "../../static/js/lab/lab-link.js";
import { fractional } from "../../static/js/lib/numbers.js";
import { labCsv, labLatex } from "../../static/js/lab/page.js";
import { judgeNumber } from "../../static/js/lab/figure/step-results.js";
import { enlarged, outputChanges, reordered, shuffled, sizes, transposedLab, unshuffled, withExtra, withSizes } from "../../static/js/lab/matrices.js";
import { matrixSymbol } from "../../static/js/lab/figure/controls.js";
import { largestWeight, shownSteps, stepFormulas } from "../../static/js/lab/steps.js";

const IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
const t = (/** @type {string} */ text) => text;
/** @param {import("../../static/js/lab/matrices.js").Lab} lab @param {string} name */
const values = (lab, name) => /** @type {any} */ (labRequest(lab))[name];

test("numbers as people type them", () => {
  for (const [text, value] of /** @type {[string, number][]} */ ([
    ["0.5", 0.5], [" -2 ", -2], ["−2", -2], ["1/3", 1 / 3], ["-1/-4", 0.25], [".5", 0.5], ["2e-3", 0.002], ["１．５", 1.5], ["1000000", 1e6], ["0,25", 0.25], ["−1,5", -1.5], ["0,125", 0.125], ["12,3", 12.3],
  ]))
    assert.equal(number(text).value, value, text);
  for (const [text, wrong] of [["", "empty"], ["  ", "empty"], ["abc", "text"], ["1/0", "text"], ["1/2/3", "text"], ["0x10", "text"], ["NaN", "text"], ["Infinity", "text"], ["-", "text"], ["1,250", "text"], ["1,2,3", "text"], ["1,5/2", "text"], ["1e7", "large"], ["1e999", "large"]])
    assert.deepEqual(number(text), { value: null, wrong }, text);
});

test("tables of sheets, there and back", () => {
  assert.deepEqual(pasted("1\t2\r\n3\t\r\n"), [["1", "2"], ["3", ""]]);
  assert.deepEqual(pasted('1, "2"\n3,4'), [["1", "2"], ["3", "4"]]);
  assert.deepEqual(pasted("1 2  3"), [["1", "2", "3"]]);
  assert.equal(copied([["1", "2"], ["3", "4"]]), "1\t2\n3\t4");
  assert.deepEqual(transposed([[1, 2, 3]]), [[1], [2], [3]]);
});

test("every example is a request, in either convention", () => {
  for (const id of Object.keys(PRESETS)) {
    const lab = preset(id);
    assert.deepEqual(invalidCells(lab), {}, id);
    assert.deepEqual(invalidCells(transposedLab(lab)), {}, id);
    assert.deepEqual(transposedLab(transposedLab(lab)), lab);
    assert.deepEqual(values(transposedLab(lab), "w_q"), transposed(values(lab, "w_q")));
  }
  assert.deepEqual(labRequest(preset("identity")), { x: IDENTITY, w_q: IDENTITY, w_k: IDENTITY, w_v: IDENTITY, convention: "row", heads: 1, scoring: "scaled" });
  assert.deepEqual(values(transposedLab(preset("additive")), "w"), [1, 2, -1]);
  assert.deepEqual(values(preset("relative"), "relative"), { add: { "-2": 0, "-1": 2, 0: 0, 1: -1, 2: -1 }, clip: 2 });
  assert.deepEqual(sizes(preset("memory")), { n: 2, m: 3, d: 3, k: 3, f: 6, vocab: 4 });
  assert.equal(values(preset("loss"), "label_smoothing"), 0.1);
});

test("a link brings back all of it", () => {
  for (const id of Object.keys(PRESETS)) {
    for (const lab of [preset(id), transposedLab(preset(id))]) assert.deepEqual(parse(format(lab), preset("identity")), lab, id);
  }
  const named = { ...preset("identity"), tokens: ["a&b", "=,*_", "猫"] };
  assert.deepEqual(parse(format(named), preset("heads")).tokens, named.tokens);
  const cells = { ...preset("identity"), matrices: { ...preset("identity").matrices, x: [["1/3", "−2", "0"], ["0", "1", "0"], ["0", "0", "1"]] } };
  assert.deepEqual(parse(format(cells), preset("heads")).matrices.x, cells.matrices.x);
});

test("a link holds whatever was typed", () => {
  const lab = { ...preset("identity"), matrices: { ...preset("identity").matrices, x: [["a_b*c", "%5f", ""], ["NaN", "_", "猫&=\n"], ["*", "1e999", "%"]] } };
  assert.deepEqual(parse(format(lab), preset("heads")), lab);
  assert.deepEqual(Object.keys(invalidCells(lab).x).length, 9);
});

test("one w for all heads, as earlier links have it, is one for each", () => {
  const lab = withSizes({ ...preset("heads"), scoring: "additive", matrices: { ...preset("heads").matrices, w: [["1", "2", "-1"]] } });
  assert.deepEqual(lab.matrices.w, [["1", "2", "-1"], ["1", "2", "-1"]]);
  const own = { ...lab, matrices: { ...lab.matrices, w: [["1", "2", "-1"], ["3", "4", "5"]] } };
  for (const one of [own, transposedLab(own)]) assert.deepEqual(values(one, "w"), [1, 2, -1, 3, 4, 5]);
});

test("padding is 0 or 1, moves with its tokens, and is a list of booleans", () => {
  const lab = withExtra(preset("shuffle"), "padding", true);
  const padded = { ...lab, matrices: { ...lab.matrices, padding: [["0", "1", "0", "0"]] } };
  assert.deepEqual(values(transposedLab(padded), "padding"), [false, true, false, false]);
  assert.deepEqual(reordered(padded, [1, 0, 2, 3]).matrices.padding, [["1", "0", "0", "0"]]);
  assert.deepEqual(invalidCells({ ...padded, matrices: { ...padded.matrices, padding: [["2", "0.5", "-1", "1"]] } }).padding, { "0,0": "flag", "0,1": "flag", "0,2": "flag" });
  assert.equal(withExtra(withExtra(preset("memory"), "padding", true), "memory", true).matrices.padding[0].length, 3);
});

test("γ and β come with a norm, and a second pair with the feed-forward", () => {
  assert.equal("gamma" in withExtra(preset("identity"), "affine", true).matrices, false);
  const own = withExtra(preset("ffn"), "affine", true);
  assert.deepEqual(["gamma", "beta", "ffn_gamma", "ffn_beta"].map((name) => own.matrices[name]), [[["1", "1", "1"]], [["0", "0", "0"]], [["1", "1", "1"]], [["0", "0", "0"]]]);
  assert.equal(formulaText(stepFormulas(own)["ffn.norm"]), "N₂ = γ₂ · LayerNorm (R₂) + β₂");
  assert.equal("ffn_gamma" in withSizes({ ...own, norm: "residual" }).matrices, false);
});

test("a link that is none is the opening", () => {
  const opening = preset("identity");
  for (const text of ["", "?lang=zh", "?x=1_0*0", "?x=1&w_q=1", "?x=1_2*3&w_q=1&w_k=1&w_v=1", "?x=1&w_q=1&w_k=1&w_v=1&heads=3"])
    assert.deepEqual(parse(text, opening), opening, text);
  const cut = parse("?x=1_2&w_q=1&w_k=1&w_v=1&heads=one&mask=all&window=99", opening);
  assert.deepEqual([cut.heads, cut.mask, cut.window, cut.matrices.w_q], [1, "none", 8, [["1"], ["0"]]]);
  const rows = Array(20).fill("1").join("*");
  assert.equal(parse(`?x=${rows}&w_q=1&w_k=1&w_v=1`, opening).tokens.length, 8);
});

test("what was typed stays where it was when sizes change", () => {
  const larger = withSizes(preset("heads"), { n: 4, d: 2 });
  assert.deepEqual(larger.matrices.x, [["1", "0"], ["0", "2"], ["1", "1"], ["0", "0"]]);
  assert.deepEqual(larger.matrices.w_q, [["1", "0", "1", "0", "1", "0"], ["1", "0", "0", "1", "0", "1"]]);
  assert.deepEqual(larger.tokens, ["the", "cat", "sits", "t4"]);
  assert.deepEqual([larger.matrices.w_o.length, larger.matrices.w_o[0].length], [6, 2]);
  const column = withSizes(transposedLab(preset("heads")), { n: 4 });
  assert.deepEqual(column.matrices.x[1], ["0", "2", "1", "0"]);
});

test("parts come with their matrices and go with them", () => {
  const ffn = withExtra(preset("identity"), "ffn", true);
  assert.deepEqual([ffn.matrices.w_1.length, ffn.matrices.w_1[0].length, ffn.matrices.b_2], [3, 6, [["0", "0", "0"]]]);
  assert.deepEqual(withExtra(ffn, "ffn", false), preset("identity"));
  const memory = withExtra(preset("identity"), "memory", true);
  assert.deepEqual([memory.matrices.memory.length, memory.memoryTokens.length], [3, 3]);
  // Two heads of three channels can be added to three features only through a W_O.
  const added = withSizes({ ...withExtra(preset("heads"), "w_o", false), norm: "post" });
  assert.ok(added.matrices.w_o);
  assert.ok(!withSizes({ ...preset("additive"), scoring: "dot" }).matrices.w);
});

test("a cell that is wrong is named", () => {
  const lab = preset("loss");
  const matrices = { ...lab.matrices, x: [["", "a", "1e9"], ["0", "0", "0"], ["0", "0", "0"]], targets: [["4", "0.5", "3"]] };
  assert.deepEqual(invalidCells({ ...lab, matrices }), { x: { "0,0": "empty", "0,1": "text", "0,2": "large" }, targets: { "0,0": "id", "0,1": "id" } });
});

test("formulas follow the convention and the parts", () => {
  const say = (/** @type {any} */ lab, /** @type {string} */ id) => formulaText(stepFormulas(lab)[id]);
  assert.equal(say(preset("identity"), "q"), "Q = X W_Q");
  assert.equal(say(transposedLab(preset("identity")), "q"), "Q = W_Q X");
  assert.equal(say(withExtra(preset("memory"), "biases", true), "k"), "K = E W_K + b_K");
  assert.equal(say(preset("identity"), "scores"), "S = (Q K^T) / √dₖ");
  assert.equal(say(transposedLab(preset("identity")), "mix"), "Z = V A");
  assert.equal(say(preset("relative"), "scores"), "S_π = S + Π");
  assert.equal(say(preset("ffn"), "ffn.residual"), "R₂ = N + F");
  assert.equal(say(preset("loss"), "logits"), "L = Z W_vocab");
});

test("steps have names, places and a finding", () => {
  const lab = preset("identity");
  const weights = [[[1, 0, 0], [0.4, 0.6, 0], [0.2, 0.3, 0.5]]];
  const answer = { steps: { weights, concat: [[1]], losses: [1, 2], loss: 1.5 }, dims: { weights: ["head", "query", "key"], concat: ["query", "feature"], losses: ["query"], loss: [] } };
  const steps = shownSteps(lab, answer, t);
  assert.deepEqual(steps.map(({ id }) => id), ["weights", "losses", "loss"]);
  assert.deepEqual(steps[0].tables, [{ title: "", values: weights[0], rows: lab.tokens, cols: lab.tokens }]);
  assert.deepEqual(steps[1].tables[0].rows, ["the", "cat"]);
  assert.deepEqual(largestWeight(lab, answer), { query: "cat", key: "cat", weight: 0.6, head: 0 });
  assert.deepEqual(largestWeight(lab, answer, 0), { query: "the", key: "the", weight: 1, head: 0 });
  const column = { steps: { weights: [transposed([[0.1, 0.9, 0], [0.5, 0.5, 0], [1, 0, 0]])] }, dims: answer.dims };
  assert.deepEqual(largestWeight(transposedLab(lab), column), { query: "the", key: "cat", weight: 0.9, head: 0 });
});

test("what was done is undone, a cell at once", () => {
  const past = createHistory(0);
  past.change(1, "x 0,0");
  past.change(2, "x 0,0");
  past.change(3, "x 0,1");
  assert.equal(past.present(), 3);
  past.undo();
  assert.equal(past.present(), 2);
  past.undo();
  assert.equal(past.present(), 0);
  past.undo();
  assert.deepEqual([past.present(), past.undoable(), past.redoable()], [0, false, true]);
  past.redo();
  past.redo();
  past.redo();
  assert.deepEqual([past.present(), past.redoable()], [3, false]);
  past.undo();
  past.change(9);
  assert.deepEqual([past.present(), past.redoable()], [9, false]);
});

test("a number is right within the rounding of what was typed, of two decimals at least", () => {
  const value = 0.47108;
  for (const [text, verdict] of [["0.47", "right"], ["0.471", "right"], ["0.4711", "right"], ["0.4712", "wrong"], ["0.48", "wrong"], ["0.5", "wrong"], ["", "empty"], ["half", "text"], ["NaN", "text"]])
    assert.equal(judgeNumber(text, value), verdict, text);
  assert.deepEqual([judgeNumber("1/3", 1 / 3), judgeNumber("-2", -2), judgeNumber("−2", -2), judgeNumber("2", -2), judgeNumber("０．３３", 1 / 3)], ["right", "right", "right", "wrong", "right"]);
});

test("simple numbers are printed as fractions", () => {
  for (const [value, text] of /** @type {[number, string][]} */ ([[0.5, "1/2"], [-2 / 3, "−2/3"], [1 / 7 + 1 / 9, "16/63"], [3, "3"], [0, "0"], [Math.exp(1), "2.7183"], [1 / 1009, "0.0010"], [Math.sqrt(2), "1.4142"], [99999, "99999"]]))
    assert.equal(fractional(value), text);
});

test("shuffled tokens take what is theirs with them, and go back", () => {
  const lab = preset("loss");
  const order = [2, 0, 1];
  const mixed = reordered(lab, order);
  assert.deepEqual(mixed.tokens, ["sits", "the", "cat"]);
  assert.deepEqual(mixed.matrices.x[0], lab.matrices.x[2]);
  assert.deepEqual(mixed.matrices.targets, [["2", "0", "1"]]);
  assert.deepEqual(unshuffled(mixed), lab);
  assert.deepEqual(unshuffled(reordered(mixed, order)), lab);
  assert.deepEqual(reordered(mixed, [1, 2, 0]), lab);
  assert.deepEqual(unshuffled(reordered(transposedLab(lab), order)), transposedLab(lab));
  for (const number of [0, 0.3, 0.999]) assert.notDeepEqual(shuffled(lab, () => number).order, []);
  assert.deepEqual(withSizes(mixed, { n: 4 }).order, []);
  const outputs = (/** @type {number[][]} */ rows) => ({ steps: { output: rows }, dims: { output: ["query", "feature"] } });
  assert.deepEqual(outputChanges(mixed, outputs([[5, 6], [1, 2.5], [3, 4]]), outputs([[1, 2], [3, 4], [5, 6]])), [0, 0.5, 0]);
});

test("a matrix grows for what is pasted, up to the limit", () => {
  const lab = preset("heads");
  const size = (/** @type {any} */ made) => made && sizes(made);
  assert.equal(enlarged(lab, "x", 3, 2), null);
  assert.deepEqual([size(enlarged(lab, "x", 5, 99)).n, size(enlarged(lab, "x", 5, 99)).d], [5, 8]);
  assert.equal(size(enlarged(lab, "w_q", 3, 7)).k, 4);
  assert.equal(size(enlarged(transposedLab(lab), "x", 4, 6)).n, 6);
  assert.equal(enlarged(preset("relative"), "pi", 1, 9), null);
});

test("a link holds what is hidden, how numbers are printed, and the order", () => {
  const lab = { ...preset("shuffle"), fractions: true, hidden: { weights: 1, "ffn.hidden": 0 } };
  assert.deepEqual(parse(format(lab), preset("identity")), lab);
  const odd = parse(`${format(preset("identity"))}&order=0_0_1&hidden=weights*x_<b>*1`, preset("heads"));
  assert.deepEqual([odd.order, odd.hidden], [[], {}]);
});

test("biases come with all that takes one", () => {
  const { matrices } = withExtra({ ...preset("heads"), scoring: "additive" }, "biases", true);
  assert.deepEqual(["b", "b_o"].map((name) => matrices[name]?.[0].length), [3, 3]);
  const none = withExtra(withSizes({ ...preset("heads"), scoring: "additive" }), "biases", false).matrices;
  assert.deepEqual(["b", "b_o"].map((name) => none[name]), [undefined, undefined]);
});

test("a share holds what is computed, and opens on it", () => {
  const lab = preset("shuffle");
  const state = shareState(lab, "zh");
  assert.deepEqual([state.lang, state.lab], ["zh", labRequest(lab)]);
  assert.deepEqual(state.before, labRequest(unshuffled(lab)));
  assert.equal("before" in shareState(preset("identity"), "en"), false);
  const tensors = { weights: { dims: ["head", "query", "key"], data: [[[1]]] }, "before.weights": { dims: ["head", "query", "key"], data: [[[2]]] } };
  const { lab: found, known } = labOfShare({ created: "", state, trace: { tensors } });
  assert.deepEqual(found, lab);
  assert.deepEqual([known.answer, known.before], [{ steps: { weights: [[[1]]] }, dims: { weights: ["head", "query", "key"] } }, { steps: { weights: [[[2]]] }, dims: { weights: ["head", "query", "key"] } }]);
});

test("LaTeX holds every matrix and step", () => {
  const lab = { ...preset("identity"), matrices: { ...preset("identity").matrices, x: [["1/3", "−2"]], w_vocab: [["1"]] } };
  const answer = { steps: { q: [[[1.5, -2]]], mask: [[true]], weights: [[[1]]], loss: 0.25 }, dims: { q: ["head", "query", "channel"], mask: ["query", "key"], weights: ["head", "query", "key"], loss: [] } };
  const text = labLatex({ ...lab, mask: "causal" }, answer, t, fractional, matrixSymbol);
  for (const line of [
    String.raw`\[ X = \begin{pmatrix} \frac{1}{3} & -2 \end{pmatrix} \]`,
    String.raw`\[ W_{\mathrm{vocab}} = \begin{pmatrix} 1 \end{pmatrix} \]`,
    String.raw`\[ Q = X W_{Q} \]`,
    String.raw`\[ Q = \begin{pmatrix} \frac{3}{2} & -2 \end{pmatrix} \]`,
    String.raw`\[ m_{ij} \in \{0, -\infty\} \]`,
    String.raw`\[ A = \mathrm{softmax} ( S + M ) \]`,
    String.raw`\[ \ell = \frac{1}{4} \]`,
  ])
    assert.ok(text.split("\n").includes(line), line);
  assert.equal(latex(stepFormulas(preset("identity")).scores), String.raw`S = \frac{Q K^{\top}}{\sqrt{d_{k}}}`);
  assert.equal(latex(stepFormulas(preset("relative")).position), String.raw`\Pi_{ij} = \pi_{j-i}`);
  assert.deepEqual([latexNumber("−1/2"), latexNumber("1.2 · 10⁻⁷"), latexNumber("−0.5")], [String.raw`-\frac{1}{2}`, String.raw`1.2 \cdot 10^{-7}`, "-0.5"]);
  // What is not LaTeX is not left over from any formula.
  for (const id of Object.keys(PRESETS))
    for (const formula of Object.values(stepFormulas(withExtra(preset(id), "vocab", true)))) assert.match(latex(formula), /^[\x20-\x7e]*$/);
});

test("CSV holds every number once, with its tokens", () => {
  const lab = { ...transposedLab(preset("memory")), tokens: ["=le", "chat"] };
  const answer = { steps: { weights: [[[0.1, 0.2], [0.3, 0.4], [0.6, 0.4]]], loss: 1 / 3 }, dims: { weights: ["head", "key", "query"], loss: [] } };
  const lines = labCsv(lab, answer).split("\r\n");
  const head = lines[0].replace("\ufeff", "").split(",");
  const rows = lines.slice(1, -1).map((line) => Object.fromEntries(line.split(",").map((cell, i) => [head[i], cell])));
  const x = rows.filter(({ tensor }) => tensor === "x");
  assert.deepEqual(x.map(({ query_token: token, feature, value }) => [token, feature, value])[1], ["chat", "0", "0"]);
  assert.equal(x[0].query_token, "'=le");
  const weights = rows.filter(({ tensor }) => tensor === "weights");
  assert.deepEqual(weights.map(({ key_token: key, query_token: query, value }) => [key, query, value])[4], ["sits", "'=le", "0.6"]);
  assert.equal(rows.find(({ tensor }) => tensor === "loss")?.value, String(1 / 3));
  assert.equal(rows.length, 2 * 3 + 3 * 3 + 3 * 9 + 6 + 1);
});
