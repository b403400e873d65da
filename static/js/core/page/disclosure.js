/**
 * A button that opens a panel, which closes by the button, by Escape, or when the focus moves
 * elsewhere.
 */

import { find, h } from "../../lib/dom.js";
import { download } from "../../lib/browser.js";
import { wording } from "../figure/problem-wording.js";
import { Problem } from "../wire/problem.js";

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

// The export menu: lists the files and saves the chosen one.

/**
 * @typedef {object} Exports
 * @property {import("../../lib/i18n.js").Translate} t
 * @property {{kind: string, name: string, says: string}[]} kinds
 * @property {(kind: string) => Promise<{file: Blob, name: string} | {says: string}>} make  returns
 *   a file to save, or a message if the browser does the rest; throws a Problem
 * @property {(kind: string) => boolean} [lacks]  whether a kind is not available at present
 */

/** @param {Exports} of */
export function bindExportPanel({ t, kinds, make, lacks = () => false }) {
  const button = /** @type {HTMLButtonElement} */ (find("#export"));
  const panel = find("#export-panel");
  const says = h("p", { role: "status", className: "says" });
  const choices = kinds.map(({ kind, name, says: about }) => {
    const choice = h("button", { type: "button", className: "export-kind" }, h("b", {}, name), " ", h("span", {}, about));
    choice.addEventListener("click", () => take(kind));
    return { kind, choice };
  });
  panel.append(h("ul", {}, ...choices.map(({ choice }) => h("li", {}, choice))), says);
  find(".export").hidden = false;

  /** @param {string} kind */
  async function take(kind) {
    says.textContent = t("Making the file …");
    const made = await make(kind).catch(said);
    if (made instanceof Problem) return void (says.textContent = wording(t, made));
    if ("says" in made) return void (says.textContent = made.says);
    download(made.file, made.name);
    says.textContent = t("Saved as {name}.", { name: made.name });
  }

  bindDisclosure(button, panel, (open) => {
    says.textContent = "";
    if (open) for (const { kind, choice } of choices) choice.disabled = lacks(kind);
  });
}

/**
 * The message for a failed export.
 * @param {unknown} error
 */
function said(error) {
  if (error instanceof Problem) return error;
  reportError(error);
  return new Problem("unmade");
}
