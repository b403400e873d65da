/** The one sentence that says what is seen; its words follow from the numbers of the lit row. */

import { BLOCK, attention, axes, lit, pair } from "../blocks.js";
import { finding, four, two } from "../caption.js";
import { find, h, quoted } from "../dom.js";
import { plainStep } from "../tokens.js";
import { row } from "../wire.js";

/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../caption.js").Finding} Finding */

/** @param {Context} context */
export function bindCaption(context) {
  const { store } = context;
  const line = find("#caption");
  const show = () => line.replaceChildren(...(compose(context) ?? line.childNodes));
  store.subscribe((page, previous) => {
    show();
    if (page.link !== previous.link && page.link.query !== null) announce(context);
  });
  store.watch(show);
}

/**
 * @param {Context} context
 * @returns {(string | Node)[] | null}
 */
function compose({ store, say, t }) {
  const page = store.get();
  const { trace, link } = page;
  const matrix = trace && attention(trace, link);
  if (!trace || !matrix) return null;
  const at = lit(page, store.hovered()).query ?? lit(page, null).query;
  if (at === null || at >= matrix.rows) return null;
  const { rows, cols } = axes(trace, link.block);
  const found = finding(row(matrix, at));
  const keys =
    "keys" in found
      ? found.keys.map((i) => h("span", { className: "as-key" }, quoted(cols[i].writes)))
      : [];
  const place = t("Layer {layer}, head {head}", { layer: link.layer + 1, head: link.head + 1 });
  return say(sentence(found, BLOCK[link.block].stack === "decoder", t), {
    place: h("span", { className: "place" }, place),
    query: h("span", { className: "as-query" }, quoted(rows[at].writes)),
    key: keys[0],
    other: keys[1],
    count: keys.length,
    weight: "weight" in found ? two(found.weight) : "",
  });
}

/**
 * @param {Finding} found
 * @param {boolean} writes  the row writes a token, and does not just stand for one
 * @param {Context["t"]} t  only marks the messages here: the places are filled by the caller
 * @returns {string}
 */
function sentence({ kind }, writes, t) {
  if (writes) {
    if (kind === "nothing") return t("{place}: while writing {query} it has nothing to look at.");
    if (kind === "only")
      return t("{place}: while writing {query} it can look at {key} only ({weight}).");
    if (kind === "both")
      return t(
        "{place}: while writing {query} it looks equally at {key} and {other} ({weight} each).",
      );
    if (kind === "spread")
      return t(
        "{place}: while writing {query} it spreads its look; {count} tokens share the most ({weight} each).",
      );
    return t("{place}: while writing {query} it looks most at {key} ({weight}).");
  }
  if (kind === "nothing") return t("{place}: {query} has nothing to look at.");
  if (kind === "only") return t("{place}: {query} can look at {key} only ({weight}).");
  if (kind === "both")
    return t("{place}: {query} looks equally at {key} and {other} ({weight} each).");
  if (kind === "spread")
    return t("{place}: {query} spreads its look; {count} tokens share the most ({weight} each).");
  return t("{place}: {query} looks most at {key} ({weight}).");
}

/**
 * Tells a screen reader the pinned cell. What the pointer passes over is not announced.
 * @param {Context} context
 */
function announce({ store, t, announce }) {
  const page = store.get();
  const at = pair(page);
  const matrix = page.trace && attention(page.trace, page.link);
  if (!page.trace || !matrix || !at) return;
  const { rows, cols } = axes(page.trace, page.link.block);
  const value = matrix.values[at.query * matrix.cols + at.key];
  announce(
    t("query {query}, key {key}: {weight}", {
      query: plainStep(rows[at.query]),
      key: plainStep(cols[at.key]),
      weight: Number.isNaN(value) ? t("masked") : four(value),
    }),
  );
}
