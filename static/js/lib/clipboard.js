/** Copy text to the clipboard, also over plain http. */

import { h } from "./dom.js";

/**
 * @param {string} text
 * @returns {Promise<boolean>}  whether the text was copied
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyOld(text);
  }
}

/**
 * Copy with `execCommand`: without https there is no asynchronous clipboard.
 * @param {string} text
 */
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
