/** A short link to copy, and as a QR code over the whole screen. */

import { copyText } from "../../lib/clipboard.js";
import { h } from "../../lib/dom.js";
import { createQrDialog } from "./qr-dialog.js";

/** @param {Pick<import("../figure/types.js").PageContext, "t" | "announce">} page */
export function createShortLink({ t, announce }) {
  const says = h("p", { role: "status" });
  const field = h("input", { type: "text", readOnly: true, "aria-label": t("Short link") });
  const copying = h("button", { type: "button", className: "button", onclick: () => void copy() }, t("Copy"));
  const coding = h("button", { type: "button", className: "button", "aria-haspopup": "dialog", onclick: () => qr.show(field.value) }, t("QR code"));
  const more = h("span", { className: "together" });
  const closing = h("button", { type: "button", className: "button quiet", onclick: () => close() }, t("Close"));
  const qr = createQrDialog({ t });
  const element = h("div", { className: "short-link", hidden: true }, says, h("div", { className: "together" }, field, copying, coding, more, closing));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  /** @type {HTMLElement | null} */
  let from = null;

  async function copy() {
    says.textContent = (await copyText(field.value)) ? t("Copied.") : t("Copy this link.");
    field.select();
  }

  function close() {
    element.hidden = true;
    from?.focus();
  }

  /** @param {string} words @param {boolean} link  whether there is one */
  function tell(words, link) {
    element.hidden = false;
    says.textContent = words;
    announce(words);
    for (const part of [field, copying, coding, more]) part.hidden = !link;
  }

  return {
    element,
    /**
     * Show a link; the words say what it opens.
     * @param {string} url
     * @param {string} words
     * @param {{opener?: HTMLElement | null, beside?: HTMLElement[]}} [of]  opener: gets the focus
     *   back; beside: other ways
     */
    show(url, words, { opener = null, beside = [] } = {}) {
      from = opener;
      field.value = url;
      more.replaceChildren(...beside);
      tell(words, true);
      field.focus();
      field.select();
    },
    /** Say why there is no link. @param {string} words @param {HTMLElement | null} [opener] */
    fail(words, opener = null) {
      from = opener;
      tell(words, false);
    },
  };
}
