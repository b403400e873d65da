/**
 * Formatting of all numbers on the page: a fixed number of decimals, or a power of ten if those
 * would all be zero.
 */

/** @type {Record<string, string>} */
const RAISED = Object.fromEntries([..."−0123456789"].map((sign, i) => [sign, [..."⁻⁰¹²³⁴⁵⁶⁷⁸⁹"][i]]));

/** From here on, a number is printed as a power of ten. */
const LARGE = 1e5;

/** As a factor or term: in parentheses if it has a sign. @param {number} value */
export const factored = (value) => (four(value).startsWith("−") ? `(${four(value)})` : four(value));

/** A number this close to an integer differs from it only by rounding. */
const ROUNDING = 1e-12;

/**
 * The digits of a number, and the power of ten to multiply them by.
 * @typedef {{digits: string, ten: number | null}} Parts  ten: null if there is no power of ten
 */

/**
 * Two decimals. A nonzero number that would print as zero is "<0.01".
 * @param {number} value
 */
export function two(value) {
  if (Math.abs(value) >= 0.005 || value === 0 || Number.isNaN(value)) return joined(parts(value, 2));
  return value > 0 ? "<0.01" : ">−0.01";
}

/**
 * A difference with its sign and two decimals; one that would print as zero is "0": no change.
 * @param {number} value
 */
export const change = (value) => (Math.abs(value) < 0.005 ? "0" : plus(value, two));

/**
 * With its sign, even if it is positive.
 * @param {number} value
 * @param {(value: number) => string} format
 */
export const plus = (value, format) => (value > 0 ? `+${format(value)}` : format(value));

/** Four decimals, or a power of ten: 0.1234, 3.1 · 10⁻⁷, 1.4583 · 10⁵. @param {number} value */
export const four = (value) => joined(parts(value, 4));

/**
 * A number that was rounded by at most `error`: if that is not 0, two decimals and a sign.
 * @param {number} value
 * @param {number} [error]
 * @param {(value: number) => string} [format]  of an exact one
 */
export function rounded(value, error = 0, format = four) {
  if (!error || Number.isNaN(value)) return format(value);
  const text = two(value);
  return /^[<>]/.test(text) ? text : `≈ ${text}`;
}

/** An integer without decimals, any other number with four. @param {number} value */
export const plainly = (value) =>
  Math.abs(value - Math.round(value)) < ROUNDING && Math.abs(value) < LARGE ? fixed(value, 0) : four(value);

/** The largest denominator of a fraction. */
const DENOMINATOR = 999;

/** A simple fraction as such, any other number with four decimals. @param {number} value */
export function fractional(value) {
  const [over, under] = convergent(Math.abs(value));
  const exact = Math.abs(Math.abs(value) - over / under) <= ROUNDING * Math.max(1, Math.abs(value));
  if (!exact || under === 1) return plainly(value);
  return `${value < 0 ? "−" : ""}${over}/${under}`;
}

/**
 * The last convergent of the continued fraction whose denominator is small enough.
 * @param {number} value  not below zero
 * @returns {[number, number]}
 */
function convergent(value) {
  let [over, under, lastOver, lastUnder] = [1, 0, 0, 1];
  let remainder = value;
  for (;;) {
    const whole = Math.floor(remainder + ROUNDING);
    const next = whole * under + lastUnder;
    if (next > DENOMINATOR) return [over, under];
    [over, under, lastOver, lastUnder] = [whole * over + lastOver, next, over, under];
    if (Math.abs(value - over / under) <= ROUNDING) return [over, under];
    remainder = 1 / (remainder - whole);
  }
}

/** One decimal, as in 31.4 BLEU. @param {number} value */
export const oneDecimal = (value) => fixed(value, 1);

/**
 * One decimal below a hundred; an integer with thousands separators above.
 * @param {number} value
 */
export const roughly = (value) => (value < 100 ? fixed(value, 1) : grouped(Math.round(value)));

/**
 * The ratio of two probabilities from the difference of their logarithms: 1.4, 255, 2.6 · 10⁸.
 * @param {number} nats  not below zero
 */
export function times(nats) {
  const ratio = Math.exp(nats);
  if (ratio < LARGE) return roughly(ratio);
  const ten = Math.floor(nats / Math.LN10);
  const digits = fixed(10 ** (nats / Math.LN10 - ten), 1);
  return digits === "10.0" ? `1.0 · 10${raised(ten + 1)}` : `${digits} · 10${raised(ten)}`;
}

/** An integer with thousands separators: 1,234,567. @param {number} value */
export const grouped = (value) => value.toLocaleString("en");

/**
 * At most this many significant digits, without trailing zeros: 0.25, 0.316, 12.
 * @param {number} value
 * @param {number} digits
 */
export const significant = (value, digits) => signed(String(Number(value.toPrecision(digits))));

/** As the author of a question typed it, without digits that nobody stated: 0.07, 1.4. @param {number} value */
export const asTyped = (value) => significant(value, 12);

/** At most two decimals, as for ticks of an axis: 0, 0.5, −1. @param {number} value */
export const brief = (value) => signed(String(Math.round(value * 100) / 100 || 0));

/**
 * Always as a power of ten: 2.1 · 10⁻⁷.
 * @param {number} value
 * @param {number} [decimals]
 */
export const tiny = (value, decimals = 1) => (value === 0 ? "0" : joined(scientific(value, decimals)));

/** A power of ten in at most five characters: 2e−7. @param {number} value */
export function short(value) {
  const { digits, ten } = scientific(value, 0);
  return `${digits}e${signed(String(ten))}`;
}

/**
 * A fixed number of decimals, or a power of ten if those would all be zero or the integer part has
 * too many digits.
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

/** @param {number} value @param {number} decimals @returns {Parts & {ten: number}} */
function scientific(value, decimals) {
  const [digits, ten] = value.toExponential(decimals).split("e");
  return { digits: signed(digits), ten: Number(ten) };
}

/** @param {Parts} parts */
const joined = ({ digits, ten }) => (ten === null ? digits : `${digits} · 10${raised(ten)}`);

/** @param {number} power */
const raised = (power) => [...signed(String(power))].map((sign) => RAISED[sign]).join("");

/**
 * With a real minus sign (as wide as a plus), and none before zero.
 * @param {number} value
 * @param {number} decimals
 */
function fixed(value, decimals) {
  const digits = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(digits) !== 0 ? `−${digits}` : digits;
}

/** @param {string} digits */
export const signed = (digits) => digits.replace("-", "−");

/** A share in whole per cent, as in 97 %; 100 only if it is exactly 1. @param {number} share */
export const hundredths = (share) => fixed(share < 1 ? Math.min(99, Math.round(100 * share)) : 100, 0);

/** The size of a file in megabytes, at least 0.1. @param {number} bytes */
export const megabytes = (bytes) => fixed(Math.max(bytes / 1e6, 0.1), 1);
