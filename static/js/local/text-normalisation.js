/**
 * What a text is before it is cut into tokens: characters with the same meaning folded, as the
 * model's training did (model/text/writing_systems.py). The number of code points stays.
 */

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
export function foldedText(text, rules) {
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
