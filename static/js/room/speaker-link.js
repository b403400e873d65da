/**
 * The driver's seat: with a link from the teacher, someone else presents on their own page, until
 * the teacher takes the seat back. The key is in the link's fragment, which no server sees.
 */

import { currentUrl, readFragment, writeFragment } from "../core/store/address.js";
import { copyText } from "../lib/browser.js";
import { el, h, render } from "../lib/dom.js";
import { setPresentedRoom } from "./room-storage.js";

const WORD = "drive";

/**
 * If the address has the key of a seat, take it out of the address, keep it in this tab, and open
 * what the room shows as a page that presents.
 * @param {DOMStringMap} dataset  of a page in a room
 * @returns {boolean}  whether this page is being left
 */
export function takeHandover({ room: code, roomLink = "/" }) {
  const [word, key] = readFragment(window).split("=");
  if (!code || word !== WORD || !key) return false;
  writeFragment(window, "");
  setPresentedRoom({ code, url: currentUrl(window), key, driver: true });
  window.location.replace(inOwnLanguage(roomLink));
  return true;
}

/** A link to a page, in the language of this one. @param {string} link */
export function inOwnLanguage(link) {
  const url = new URL(link, window.location.origin);
  url.searchParams.set("lang", document.documentElement.lang);
  return String(url);
}

/** @param {Pick<import("../core/figure/types.js").PageContext, "t">} page */
export function createHandoverDialog({ t }) {
  const dialog = h("dialog", { className: "qr seat", "aria-label": t("Let someone else present") });
  let picture = "";
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  dialog.addEventListener("close", forget);
  document.body.append(dialog);

  function forget() {
    if (picture) URL.revokeObjectURL(picture);
    picture = "";
    render(dialog);
  }

  /** @param {string} url @param {boolean} [copied] */
  function show(url, copied) {
    render(
      dialog,
      el("p", { className: "where" }, t("Whoever opens this link presents in your place.")),
      el("p", { className: "local" }, t("Show it to one person only, not on the projector. You can take over again at any time.")),
      el("img", { src: picture, alt: t("QR code of the link below") }),
      el("p", { className: "link" }, url),
      el("form", { method: "dialog" }, el("button", { type: "button", className: "button", key: "copy", onclick: async () => show(url, await copyText(url)) }, copied ? t("Copied.") : t("Copy")), " ", el("button", { key: "close", className: "button", autofocus: true }, t("Close"))),
    );
  }

  return {
    /** @param {{url: string, qr: string}} link */
    open({ url, qr }) {
      picture = URL.createObjectURL(new Blob([qr], { type: "image/svg+xml" }));
      show(url);
      dialog.showModal();
    },
    close: () => dialog.close(),
  };
}
