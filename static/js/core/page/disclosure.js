/**
 * A button that opens a panel, which closes by the button, by Escape, or when the focus moves
 * elsewhere.
 */

/**
 * @param {HTMLElement} button  its `aria-expanded` has the state
 * @param {() => Element | null} panel  the panel
 * @param {(open: boolean) => void} show
 * @returns {{close: () => void, isOpen: () => boolean}}
 */
export function createDisclosure(button, panel, show) {
  let open = false;
  const within = (/** @type {EventTarget | null} */ target) =>
    target instanceof Node && (button.contains(target) || Boolean(panel()?.contains(target)));

  /** @param {boolean} wanted */
  function turn(wanted) {
    if (wanted === open) return;
    open = wanted;
    button.setAttribute("aria-expanded", String(open));
    show(open);
  }
  const close = () => turn(false);
  const elsewhere = (/** @type {Event} */ { target }) => open && !within(target) && close();
  // A click next to a control focuses its container, which does not count as elsewhere.
  const around = (/** @type {EventTarget | null} */ target) => target instanceof Node && target.contains(panel());

  button.addEventListener("click", () => turn(!open));
  document.addEventListener("pointerdown", elsewhere);
  document.addEventListener("focusin", (event) => !around(event.target) && elsewhere(event));
  // Handled before the page's keys: Escape closes the panel and keeps the pin.
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (!open || event.key !== "Escape" || !within(event.target)) return;
    event.stopPropagation();
    close();
    button.focus();
  };
  document.addEventListener("keydown", escape, { capture: true });
  return { close, isOpen: () => open };
}

/**
 * A disclosure that shows and hides an element.
 * @param {HTMLElement} button
 * @param {HTMLElement} panel
 * @param {(open: boolean) => void} [also]
 */
export function bindDisclosure(button, panel, also = () => {}) {
  return createDisclosure(button, () => panel, (open) => {
    panel.hidden = !open;
    also(open);
  });
}
