/** What a lit row says, in a sentence. */

import { finding } from "../compute/row-summary.js";
import { litIn, reading } from "../state/heatmap-data.js";
import { two } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { quoted } from "../draw/token.js";
import { row } from "../data/wire.js";
import { blockAt, extent, taught } from "../data/attentions.js";

/** @typedef {import("../state/types.js").Context} Context */
/** @typedef {import("../compute/row-summary.js").Finding} Finding */

/**
 * @param {Pick<Context, "say" | "t">} context
 * @param {import("../state/store.js").Page} page
 * @param {import("../state/store.js").Lit | null} hovered
 * @returns {(string | import("../lib/render.js").Described)[] | null}
 */
export function compose({ say, t }, page, hovered) {
  const read = reading(page);
  if (!read) return null;
  const { matrix, rows, cols, choice } = read;
  const at = litIn(page, hovered, read).row ?? litIn(page, null, read).row;
  if (at === null || at >= matrix.rows) return null;
  const found = finding(row(matrix, at));
  const keys =
    "keys" in found
      ? found.keys.map((i) => el("span", { className: "as-key" }, quoted(cols.steps[i].writes)))
      : [];
  const decodes = blockAt(page).writes;
  const words = choice.pool === "max" ? most(found, t) : sentence(found, decodes, t);
  return say(words, {
    place: el("span", { className: "place" }, whereabouts(page, choice, t)),
    query: el("span", { className: "as-query" }, quoted(rows.steps[at].writes)),
    key: keys[0],
    other: keys[1],
    count: keys.length,
    weight: "weight" in found ? two(found.weight) : "",
  });
}

/**
 * Which head, or that it is none in particular, and what was left out.
 * @param {import("../state/store.js").Page} page
 * @param {import("../state/heatmap-data.js").Choice} choice
 * @param {Context["t"]} t
 */
function whereabouts({ link, model }, { pool, hides }, t) {
  const layer = link.layer + 1;
  const heads = model ? extent(model, link.block).heads : 0;
  const place = {
    one: () =>
      model && taught(model, link)
        ? t("Layer {layer}, head {head}, taught to align", { layer, head: link.head + 1 })
        : t("Layer {layer}, head {head}", { layer, head: link.head + 1 }),
    mean: () => t("Layer {layer}, mean of {heads} heads", { layer, heads }),
    max: () => t("Layer {layer}, maximum of {heads} heads", { layer, heads }),
  }[pool]();
  return hides ? t("{place}, special tokens left out", { place }) : place;
}

/**
 * Of a maximum over heads nothing can be said of a head's whole row.
 * @param {Finding} found
 * @param {Context["t"]} t
 */
function most({ kind }, t) {
  if (kind === "nothing") return t("{place}: {query} has nothing to look at.");
  if (kind === "both" || kind === "spread")
    return t("{place}: from {query} the most that any head gives is {weight}, to {count} tokens alike.");
  return t("{place}: from {query} the most that any head gives goes to {key} ({weight}).");
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
