/** Why a query may not look at a key, by the rules of the mask. */

import { rules } from "../data/attentions.js";

/** @typedef {import("../lib/i18n.js").Translate} Translate */

/**
 * @param {Translate} t
 * @param {string} mask  such as "causal & window-3"
 * @param {{query: number | null, key: number | null}} at  null: several tokens
 * @returns {string}
 */
export function maskedSaid(t, mask, { query, key }) {
  if (query === null || key === null) return t("masked: the query may not look there");
  const names = rules(mask);
  const size = Number(names.find((name) => name.startsWith("window-"))?.slice("window-".length) ?? Infinity);
  if (names.includes("causal") && key > query) return t("masked: the key comes later than the query");
  if (Math.abs(query - key) >= size)
    return names.includes("causal")
      ? t("masked: outside the window of the last {n} tokens", { n: size })
      : t("masked: outside the window, {n} or more tokens away", { n: size });
  return t("masked: the query may not look there");
}
