/** A short link to copy, and as a QR code over the whole screen. */

import { copyText } from "../../lib/browser.js";
import { h } from "../../lib/dom.js";

// A link as a QR code over the whole screen, readable from the back of a room.

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

/** Whether a host is known only to its own computer. @param {string} hostname */
export const isLocal = (hostname) => LOCAL.includes(hostname);

/**
 * The dialog is in the page only while it is open.
 * @param {Pick<import("../figure/types.js").PageContext, "t">} page
 */
export function createQrDialog({ t }) {
  const picture = h("img", { id: "qr-picture", alt: t("QR code of the link below") });
  const problem = h("p", { id: "qr-problem", role: "alert" });
  const text = h("p", { id: "qr-link" });
  const note = h("p", { id: "qr-note" }, t("This address works on this computer only. Open Headlight at its network address, then show the code."));
  const done = h("form", { method: "dialog" }, h("button", { className: "button", autofocus: true }, t("Close")));
  const dialog = h("dialog", { id: "qr", className: "qr", "aria-label": t("QR code") }, picture, problem, text, note, done);

  function open() {
    if (dialog.open) return;
    document.body.append(dialog);
    dialog.showModal();
  }

  /** @param {string} url  a short one, because a long one makes the modules too small */
  function show(url) {
    problem.hidden = true;
    picture.hidden = false;
    picture.src = `/api/qr?${new URLSearchParams({ text: url })}`;
    text.textContent = url;
    note.hidden = !isLocal(new URL(url).hostname);
    open();
  }

  /** Say why there is no code. @param {string} words */
  function fail(words) {
    picture.hidden = true;
    text.textContent = "";
    note.hidden = true;
    open();
    problem.hidden = false;
    problem.textContent = words;
  }

  picture.addEventListener("error", () => fail(t("The QR code could not be made.")));
  dialog.addEventListener("close", () => dialog.remove());
  // Escape closes the dialog and keeps the pin.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  return { show, fail };
}

/**
 * @param {Pick<import("../figure/types.js").PageContext, "t" | "announce">} page
 * @param {{hasCode?: boolean}} [of]  false: no server makes a QR code
 */
export function createShortLink({ t, announce }, { hasCode = true } = {}) {
  const status = h("p", { role: "status" });
  const field = h("input", { type: "text", readOnly: true, "aria-label": t("Short link") });
  const copying = h("button", { type: "button", className: "button", onclick: () => void copy() }, t("Copy"));
  const coding = h("button", { type: "button", className: "button", "aria-haspopup": "dialog", onclick: () => qr.show(field.value) }, t("QR code"));
  const alternatives = h("span", { className: "together" });
  const closing = h("button", { type: "button", className: "button quiet", onclick: () => close() }, t("Close"));
  const qr = createQrDialog({ t });
  const element = h("div", { className: "short-link", hidden: true }, status, h("div", { className: "together" }, field, copying, ...(hasCode ? [coding] : []), alternatives, closing));
  element.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    close();
  });
  /** @type {HTMLElement | null} */
  let from = null;

  async function copy() {
    status.textContent = (await copyText(field.value)) ? t("Copied.") : t("Copy this link.");
    field.select();
  }

  function close() {
    element.hidden = true;
    from?.focus();
  }

  /** @param {string} words @param {boolean} link  whether there is one */
  function tell(words, link) {
    element.hidden = false;
    status.textContent = words;
    announce(words);
    for (const part of [field, copying, coding, alternatives]) part.hidden = !link;
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
      alternatives.replaceChildren(...beside);
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
