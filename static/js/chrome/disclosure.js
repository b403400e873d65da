/** A button that opens something: it closes again by the button, by Escape, and where one goes elsewhere. */

/**
 * @param {HTMLElement} button  whose `aria-expanded` says which it is
 * @param {() => Element | null} panel  what it opens
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
  // A click beside a control focuses what it stands in, which is not elsewhere.
  const around = (/** @type {EventTarget | null} */ target) => target instanceof Node && target.contains(panel());

  button.addEventListener("click", () => turn(!open));
  document.addEventListener("pointerdown", elsewhere);
  document.addEventListener("focusin", (event) => !around(event.target) && elsewhere(event));
  // Before the page hears of it: Escape closes this and lets go of nothing that is pinned.
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
 * One that shows and hides an element.
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
