/**
 * Do what a button is for. Until it is done, the buttons are dim and do nothing, but keep the focus:
 * a disabled one would lose it.
 * @template T
 * @param {() => Promise<T>} work
 * @param {...HTMLElement} buttons
 * @returns {Promise<T>}
 */
export async function whileBusy(work, ...buttons) {
  const stop = (/** @type {Event} */ event) => (event.preventDefault(), event.stopImmediatePropagation());
  for (const button of buttons) {
    button.ariaDisabled = "true";
    button.addEventListener("click", stop, true);
  }
  try {
    return await work();
  } finally {
    for (const button of buttons) {
      button.removeEventListener("click", stop, true);
      button.ariaDisabled = null;
    }
  }
}
