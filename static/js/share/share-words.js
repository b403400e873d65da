/** What the author of a share adds: a title, a note, a question and its answer. */

import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";

/** @import { About } from "./share-panel.js" */

const FIELDS = /** @type {const} */ (["title", "note", "question", "answer", "predict"]);

/**
 * @param {() => void} submit  called when a link with this text is wanted
 * @param {() => {id: string, name: string}[]} kinds  of questions that can be asked about what is
 *   shown; the first stands for none
 */
export function bindShareWords(submit, kinds) {
  const form = /** @type {HTMLFormElement} */ (find("#telling form"));
  /** @param {string} name */
  const field = (name) => /** @type {HTMLInputElement} */ (form.elements.namedItem(name));

  /** @returns {About | undefined}  undefined: nothing is written */
  function read() {
    const filled = FIELDS.map((name) => [name, field(name).value.trim()]).filter(([, text]) => text);
    return filled.length ? Object.fromEntries(filled) : undefined;
  }

  function requireQuestion() {
    field("question").required = field("answer").value.trim() !== "";
  }

  /** Offer the questions that suit what is shown. */
  function offer() {
    const menu = /** @type {HTMLSelectElement} */ (form.elements.namedItem("predict"));
    const { value } = menu;
    const offered = kinds();
    /** @type {HTMLElement} */ (menu.parentElement).hidden = offered.length < 2;
    render(menu, offered.map(({ id, name }) => el("option", { key: id, value: id }, name)));
    menu.value = offered.some(({ id }) => id === value) ? value : "";
  }

  find("#telling").addEventListener("toggle", offer);
  form.addEventListener("input", requireQuestion);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return { read, offer };
}
