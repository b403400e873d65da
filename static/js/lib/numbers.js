/**
 * Numbers as the page prints them. Every number that is read on the page goes through here: a fixed
 * number of decimals where they say something, a power of ten where they would not.
 */

/** @type {Record<string, string>} */
const RAISED = Object.fromEntries([..."−0123456789"].map((sign, i) => [sign, [..."⁻⁰¹²³⁴⁵⁶⁷⁸⁹"][i]]));

/** From here on digits before the point are counted, not read. */
const LARGE = 1e5;

/** As a factor or a term: in brackets where a sign stands before it. @param {number} value */
export const factored = (value) => (four(value).startsWith("−") ? `(${four(value)})` : four(value));

/** A number this close to a whole one is one but for rounding. */
const ROUNDING = 1e-12;

/**
 * A number's digits, and the power of ten that they are to be multiplied by.
 * @typedef {{digits: string, ten: number | null}} Parts  ten: null where the digits are all of it
 */

/**
 * Two decimals. What they would print as zero and is not, is "<0.01".
 * @param {number} value
 */
export function two(value) {
  if (Math.abs(value) >= 0.005 || value === 0 || Number.isNaN(value)) return joined(parts(value, 2));
  return value > 0 ? "<0.01" : ">−0.01";
}

/**
 * A difference, with its sign and two decimals; what would print as zero is 0, a change that is none.
 * @param {number} value
 */
export const change = (value) => (Math.abs(value) < 0.005 ? "0" : plus(value, two));

/** With its sign, which is the point. @param {number} value @param {(value: number) => string} say */
export const plus = (value, say) => (value > 0 ? `+${say(value)}` : say(value));

/** Four decimals, or a power of ten: 0.1234, 3.1 · 10⁻⁷, 1.4583 · 10⁵. @param {number} value */
export const four = (value) => joined(parts(value, 4));

/** A whole number as one, any other with four decimals. @param {number} value */
export const plainly = (value) =>
  Math.abs(value - Math.round(value)) < ROUNDING && Math.abs(value) < LARGE ? fixed(value, 0) : four(value);

/** A fraction has a denominator up to this. */
const DENOMINATOR = 999;

/** A simple fraction as one, any other number with four decimals. @param {number} value */
export function fractional(value) {
  const [over, under] = convergent(Math.abs(value));
  const exact = Math.abs(Math.abs(value) - over / under) <= ROUNDING * Math.max(1, Math.abs(value));
  if (!exact || under === 1) return plainly(value);
  return `${value < 0 ? "−" : ""}${over}/${under}`;
}

/**
 * The last convergent of a number's continued fraction with a denominator that is small enough.
 * @param {number} value  not below zero
 * @returns {[number, number]}
 */
function convergent(value) {
  let [over, under, lastOver, lastUnder] = [1, 0, 0, 1];
  let rest = value;
  for (;;) {
    const whole = Math.floor(rest + ROUNDING);
    const next = whole * under + lastUnder;
    if (next > DENOMINATOR) return [over, under];
    [over, under, lastOver, lastUnder] = [whole * over + lastOver, next, over, under];
    if (Math.abs(value - over / under) <= ROUNDING) return [over, under];
    rest = 1 / (rest - whole);
  }
}

/** One decimal, as in 31.4 BLEU. @param {number} value */
export const one = (value) => fixed(value, 1);

/** One decimal below a hundred, whole above, with its thousands apart. @param {number} value */
export const roughly = (value) => (value < 100 ? fixed(value, 1) : grouped(Math.round(value)));

/**
 * The ratio of two probabilities whose logarithms differ by so much: 1.4, 255, 2.6 · 10⁸.
 * @param {number} nats  not below zero
 */
export function times(nats) {
  const ratio = Math.exp(nats);
  if (ratio < LARGE) return roughly(ratio);
  const ten = Math.floor(nats / Math.LN10);
  const digits = fixed(10 ** (nats / Math.LN10 - ten), 1);
  return digits === "10.0" ? `1.0 · 10${raised(ten + 1)}` : `${digits} · 10${raised(ten)}`;
}

/** A whole number with its thousands apart: 1,234,567. @param {number} value */
export const grouped = (value) => value.toLocaleString("en");

/** So many digits at most, without zeros at the end: 0.25, 0.316, 12. @param {number} value @param {number} digits */
export const significant = (value, digits) => signed(String(Number(value.toPrecision(digits))));

/** Two decimals at most, as an axis is marked: 0, 0.5, −1. @param {number} value */
export const brief = (value) => signed(String(Math.round(value * 100) / 100 || 0));

/**
 * As a power of ten, whatever its size: 2.1 · 10⁻⁷.
 * @param {number} value
 * @param {number} [decimals]
 */
export const tiny = (value, decimals = 1) => (value === 0 ? "0" : joined(scientific(value, decimals)));

/** The same where there is room for five letters: 2e−7. @param {number} value */
export function short(value) {
  const { digits, ten } = scientific(value, 0);
  return `${digits}e${signed(String(ten))}`;
}

/**
 * With a fixed number of decimals, and as a power of ten where those would all be zeros, or where
 * there are more digits before the point than are read.
 * @param {number} value
 * @param {number} decimals
 * @returns {Parts}
 */
export function parts(value, decimals) {
  const size = Math.abs(value);
  if (size >= LARGE && Number.isFinite(value)) return scientific(value, decimals);
  const small = size > 0 && size < 0.5 * 10 ** -decimals;
  return small ? scientific(value, 1) : { digits: fixed(value, value === 0 ? 0 : decimals), ten: null };
}

/**
 * @param {number} value
 * @param {number} decimals
 * @returns {Parts & {ten: number}}
 */
function scientific(value, decimals) {
  const [digits, ten] = value.toExponential(decimals).split("e");
  return { digits: signed(digits), ten: Number(ten) };
}

/** @param {Parts} parts */
const joined = ({ digits, ten }) => (ten === null ? digits : `${digits} · 10${raised(ten)}`);

/** @param {number} power */
const raised = (power) => [...signed(String(power))].map((sign) => RAISED[sign]).join("");

/**
 * With a minus sign, which is as wide as a plus, and none before a zero.
 * @param {number} value
 * @param {number} decimals
 */
function fixed(value, decimals) {
  const digits = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(digits) !== 0 ? `−${digits}` : digits;
}

/** @param {string} digits */
export const signed = (digits) => digits.replace("-", "−");

/** A share as a whole number of hundredths, as in 97 %: 100 only where it is all. @param {number} share */
export const hundredths = (share) => fixed(share < 1 ? Math.min(99, Math.round(100 * share)) : 100, 0);
