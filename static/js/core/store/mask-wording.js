/** Descriptions of mask rules. */

import { rules } from "../wire/attentions.js";

/** @import { Translate } from "../../lib/i18n.js" */

/** How many tokens a window spans, the query included; Infinity: no window. @param {string[]} names */
const sizeOf = (names) => Number(names.find((name) => name.startsWith("window-"))?.slice("window-".length) ?? Infinity);

/**
 * The window that a query sees.
 * @param {Translate} t
 * @param {string} mask  such as "causal & window-3"
 * @returns {string | null}  null: none
 */
export function windowSaid(t, mask) {
  const names = rules(mask);
  const size = sizeOf(names);
  if (size === Infinity) return null;
  if (size === 1) return t("window: itself only");
  if (names.includes("causal")) return t("window: itself and {n} before", { n: size - 1 });
  return t("window: {n} to each side", { n: size - 1 });
}

/**
 * Why a key is masked for a query.
 * @param {Translate} t
 * @param {string} mask  such as "causal & window-3"
 * @param {{query: number | null, key: number | null}} at  null: several tokens
 * @returns {string}
 */
export function maskedSaid(t, mask, { query, key }) {
  if (query === null || key === null) return t("masked: the query may not look there");
  const names = rules(mask);
  const size = sizeOf(names);
  if (names.includes("causal") && key > query) return t("masked: the key comes later than the query");
  if (Math.abs(query - key) >= size)
    return names.includes("causal")
      ? t("masked: outside the window of the last {n} tokens", { n: size })
      : t("masked: outside the window, {n} or more tokens away", { n: size });
  return t("masked: the query may not look there");
}
