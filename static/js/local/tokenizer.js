/**
 * From text to tokens and back. The ids come from the `tokenizers` library's own JavaScript, which
 * reads the model's tokenizer.json; the offsets in the text as sent, which it does not state, are
 * found by following its pieces through the text.
 */

/** @import { TokenReply } from "../core/wire/schemas.d.ts" */

/** @typedef {{encode: (text: string) => {ids: number[], tokens: string[]}}} Pieces  a Tokenizer of @huggingface/tokenizers */
/** @typedef {{ch: string, start: number, end: number}} Place  a character after normalising, and its code points as sent */
/** @typedef {ReturnType<typeof createTokenizer>} Tokenizer */

const SPACE = "▁";
const SPACE_BYTES = ["<0xE2>", "<0x96>", "<0x81>"];
const CONTROL = /^<(?:pad|bos|eos|2[a-z]{2,3})>$/;
const BYTE = /^<0x([0-9A-F]{2})>$/;
const MARK = /\p{M}/u;
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * @param {Pieces} pieces
 * @param {Record<string, number>} vocabulary
 * @param {TextRules} rules
 */
export function createTokenizer(pieces, vocabulary, rules) {
  const texts = Object.fromEntries(Object.entries(vocabulary).map(([text, id]) => [id, text]));
  const isControl = (/** @type {number} */ id) => CONTROL.test(texts[id]);

  /** @param {string} text @returns {TokenReply} */
  const control = (text) => reply({ text, id: vocabulary[text], special: true });

  /** @param {number} id @param {boolean} [first]  of a text: it has no leading space */
  const token = (id, first = false) => reply({ text: isControl(id) ? texts[id] : visibleText(texts[id], first), id, special: isControl(id) });

  return {
    control,
    token,
    has: (/** @type {number} */ id) => id in texts,
    controls: Object.values(vocabulary).filter(isControl),

    /** @param {string} text @returns {TokenReply[]}  without control tokens */
    encode(text) {
      const folded = foldedText(text, rules);
      const { ids, tokens } = pieces.encode(folded);
      return placed([...text], normalised(folded), ids, tokens);
    },

    /**
     * The text of ids, and each as a token with its span of that text.
     * @param {number[]} ids
     */
    written(ids) {
      const spelled = ids.map((id) => (isControl(id) ? [] : bytesOf(texts[id])));
      const first = spelled.findIndex((bytes) => bytes.length);
      if (first >= 0 && spelled[first][0] === 0x20) spelled[first].shift();
      const all = Uint8Array.from(spelled.flat());
      let begin = 0;
      const tokens = ids.map((id, index) => {
        const end = begin + spelled[index].length;
        const [start, stop] = isControl(id) ? [0, 0] : span(all, begin, end);
        begin = end;
        return { ...token(id, index === first), start, end: stop };
      });
      return { text: decoded(all), tokens };
    },
  };
}

/** @param {{text: string, id: number, special: boolean, start?: number, end?: number}} fields @returns {TokenReply} */
const reply = ({ text, id, special, start = 0, end = 0 }) => ({ text, id, start, end, special, template: false, pair: false });

/** @param {string} piece @param {boolean} first */
function visibleText(piece, first) {
  const visible = piece.replaceAll(SPACE, " ");
  return first && visible.startsWith(" ") ? visible.slice(1) || visible : visible;
}

/** @param {string} piece */
function bytesOf(piece) {
  const byte = BYTE.exec(piece);
  return byte ? [Number.parseInt(byte[1], 16)] : [...new TextEncoder().encode(piece.replaceAll(SPACE, " "))];
}

/**
 * The characters of a text after composing and joining spaces, as the tokenizer's normaliser does.
 * @param {string} text  folded
 * @returns {Place[]}
 */
function normalised(text) {
  const characters = [...text];
  /** @type {Place[]} */
  const places = [];
  for (let start = 0; start < characters.length; ) {
    let end = start + 1;
    while (end < characters.length && MARK.test(characters[end])) end++;
    const cluster = characters.slice(start, end);
    const composed = [...cluster.join("").normalize("NFC")];
    // A mark that was composed belongs to the character before; the others keep their own place.
    const joined = cluster.length - composed.length;
    composed.forEach((ch, index) => places.push({ ch, start: start + (index && index + joined), end: start + (index ? index + joined + 1 : 1 + Math.max(0, joined)) }));
    start = end;
  }
  return oneSpace(places);
}

/** @param {Place[]} places */
function oneSpace(places) {
  /** @type {Place[]} */
  const joined = [];
  for (const place of places) {
    if (!/[\s▁]/u.test(place.ch)) joined.push(place);
    else if (joined.length && joined[joined.length - 1].ch !== " ") joined.push({ ...place, ch: " " });
    else if (joined.length) Object.assign(joined[joined.length - 1], { start: place.start, end: place.end });
  }
  if (joined.length && joined[joined.length - 1].ch === " ") joined.pop();
  return joined;
}

/**
 * The tokens with their spans: pieces follow each other through the text.
 * @param {string[]} typed  code points as sent
 * @param {Place[]} places
 * @param {number[]} ids
 * @param {string[]} pieces
 */
function placed(typed, places, ids, pieces) {
  let position = 0;
  // The space before a word at the start, which was not typed, may be spelled in bytes as well.
  const isSpelled = SPACE_BYTES.every((byte, index) => pieces[index] === byte);
  let bytesLeft = 0;
  const spans = pieces.map((piece, index) => {
    // A word at the start has a space that was not typed.
    let letters = index === 0 && piece.startsWith(SPACE) ? piece.slice(1) : piece;
    if (BYTE.test(piece)) {
      const place = places[position];
      if (isSpelled && index < SPACE_BYTES.length) return [place.start, place.end];
      bytesLeft ||= place.ch === " " ? SPACE_BYTES.length : new TextEncoder().encode(place.ch).length;
      if (!--bytesLeft) position++;
      return [place.start, place.end];
    }
    const start = places[position]?.start ?? 0;
    let end = start;
    for (; letters; position++) {
      letters = letters.slice(places[position].ch.length);
      end = places[position].end;
    }
    return [start, end];
  });
  const starts = new Set(spans.map(([start]) => start));
  return ids.map((id, index) => {
    let [start, end] = spans[index];
    while (end > start && end < typed.length && !starts.has(end) && MARK.test(typed[end])) end++;
    return reply({ text: visibleText(pieces[index], index === 0), id, start, end, special: false });
  });
}

/** Bytes as text, without incomplete characters. @param {Uint8Array} bytes */
const decoded = (bytes) => UTF8.decode(bytes).replaceAll("\ufffd", "");

/** @param {Uint8Array} bytes @param {number} begin @param {number} end */
function span(bytes, begin, end) {
  const start = [...decoded(bytes.subarray(0, begin))].length;
  while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end++;
  return [start, [...decoded(bytes.subarray(0, end))].length];
}

// What a text is before it is cut into tokens: characters with the same meaning folded, as the model's
// training did (model/text/writing_systems.py). The number of code points stays.

/**
 * @typedef {object} TextRules
 * @property {Record<string, string>} simplified  traditional characters that simplified text never has
 * @property {Record<string, string>} converted  what others become in a text that has one of those
 * @property {Record<string, string>} scripts  regular expressions that count the words of a script
 * @property {Record<string, string>} languages  the script of each language, in the model's order
 */

const HAN = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u{20000}-\u{3ffff}]/u;
const LATIN_WORD = /[A-Za-zÀ-ɏ]+/g;
const FULL_WIDTH = /[０-９Ａ-Ｚａ-ｚ]/gu;
const APOSTROPHE = /(?<=[A-Za-z])’(?=[A-Za-z])/g;
/** Capitals that a lowered text keeps: the first of a sentence, and "I". */
const CAPITALS = /(?:^|[.!?]\s)[^\p{L}\p{N}_]*[\p{L}\p{N}_]?|(?<![\p{L}\p{N}_])I(?![\p{L}\p{N}_])/gu;
/** Combining characters in a row that are looked at, since they are sorted pairwise. */
const MARKS = 30;
const MANY_MARKS = new RegExp(`(\\p{M}{${MARKS}})\\p{M}+`, "gu");

/**
 * @param {string} text
 * @param {TextRules} rules
 */
function foldedText(text, rules) {
  const plain = text.replace(FULL_WIDTH, (wide) => String.fromCharCode(wide.charCodeAt(0) - 0xfee0)).replace(APOSTROPHE, "'");
  if (!HAN.test(plain)) return isShouted(plain) ? lowered(plain) : plain;
  const characters = Array.from(plain, (character) => {
    const composed = character.normalize("NFC");
    return [...composed].length === 1 ? composed : character;
  });
  const isTraditional = characters.some((character) => Object.hasOwn(rules.simplified, character));
  const table = isTraditional ? { ...rules.converted, ...rules.simplified } : {};
  return characters.map((character) => (Object.hasOwn(table, character) ? table[character] : character)).join("");
}

/** Whether at least two words are all in capitals. @param {string} text */
function isShouted(text) {
  const composed = text.replace(MANY_MARKS, "$1").normalize("NFC");
  const words = (composed.match(LATIN_WORD) ?? []).filter((word) => word.length > 1);
  return words.length > 1 && !/\p{Lowercase}/u.test(composed);
}

/** @param {string} text */
function lowered(text) {
  let result = "";
  let end = 0;
  const lower = (/** @type {string} */ part) => Array.from(part, (character) => ([...character.toLowerCase()].length === 1 ? character.toLowerCase() : character)).join("");
  for (const match of text.matchAll(CAPITALS)) {
    result += lower(text.slice(end, match.index)) + match[0];
    end = match.index + match[0].length;
  }
  return result + lower(text.slice(end));
}

/**
 * The language whose script occurs most, or the first; of equals, the one of the later script.
 * @param {string} text
 * @param {TextRules} rules
 */
export function languageOf(text, { scripts, languages }) {
  const order = Object.keys(scripts);
  let [best, maxCount, rank] = [Object.keys(languages)[0], 0, -1];
  for (const [language, script] of Object.entries(languages)) {
    const count = text.match(new RegExp(scripts[script], "gu"))?.length ?? 0;
    if (count > maxCount || (count > 0 && count === maxCount && order.indexOf(script) > rank)) [best, maxCount, rank] = [language, count, order.indexOf(script)];
  }
  return best;
}
