import assert from "node:assert/strict";
import { test } from "node:test";
import { csv, quoted, shortest } from "../../static/js/lib/csv.js";

/** @param {string} text */
const token = (text) => ({ text, id: 1, start: 0, end: 1, special: false });

/** @type {any} */
const trace = {
  tokens: { source: [token("=1+1"), token(' "say, hi"')], target: [token("猫")] },
  tensors: {
    "decoder.0.cross.weights": {
      dims: ["head", "query", "key"],
      over: { query: "target", key: "source" },
      shape: [2, 1, 2],
      dtype: "float32",
      data: Float32Array.of(0.1, 0.9, 1e-7, 1),
    },
    "decoder.0.cross.mask": {
      dims: ["query", "key"],
      over: { query: "target", key: "source" },
      shape: [1, 2],
      dtype: "bool",
      data: Uint8Array.of(1, 0),
    },
    "decoder.0.cross.k": {
      dims: ["head", "key", "channel"],
      over: { key: "source" },
      shape: [1, 2, 2],
      dtype: "float32",
      data: Float32Array.of(-1.5, NaN, Infinity, 0.25),
    },
  },
};

test("a row a number, with indices and tokens", () => {
  assert.deepEqual(csv(trace, ["decoder.0.cross.weights"]).split("\r\n"), [
    "\ufefftensor,head,query,query_token,key,key_token,value",
    "decoder.0.cross.weights,0,0,猫,0,'=1+1,0.1",
    'decoder.0.cross.weights,0,0,猫,1," ""say, hi""",0.9',
    "decoder.0.cross.weights,1,0,猫,0,'=1+1,1e-7",
    'decoder.0.cross.weights,1,0,猫,1," ""say, hi""",1',
    "",
  ]);
});

test("tensors of different axes share a table, and leave empty what they do not have", () => {
  const [head, ...lines] = csv(trace, ["decoder.0.cross.mask", "decoder.0.cross.k"]).split("\r\n");
  assert.equal(head, "\ufefftensor,head,query,query_token,key,key_token,channel,value");
  assert.equal(lines[1], 'decoder.0.cross.mask,,0,猫,1," ""say, hi""",,0');
  assert.equal(lines[2], "decoder.0.cross.k,0,,,0,'=1+1,0,-1.5");
  assert.ok(lines[3].endsWith(",NaN"));
  assert.ok(lines[4].endsWith(",Infinity"));
});

test("no token is a formula", () => {
  for (const text of ["=A1", "+1", "-1", "@x", "\t=1", "\r", "＝1", "＋", "－", "＠"])
    assert.ok(/^"?'/.test(quoted(text)), text);
  for (const text of ["'t", "a=b", " =1", "猫", "<eos>", "."])
    assert.ok(!/^"?'[=+\-@]/.test(quoted(text)), text);
  assert.equal(quoted("a\nb"), '"a\nb"');
});

test("digits say the same number, and no more of them than needed", () => {
  assert.equal(shortest(Math.fround(0.1)), "0.1");
  for (let i = 0; i < 2000; i++) {
    const value = Math.fround(Math.exp(40 * Math.random() - 20) * (i % 2 ? 1 : -1));
    assert.equal(Math.fround(Number(shortest(value))), value);
    assert.ok(shortest(value).replace(/[-.]|e.*/g, "").replace(/^0+/, "").length <= 9);
  }
});

test("8 bits are written as the fractions that they stand for", () => {
  const tensor = { dims: ["query", "key"], over: {}, shape: [1, 2], dtype: "uint8", data: Uint8Array.of(51, 255) };
  const lines = csv({ tokens: {}, tensors: { a: tensor } }, ["a"]).trim().split("\r\n");
  assert.deepEqual(lines.slice(1).map((line) => line.split(",").at(-1)), ["0.2", "1"]);
});
