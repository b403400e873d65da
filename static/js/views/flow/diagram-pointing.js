/**
 * Pointing, clicking and arrow keys in the diagram, for the tokens of the selected layer and the
 * inputs.
 */

import { blockAt } from "../../core/wire/attentions.js";
import { lit } from "../../core/store/highlight.js";
import { onArrows, within } from "../../core/figure/arrow-keys.js";

/** @import { Store } from "../../core/store/store.js" */
/** @import { Graph } from "./flow.js" */

/**
 * @param {HTMLElement} element  the container of the diagram
 * @param {object} page
 * @param {Store} page.store
 * @param {() => Graph | null} page.graph  the graph shown
 * @param {() => void} page.announce
 */
export function bindDiagram(element, { store, graph, announce }) {
  /** @param {MouseEvent} event */
  function under(event) {
    const block = blockAt(store.get());
    const shown = graph();
    const spot = shown && rowAt(event, { top: shown.tops.length, leaf: shown.leaves.length });
    if (spot?.rows === "top") return { query: { side: block.query, index: spot.index }, key: null };
    if (!spot || !shown || shown.nodes[shown.leaves[spot.index]].side !== block.key) return null;
    return { query: null, key: { side: block.key, index: spot.index } };
  }
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") store.hover(under(event));
  });
  element.addEventListener("pointerleave", () => store.hover(null));
  element.addEventListener("click", (event) => {
    const at = under(event);
    // A sink is no token that a link could name.
    if (!at || (at.key && at.key.index >= tokensOf(store))) return;
    const present = lit(store.get(), null).query;
    store.go({ query: at.query?.index ?? present, key: at.key?.index ?? null }, "pinned");
    announce();
  });
  onArrows(element, (down, right) => {
    const shown = graph();
    if (shown) move(store, shown, down, right);
    announce();
  });
}

/**
 * The row under the pointer: rows of one kind share a hit area and have equal heights.
 * @param {MouseEvent} event
 * @param {Record<"top" | "leaf", number>} counts  how many rows there are
 * @returns {{rows: "top" | "leaf", index: number} | null}
 */
function rowAt({ target, clientY }, counts) {
  const spot = /** @type {Element} */ (target).closest("[data-top], [data-leaf], [data-rows]");
  if (!spot) return null;
  const { top, leaf } = /** @type {SVGElement} */ (spot).dataset;
  if (top !== undefined) return { rows: "top", index: Number(top) };
  if (leaf !== undefined) return { rows: "leaf", index: Number(leaf) };
  const rows = spot.getAttribute("data-rows") === "top" ? "top" : "leaf";
  const box = spot.getBoundingClientRect();
  const index = Math.floor(((clientY - box.top) / box.height) * counts[rows]);
  return { rows, index: within(index, counts[rows]) };
}

/**
 * The highlighted token of the selected layer and the highlighted input.
 * @param {Store} store
 * @param {Graph} graph
 */
export function chosenIn(store, { nodes, tops, leaves }) {
  const page = store.get();
  const at = lit(page, store.hovered());
  const top = Math.min(at.query ?? lit(page, null).query ?? 0, tops.length - 1);
  const text = blockAt(page).key;
  const leaf = leaves.findIndex((node) => nodes[node].side === text && nodes[node].index === at.key);
  return { top, leaf: leaf < 0 ? null : leaf };
}

/** The number of tokens that can be looked at. @param {Store} store */
const tokensOf = (store) => store.get().trace?.tokens[blockAt(store.get()).key]?.length ?? 0;

/** @param {Store} store @param {Graph} graph @param {number} down @param {number} right */
function move(store, graph, down, right) {
  const { link } = store.get();
  const keys = tokensOf(store);
  const query = within(chosenIn(store, graph).top + down, graph.tops.length);
  const key = right ? within((link.key ?? -1) + right, keys) : link.key;
  store.go({ query, key });
}
