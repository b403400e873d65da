import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { headView, meanPlane, plane, readDocument, readSafetensors, row } from "../../static/js/core/wire/safetensors.js";
import { tensor } from "../js/trace.js";

/** @param {string} name  Made by tests/core/test_wire.py out of the server's own code. */
const golden = (name) => readFileSync(new URL(`golden/${name}`, import.meta.url));
/** @param {string} name */
const bytes = (name) => Uint8Array.from(golden(name)).buffer;
const document = () => JSON.parse(golden("trace.json").toString());

test("a safetensors reply and a JSON reply are the same trace", () => {
  const [{ tensors, ...file }, { tensors: sent, ...json }] = [readSafetensors(bytes("trace.safetensors")), document()];
  assert.deepEqual(file, json);
  assert.deepEqual(Object.keys(tensors), Object.keys(sent));
  for (const [name, { data, ...about }] of Object.entries(tensors)) {
    const { data: _, ...says } = sent[name];
    assert.deepEqual(about, says);
    assert.equal(about.dims.length, about.shape.length, name);
    assert.equal(data.length, about.shape.reduce((a, b) => a * b, 1), name);
  }
});

test("every number arrives as it was", () => {
  const { tensors } = readSafetensors(bytes("trace.safetensors"));
  for (const [name, sent] of Object.entries(document().tensors)) {
    const flat = /** @type {(number | boolean | null)[]} */ (
      /** @type {any} */ (sent).data.flat(Infinity)
    );
    flat.forEach((value, i) => {
      const found = tensors[name].data[i];
      if (value === null) assert.ok(!Number.isFinite(found), name);
      else
        assert.ok(
          Math.abs(found - Number(value)) <= 1e-7 * Math.max(1, Math.abs(found)),
          `${name}[${i}]`,
        );
    });
  }
});

for (const [dtype, error] of /** @type {[string, number][]} */ ([
  ["float16", 1e-3],
  ["uint8", 1 / 510 + 1e-7],
])) {
  test(`${dtype} is close`, () => {
    const exact = readSafetensors(bytes("trace.safetensors")).tensors["encoder.0.self.weights"];
    const found = readSafetensors(bytes(`${dtype}.safetensors`)).tensors["encoder.0.self.weights"];
    const [rows, cols] = exact.shape.slice(-2);
    for (let head = 0; head < exact.shape[0]; head++)
      plane(found, { head }).values.forEach((value, i) =>
        assert.ok(Math.abs(value - exact.data[head * rows * cols + i]) <= error),
      );
  });
}

test("a document beside the trace can be read", () => {
  assert.deepEqual(readDocument(bytes("trace.safetensors"), "share"), { id: "abc" });
});

test("a plane is one head's matrix, a mean is all heads'", () => {
  const weights = tensor(
    ["head", "query", "key"],
    [2, 2, 3],
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
  );
  const second = plane(weights, { head: 1 });
  assert.deepEqual([second.rows, second.cols, ...row(second, 1)], [2, 3, 10, 11, 12]);
  assert.deepEqual([...meanPlane(weights).values], [4, 5, 6, 7, 8, 9]);
  assert.throws(() => plane(weights, { head: 2 }), /no head 2/);
  assert.throws(() => plane(weights), RangeError);
});

test("an unknown dtype is named", () => {
  const header = new TextEncoder().encode(
    JSON.stringify({
      __metadata__: { trace: JSON.stringify({ tensors: { x: {} } }) },
      x: { dtype: "F8", shape: [0], data_offsets: [0, 0] },
    }),
  );
  const file = new Uint8Array(8 + header.length);
  new DataView(file.buffer).setBigUint64(0, BigInt(header.length), true);
  file.set(header, 8);
  assert.throws(() => readSafetensors(file.buffer), /unknown dtype of x: F8/);
});

test("8 bits stay 8 bits until they are drawn, and a mean counts them as fractions", () => {
  const data = Uint8Array.of(0, 255, 51, 204, 255, 0, 102, 153);
  const tensor = { dims: ["head", "query", "key"], over: {}, shape: [2, 2, 2], dtype: "uint8", data };
  const seen = headView(tensor, 1);
  assert.equal(seen.values.buffer, data.buffer, "nothing is copied");
  assert.deepEqual([[...seen.values], seen.unit], [[255, 0, 102, 153], 255]);
  [0.5, 0.5, 0.3, 0.7].forEach((value, i) => assert.ok(Math.abs(meanPlane(tensor).values[i] - value) < 1e-7));
  assert.deepEqual([...plane(tensor, { head: 1 }).values].map((n) => n.toFixed(1)), ["1.0", "0.0", "0.4", "0.6"]);
});
