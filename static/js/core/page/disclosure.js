/**
 * A button that opens a panel, which closes by the button, by Escape, or when the focus moves
 * elsewhere.
 */

import { find, h } from "../../lib/dom.js";
import { download } from "../../lib/browser.js";
import { wording } from "../figure/problem-wording.js";
import { Problem } from "../wire/reply.js";

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

  /** @param {boolean} next */
  function turn(next) {
    if (next === open) return;
    open = next;
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
 * @property {(kind: string) => string} [waits]  what is said of a file that takes long; "": it does not
 * @property {() => string} [worksheet]  the address of the worksheet of what is on the screen; absent: there is none
 */

/** @typedef {{bytes: number, exported: boolean}} LivingModel  bytes: of a handout in which it runs; exported: otherwise the first handout takes minutes */

/** The models that run in a handout, by digest; none where this server makes none. @returns {Record<string, LivingModel>} */
export const livingModels = () => JSON.parse(find("#workspace").dataset.living || "{}");

/** What is said of a model that is not exported yet. @param {import("../../lib/i18n.js").Translate} t @param {LivingModel} [model] */
export const exportWait = (t, model) => (model && !model.exported ? t("The first time, the server prepares the model, which takes minutes.") : "");

/** The page of a worksheet. @param {string} link  of what is to be on it @param {string} lang */
export const worksheetOf = (link, lang) => `/worksheet?${new URLSearchParams({ link, lang })}`;

/** @param {Exports} of */
export function bindExportPanel({ t, kinds, make, lacks = () => false, waits = () => "", worksheet }) {
  const button = /** @type {HTMLButtonElement} */ (find("#export"));
  const panel = find("#export-panel");
  const message = h("p", { role: "status", className: "says" });
  const choices = kinds.map(({ kind, name, says: about }) => {
    const wait = h("span", {});
    const choice = h("button", { type: "button", className: "export-kind" }, h("b", {}, name), " ", h("span", {}, about), " ", wait);
    choice.addEventListener("click", () => take(kind));
    return { kind, choice, wait };
  });
  const sheet = h("a", { className: "export-kind" }, h("b", {}, t("Worksheet to print")), " ", h("span", {}, t("blanks to fill in, and an answer key")));
  const items = [...choices.map(({ choice }) => choice), ...(worksheet ? [sheet] : [])];
  panel.append(h("ul", {}, ...items.map((item) => h("li", {}, item))), message);
  find(".export").hidden = false;

  /** @param {string} kind */
  async function take(kind) {
    message.textContent = `${t("Making the file …")} ${waits(kind)}`.trim();
    const result = await make(kind).catch(problemOf);
    if (result instanceof Problem) return void (message.textContent = wording(t, result));
    if ("says" in result) return void (message.textContent = result.says);
    download(result.file, result.name);
    message.textContent = t("Saved as {name}.", { name: result.name });
  }

  bindDisclosure(button, panel, (open) => {
    message.textContent = "";
    if (!open) return;
    for (const { kind, choice, wait } of choices) {
      choice.disabled = lacks(kind);
      wait.textContent = waits(kind);
    }
    if (worksheet) sheet.href = worksheet();
  });
}

/**
 * The message for a failed export.
 * @param {unknown} error
 */
function problemOf(error) {
  if (error instanceof Problem) return error;
  reportError(error);
  return new Problem("unmade");
}
