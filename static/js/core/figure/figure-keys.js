/**
 * The keys of a figure: those pressed inside it and, for the page's main figure, those pressed
 * outside any figure. While a dialog is open, there are none.
 */

const FIGURE = "[data-figure]";

/** @typedef {ReturnType<typeof createKeys>} Keys */

/**
 * @param {HTMLElement} root  of the figure
 * @param {boolean} main
 */
export function createKeys(root, main) {
  const { ownerDocument } = root;
  root.dataset.figure = main ? "main" : "";

  /** @param {EventTarget | null} target */
  function meant(target) {
    const view = ownerDocument.defaultView;
    if (!view || !(target instanceof view.Element)) return false;
    const figure = target.closest(FIGURE);
    return (figure ? figure === root : main) && !ownerDocument.querySelector("dialog[open]");
  }

  return {
    /**
     * @param {(event: KeyboardEvent) => void} listener
     * @param {{first?: boolean}} [when]  first: before the element in which the key is pressed
     * @returns {() => void}  removes the listener
     */
    listen(listener, { first = false } = {}) {
      const hear = (/** @type {KeyboardEvent} */ event) => {
        if (!event.isComposing && meant(event.target)) listener(event);
      };
      ownerDocument.addEventListener("keydown", hear, { capture: first });
      return () => ownerDocument.removeEventListener("keydown", hear, { capture: first });
    },
    release: () => void delete root.dataset.figure,
  };
}
