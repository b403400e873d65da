/** Copying text, over plain http too. */

import { h } from "./dom.js";

/**
 * @param {string} text
 * @returns {Promise<boolean>}  whether it lies in the clipboard now
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOld(text);
  }
}

/** Without https there is no asynchronous clipboard; the old way still works. @param {string} text */
function copyOld(text) {
  const held = /** @type {HTMLElement | null} */ (document.activeElement);
  const field = h("textarea", { value: text, readOnly: true, className: "hidden", "aria-hidden": "true" });
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  held?.focus();
  return done;
}
