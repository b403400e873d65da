/** Map hovered words to the page's highlighted tokens, and back. */

import { wordOf } from "../../core/compute/alignment.js";
import { across } from "../../core/wire/attentions.js";
import { four, plus } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { token } from "../../core/draw/token.js";
import { lit } from "../../core/store/highlight.js";
import { sentence, text } from "./summary.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Shown } from "./alignment-content.js" */
/** @typedef {{target: number | null, source: number | null}} Pointed  words */

/**
 * The highlighted words; −1 if there is none.
 * @param {Context} context
 * @param {Shown | null} shown
 */
export function litWords({ store }, shown) {
  if (!shown) return { target: -1, source: -1, by: /** @type {const} */ ("default") };
  const at = lit(store.get(), store.hovered());
  const { source, target } = shown.found;
  // With rows that read, the default row is that of the word that it has read.
  const before = at.by === "default" && shown.by === "reads" && at.query !== null;
  const query = before ? Math.max(Number(at.query) - 1, 0) : at.query;
  return { target: wordOf(target, query), source: wordOf(source, at.key), by: at.by };
}

/** @param {Context} context @param {Shown | null} shown @param {Pointed} at */
export function hover({ store }, shown, { target, source }) {
  if (!shown || (target === null && source === null)) return store.hover(null);
  const { query, key } = across(store.get().model);
  const { found } = shown;
  store.hover({
    query: target === null ? null : { side: query, index: found.target.groups[target][0] },
    key: source === null ? null : { side: key, index: found.source.groups[source][0] },
  });
}

/** @param {Context} context @param {Shown | null} shown @param {Pointed} at @param {"click" | "key"} how */
export function pick(context, shown, { target, source }, how) {
  if (!shown) return;
  const { store } = context;
  const { found } = shown;
  const query = target === null ? lit(store.get(), null).query : found.target.groups[target][0];
  const key = source === null ? null : found.source.groups[source][0];
  store.go({ query, key }, how === "click" ? "pinned" : "moved");
  if (target !== null) context.announce(sentence(context, shown, target).map(text).join(""));
}

/** @param {Context} context @param {Shown | null} shown @param {{row: number, col: number}} cell */
export function tip({ t }, shown, { row, col }) {
  if (!shown) return [];
  const { found, method, source, target } = shown;
  const value = found.soft.values[row * found.soft.cols + col];
  const none = Number.isNaN(found.special[row]) ? t("no row") : t("masked");
  return [
    h("span", { className: "as-query" }, token(target[row])),
    " ",
    h("span", { className: "as-key" }, token(source[col])),
    " ",
    h("b", {}, Number.isNaN(value) ? none : method === "attention" ? four(value) : t("{value} nats", { value: plus(value, four) })),
  ];
}
