/** The export menu: lists the files and saves the chosen one. */

import { Problem } from "../wire/problem.js";
import { find, h } from "../../lib/dom.js";
import { download } from "../../lib/download.js";
import { wording } from "../figure/problem-wording.js";
import { bindDisclosure } from "./disclosure.js";

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
