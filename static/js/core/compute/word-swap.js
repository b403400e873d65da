/**
 * Change one word of a sentence, to start a comparison: the first word that has a counterpart here
 * is replaced; if none has, the word in the middle is removed, since in a decoder only the rows after
 * a change can differ.
 */

/** Pairs of the same kind and length, so that the rest of the sentence can stay the same. */
const PAIRS = [
  "mother father", "sister brother", "woman man", "girl boy", "aunt uncle", "daughter son",
  "dog cat", "he she", "him her", "yesterday today", "tomorrow tonight", "morning evening",
  "new old", "big small", "good bad", "hot cold", "tired wide", "happy sad", "long short",
  "hungry thirsty", "rains snows", "black white", "red blue", "book letter", "house school",
  "Monday Friday", "France Italy", "Paris Rome", "three four", "water milk", "妈妈 爸爸", "姐姐 哥哥", "女人 男人", "女孩 男孩", "她 他", "狗 猫", "昨天 今天", "明天 今晚",
  "早上 晚上", "新 旧", "大 小", "好 坏", "冷 热", "累 饿", "长 短", "红 蓝", "书 信", "房子 学校",
];
const WORD = /\p{Script=Han}+|[\p{L}\p{M}'’]+/gu;

/** @type {Map<string, string>} */
const COUNTERPART = new Map(
  PAIRS.flatMap((pair) => {
    const [a, b] = pair.split(" ");
    return [[a, b], [b, a]];
  }),
);

/**
 * @param {string} text
 * @returns {string}
 */
export function swapped(text) {
  for (const { 0: run, index } of text.matchAll(WORD)) {
    const found = /\p{Script=Han}/u.test(run) ? within(run) : counterpart(run);
    if (found !== null) return text.slice(0, index) + found + text.slice(index + run.length);
  }
  return withoutMiddle(text);
}

/** @param {string} text  Of a text without spaces, a character in the middle is removed. */
function withoutMiddle(text) {
  const words = [...text.matchAll(/\s+[\p{L}\p{M}'’]+/gu)];
  const characters = [...text.matchAll(/\p{Script=Han}/gu)];
  const found = words.length ? words : characters.slice(1);
  if (!found.length) return text;
  const { 0: word, index } = found[Math.floor((found.length - 1) / 2)];
  return text.slice(0, index) + text.slice(index + word.length);
}

/** @param {string} word @returns {string | null}  with the case of the word */
function counterpart(word) {
  const found = COUNTERPART.get(word) ?? COUNTERPART.get(word.toLowerCase());
  if (!found) return null;
  const capital = word[0] !== word[0].toLowerCase();
  return capital ? found[0].toUpperCase() + found.slice(1) : found;
}

/** @param {string} run  of Chinese characters, with no space between its words */
function within(run) {
  for (let at = 0; at < run.length; at++) {
    for (const length of [2, 1]) {
      const found = COUNTERPART.get(run.slice(at, at + length));
      if (found) return run.slice(0, at) + found + run.slice(at + length);
    }
  }
  return null;
}
