/** Bytes that lie in a page as text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { bytesOf85, joined, packedFile } from "../../static/js/lib/unpack-bytes.js";

const DIGITS = "!#%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[]^_abcdefghijklmnopqrstuvwxyz|}~";

/** Written with whole numbers of any size, unlike the code that reads it. @param {Uint8Array} bytes */
function base85(bytes) {
  let text = "";
  for (let start = 0; start < bytes.length; start += 4) {
    const group = [...bytes.subarray(start, start + 4)];
    const lacking = 4 - group.length;
    let value = BigInt("0x" + Buffer.from([...group, ...Array(lacking).fill(0)]).toString("hex"));
    let digits = "";
    for (let n = 0; n < 5; n++, value /= 85n) digits = DIGITS[Number(value % 85n)] + digits;
    text += digits.slice(0, 5 - lacking);
  }
  return text;
}

const samples = Array.from({ length: 40 }, (_, length) => Uint8Array.from({ length }, (_, index) => (length * 37 + index * 101) % 256));
const edges = [new Uint8Array(7).fill(255), new Uint8Array(9).fill(0)];

test("base 85 gives back the bytes, of any number", () => {
  for (const bytes of [...samples, ...edges]) assert.deepEqual([...bytesOf85(base85(bytes))], [...bytes]);
});

test("line breaks and indentation change nothing, wherever they are", () => {
  const bytes = samples[39];
  const text = base85(bytes).replace(/.{7}/g, "$&\r\n  ");
  assert.deepEqual([...bytesOf85(`\n${text}\n`)], [...bytes]);
});

test("a file is decompressed, and its numbers of two bytes are whole again", async () => {
  const planes = Uint8Array.of(1, 3, 5, 2, 4, 6, 7);
  const text = base85(gzipSync(planes));
  assert.deepEqual([...(await packedFile({ text, width: 2 }))], [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual([...(await packedFile({ text, width: 1 }))], [...planes]);
  assert.deepEqual([...joined(Uint8Array.of(1, 2, 3, 4, 5).buffer)], [1, 2, 3, 4, 5]);
});
