/**
 * The keys that are meant for a figure: those pressed in it, and for the page's main figure those
 * pressed where no other one stands. Under an open dialog none is.
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
     * @param {{first?: boolean}} [when]  first: before what the keys are pressed in
     * @returns {() => void}  stops it
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
