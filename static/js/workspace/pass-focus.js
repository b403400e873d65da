/** A button that vanishes when it is pressed would take the focus with it. */

/**
 * Pass the focus on from each button that is hidden, disabled or removed by its own click.
 * @param {HTMLElement} root
 * @param {() => HTMLElement} to
 */
export function passFocus(root, to) {
  root.addEventListener("click", ({ target }) => {
    const button = /** @type {HTMLElement} */ (target).closest("button");
    const lost = () => document.activeElement === button || document.activeElement === document.body;
    const gone = () => button && (button.disabled || !button.checkVisibility()) && lost();
    // The page is drawn in the next frame.
    requestAnimationFrame(() => requestAnimationFrame(() => gone() && to().focus({ preventScroll: true })));
  });
}
