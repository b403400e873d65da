/** The menu's QR code of what is on the screen. */

import { Problem, failure } from "../core/wire/problem.js";
import { find } from "../lib/dom.js";
import { whileBusy } from "../lib/while-busy.js";
import { wording } from "../core/figure/problem-wording.js";
import { createQrDialog } from "../core/page/qr-dialog.js";

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {() => Promise<{url: string}>} shorten  makes a short link
 */
export function bindQr({ t }, shorten) {
  const dialog = createQrDialog({ t });
  const button = /** @type {HTMLButtonElement} */ (find("#qr-open"));

  async function open() {
    const made = await whileBusy(() => shorten().catch(failure), button);
    /** @type {HTMLElement} */ (document.querySelector("#more") ?? button).focus(); // what gets the focus back: a menu has closed
    if (made instanceof Problem) dialog.fail(wording(t, made));
    else dialog.show(made.url);
  }

  button.addEventListener("click", open);
  return dialog;
}
