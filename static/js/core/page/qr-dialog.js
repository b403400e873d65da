/** A link as a QR code over the whole screen, readable from the back of a room. */

import { h } from "../../lib/dom.js";

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
