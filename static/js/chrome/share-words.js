/** What the author of a share adds: a title, a note, a question and its answer. */

import { find } from "../lib/dom.js";

/** @typedef {import("./share-panel.js").About} About */

const FIELDS = /** @type {const} */ (["title", "note", "question", "answer"]);

/** @param {() => void} submit  called when a link with this text is wanted */
export function bindShareWords(submit) {
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

  form.addEventListener("input", requireQuestion);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  return { read };
}
