/** Pinning in a long text: a cell of the map, or a token of the text; in the link both are tokens. */

/** @import { Shown, Place } from "./map.js" */
/** @import { Side } from "./reader.js" */

/**
 * @param {import("../../core/store/store.js").Store} store
 * @param {() => Shown | null} present
 * @param {{map: () => import("./map.js").LongMap, reveal: (side: Side, token: number) => void}} places
 */
export function createPins(store, present, { map, reveal }) {
  return {
    /** @param {{row: number, col: number}} place  in units @param {"click" | "key"} how  A click on what is pinned lets it go. */
    cell({ row, col }, how) {
      const shown = present();
      if (!shown) return;
      const { rows, cols } = shown.axes;
      const [query, key] = [rows.tokensOf(row)[0], cols.tokensOf(col)[0]];
      const { link } = store.get();
      if (how === "click" && link.query === query && link.key === key) return store.go({ query: null, key: null });
      store.go({ query, key }, how === "click" ? "pinned" : "moved");
      if (how === "key") map().reveal({ row, col });
      reveal("col", key);
    },

    /** @param {Side} side @param {number} token  Pins it as a query or as a key; what is pinned already is let go. */
    token(side, token) {
      const shown = present();
      if (!shown) return;
      const { axes, page: { link } } = shown;
      const one = axes.rows.tokens === axes.cols.tokens;
      const [name, other] = side === "row" ? /** @type {const} */ (["query", "key"]) : /** @type {const} */ (["key", "query"]);
      const axis = side === "row" ? axes.rows : axes.cols;
      const first = axis.tokensOf(axis.unitOf(token))[0];
      const again = link[name] === first && (!one || link[other] === null);
      store.go({ query: null, key: null, ...(!one && { [other]: link[other] }), [name]: again ? null : first }, "pinned");
      map().reveal(placeOf(shown, first, [side]));
    },

    /** @param {number} token @param {Side[]} sides  Lights it and goes there. */
    goTo(token, sides) {
      const shown = present();
      if (!shown) return;
      const place = placeOf(shown, token, sides);
      map().light(place);
      map().centre(place);
    },

    /** @param {Side} side @param {number | null} token  That the pointer is on in the text. */
    point(side, token) {
      const shown = present();
      if (shown) map().light(token === null ? { row: null, col: null } : placeOf(shown, token, [side]));
    },
  };
}

/** @param {Shown} shown @param {number} token @param {Side[]} sides @returns {Place} */
function placeOf({ axes: { rows, cols } }, token, sides) {
  return { row: sides.includes("row") ? rows.unitOf(token) : null, col: sides.includes("col") ? cols.unitOf(token) : null };
}
