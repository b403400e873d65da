/** Where words stand in a tokenised text. */

/** @typedef {{tokens: import("../../core/wire/wire.js").Token[], points: string[]}} Text  points: its code points, none where it is not known */

/**
 * @param {Text} text
 * @param {string} wanted  found whatever its case and its accents are
 * @returns {{from: number, to: number}[]}  tokens of each match, in their order
 */
export function matches({ tokens, points }, wanted) {
  const sought = folded(wanted.trim());
  if (!sought) return [];
  const plain = points.length ? points : Array.from(tokens.map(({ text }) => text).join(""));
  // One letter for each code point, so that places in the folded text are places in the text.
  const letters = plain.map((point) => Array.from(folded(point))[0] ?? " ");
  const all = letters.join("");
  const offsets = offsetsOf(letters);
  const spans = points.length ? tokens.map(({ start, end }) => ({ start, end })) : spansOf(tokens);
  /** @type {{from: number, to: number}[]} */
  const found = [];
  let from = 0;
  for (let at = all.indexOf(sought); at >= 0; at = all.indexOf(sought, at + sought.length)) {
    const [start, end] = [offsets[at], offsets[at + sought.length - 1] + 1];
    while (from < spans.length && (spans[from].end <= start || spans[from].end === spans[from].start)) from++;
    let to = from + 1;
    while (to < spans.length && spans[to].start < end && spans[to].end > spans[to].start) to++;
    if (from < spans.length) found.push({ from, to });
  }
  return found;
}

/** @param {string} text  Letters alone: é is found by e. */
const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** The code point that each unit of UTF-16 belongs to. @param {string[]} letters */
function offsetsOf(letters) {
  /** @type {number[]} */
  const offsets = [];
  letters.forEach((letter, point) => {
    for (let unit = 0; unit < letter.length; unit++) offsets.push(point);
  });
  return offsets;
}

/** Where each token lies in the joined texts of all. @param {import("../../core/wire/wire.js").Token[]} tokens */
function spansOf(tokens) {
  let at = 0;
  return tokens.map(({ text }) => {
    const start = at;
    at += Array.from(text).length;
    return { start, end: at };
  });
}
