/** Numbers as the page prints them. */

/** @type {Record<string, string>} */
const RAISED = Object.fromEntries([..."-0123456789"].map((sign, i) => [sign, [..."⁻⁰¹²³⁴⁵⁶⁷⁸⁹"][i]]));

/** @param {number} value */
export const two = (value) => fixed(value, 2);

/** @param {number} value */
export const four = (value) => fixed(value, 4);

/** A number this close to a whole one is one but for rounding. */
const ROUNDING = 1e-12;

/** A whole number as one, any other with four decimals. @param {number} value */
export const plainly = (value) => fixed(value, Math.abs(value - Math.round(value)) < ROUNDING ? 0 : 4);

/**
 * What is nothing but rounding, so that it is seen how small it is.
 * @param {number} value
 * @param {number} [decimals]
 */
export function tiny(value, decimals = 1) {
  if (value === 0) return "0";
  const [digits, power] = value.toExponential(decimals).split("e");
  const raised = [...power.replace("+", "")].map((sign) => RAISED[sign] ?? sign).join("");
  return `${digits} · 10${raised}`;
}

/**
 * With a minus sign, which is as wide as a plus, and none before a zero.
 * @param {number} value
 * @param {number} decimals
 */
function fixed(value, decimals) {
  const digits = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(digits) !== 0 ? `−${digits}` : digits;
}
