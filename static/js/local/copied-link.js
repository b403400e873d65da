/** Copies the link to what is on the screen. */

import { copyText } from "../lib/browser.js";
import { currentUrl } from "../core/store/address.js";
import { find } from "../lib/dom.js";

/** How long the button says that the link is copied, in milliseconds. */
const COPIED_MS = 2000;

/** @param {Pick<import("../core/figure/types.js").PageContext, "t" | "announce">} page */
export function bindCopying({ t, announce }) {
  const button = find("#copy-link");
  const name = button.textContent;

  button.addEventListener("click", async () => {
    const isCopied = await copyText(currentUrl(window));
    const words = isCopied ? t("Copied.") : t("The link is in the address bar.");
    button.textContent = words;
    announce(words);
    setTimeout(() => (button.textContent = name), COPIED_MS);
  });
}
