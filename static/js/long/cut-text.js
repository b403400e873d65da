/** A text cut to what a model reads. */

/** @typedef {{limit: number, unit: string, value?: number, fits?: number}} Excess  fits: code points of it that are within the limit */

/** Where it is not known how many letters a token has, a little less is kept: the next answer says whether it fits. */
const CAREFUL = 0.97;
/** Letters that may be given up for the sake of a whole word. */
const WORD = 40;

/**
 * @param {string} text
 * @param {Excess} excess  what is too much about it
 * @returns {string}  its beginning, up to the end of a word
 */
export function cut(text, { limit, unit, value, fits }) {
  const points = Array.from(text);
  const share = value ? Math.floor((CAREFUL * points.length * limit) / value) : points.length;
  const most = Math.min(fits ?? (unit === "characters" ? limit : share), points.length);
  if (most === points.length) return text;
  const kept = points.slice(0, most).join("");
  const inside = /\S/.test(points[most] ?? "") && /\S$/.test(kept);
  const word = inside ? kept.search(/\S+$/) : kept.length;
  return (kept.length - word < WORD && word > 0 ? kept.slice(0, word) : kept).trimEnd();
}
