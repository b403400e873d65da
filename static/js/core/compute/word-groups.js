/**
 * Which tokens form a word, from the pieces of a subword encoding.
 *
 * Adjacent letters, digits and apostrophes form a word, and so do the bytes of one character. A
 * Chinese character is a word by itself, because the text does not mark word boundaries; so are
 * punctuation and special tokens. A space that is a token of its own (sentencepiece) belongs to what
 * follows.
 */

/** @import { Token } from "../wire/wire.js" */

const BYTES = /^\s?(?:<0x[0-9A-F]{2}>)+$/;
const BYTE = /<0x([0-9A-F]{2})>/g;
const ENDS = /[\p{L}\p{M}\p{N}'’]$/u;
const BEGINS = /^[\p{L}\p{M}\p{N}'’]/u;
const SPACE = " ";
const HAN = /\p{Script=Han}/u;

/**
 * @param {Token[]} tokens
 * @returns {number[][]}  the tokens of each word, in order
 */
export function words(tokens) {
  const characters = spans(tokens);
  /** @type {number[][]} */
  const found = [];
  let before = "";
  let end = -1;
  /** @type {boolean | undefined} */
  let around;
  for (const group of characters) {
    const { special, template, start } = tokens[group[0]];
    const text = spelled(tokens, group);
    const adjacent = !special && start === end && template === around;
    const goes = ENDS.test(before) && BEGINS.test(text) && !HAN.test(before.slice(-1)) && !HAN.test(text[0]);
    if (adjacent && (before === SPACE || goes)) found[found.length - 1].push(...group);
    else found.push(group);
    around = template;
    before = special ? "" : text;
    end = special ? -1 : tokens[group[group.length - 1]].end;
  }
  return found;
}

/**
 * Each token as its own group.
 * @param {Token[]} tokens
 */
export const singles = (tokens) => tokens.map((_, i) => [i]);

/**
 * Words as tokens, for labelling.
 * @param {Token[]} tokens
 * @param {number[][]} groups
 * @returns {Token[]}
 */
export function joined(tokens, groups) {
  return groups.map((group) => {
    if (group.length === 1) return tokens[group[0]];
    const [first, last] = [tokens[group[0]], tokens[group[group.length - 1]]];
    return { ...first, text: spelled(tokens, group), end: last.end };
  });
}

/**
 * Bytes that share the span of one character.
 * @param {Token[]} tokens
 * @returns {number[][]}
 */
function spans(tokens) {
  /** @type {number[][]} */
  const found = [];
  tokens.forEach((token, i) => {
    const before = tokens[i - 1];
    const same =
      before && BYTES.test(token.text) && BYTES.test(before.text) &&
      token.end > token.start && token.start === before.start && token.end === before.end;
    if (same) found[found.length - 1].push(i);
    else found.push([i]);
  });
  return found;
}

/**
 * @param {Token[]} tokens
 * @param {number[]} group
 */
function spelled(tokens, group) {
  let text = "";
  /** @type {number[]} */
  let bytes = [];
  const flush = () => {
    if (bytes.length) text += new TextDecoder().decode(Uint8Array.from(bytes));
    bytes = [];
  };
  for (const i of group) {
    const piece = tokens[i].text;
    if (group.length > 1 && BYTES.test(piece)) {
      if (/^\s/.test(piece)) text += " ";
      bytes.push(...[...piece.matchAll(BYTE)].map(([, byte]) => Number.parseInt(byte, 16)));
    } else {
      flush();
      text += piece;
    }
  }
  flush();
  return text;
}
