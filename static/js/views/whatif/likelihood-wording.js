/** Describe a difference of log-probabilities in words. */

import { plus, times, two } from "../../lib/numbers.js";

/** Smaller differences (in nats) count as equally likely. */
const SAME = Math.log(1.05);

/**
 * @param {import("../../lib/i18n.js").Translate} t
 * @param {number} nats  after − before
 * @returns {string}  such as "255× less likely"
 */
export function likelier(t, nats) {
  if (Math.abs(nats) < SAME) return t("about as likely as before");
  const ratio = times(Math.abs(nats));
  return nats < 0 ? t("{ratio}× less likely", { ratio }) : t("{ratio}× more likely", { ratio });
}

/** @param {number} nats  With its sign. */
export const inNats = (nats) => plus(nats, two);
