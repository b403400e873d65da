/** Pointing, clicking and arrow keys in the river: to the tokens above and to the inputs. */

import { blockAt } from "../../data/attentions.js";
import { lit } from "../../state/highlight.js";
import { onArrows } from "../../parts/arrow-keys.js";

/**
 * @param {HTMLElement} element  that holds the river
 * @param {{store: import("../../state/store.js").Store, move: (down: number, right: number) => void, announce: () => void}} page
 */
export function bindRiver(element, { store, move, announce }) {
  /** @param {Event} event */
  function under(event) {
    const spot = /** @type {Element} */ (event.target).closest("[data-top], [data-leaf]");
    const block = blockAt(store.get());
    const { trace } = store.get();
    const [top, leaf] = ["data-top", "data-leaf"].map((name) => spot?.getAttribute(name) ?? null);
    if (top !== null) return { query: { side: block.query, index: Number(top) }, key: null };
    const keys = trace?.tokens[block.key]?.length ?? 0;
    if (leaf === null || Number(leaf) >= keys) return null;
    return { query: null, key: { side: block.key, index: Number(leaf) } };
  }
  element.addEventListener("pointermove", (event) => {
    if (event.pointerType !== "touch") store.hover(under(event));
  });
  element.addEventListener("pointerleave", () => store.hover(null));
  element.addEventListener("click", (event) => {
    const at = under(event);
    if (!at) return;
    const present = lit(store.get(), null).query;
    store.go({ query: at.query?.index ?? present, key: at.key?.index ?? null }, "pinned");
    announce();
  });
  onArrows(element, (down, right) => {
    move(down, right);
    announce();
  });
}
