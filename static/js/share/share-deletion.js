/** Delete a share with its edit key: just after creating it, or later at its address. */

import { find } from "../lib/dom.js";
import { whileBusy } from "../lib/while-busy.js";
import { Problem, failure } from "../core/wire/problem.js";
import { wording } from "../core/figure/problem-wording.js";

/** @import { Desk } from "../workspace/types.js" */

/**
 * @param {Pick<Desk, "api" | "t">} context
 * @param {() => void} deleted  called when the server has deleted it
 */
export function bindDeletion({ api, t }, deleted) {
  const way = /** @type {HTMLDetailsElement} */ (find("#deleting"));
  const key = /** @type {HTMLInputElement} */ (find("#edit-key"));
  const says = find("#deleting-says");
  const button = /** @type {HTMLButtonElement} */ (find("#unshare"));
  let id = "";

  /**
   * @param {string} share  its id
   * @param {string} told  its key if it was just created; otherwise the reader must enter it
   */
  function offer(share, told) {
    id = share;
    key.value = told;
    key.readOnly = told !== "";
    says.textContent = told
      ? t("Keep this edit key: it deletes the share, and is shown only this once.")
      : t("Enter the edit key that was shown when this share was made.");
  }

  function open() {
    way.open = true;
    key.focus();
  }

  async function remove() {
    const done = await whileBusy(() => api.deleteShare(id, key.value).catch(failure), button);
    if (done instanceof Problem) {
      says.textContent = wording(t, done);
      key.focus();
      return;
    }
    way.open = false;
    deleted();
  }

  button.addEventListener("click", remove);
  key.addEventListener("keydown", ({ key: pressed }) => pressed === "Enter" && remove());
  return { offer, open };
}
