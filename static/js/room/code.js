/** The code of a room in large letters with its QR code, and the form of a code as it is shown. */

import { el, render } from "../lib/render.js";
import { h } from "../lib/dom.js";
import { isLocal } from "../core/page/qr-dialog.js";

/** A code in two groups, which is easier to read aloud. @param {string} code */
export const spelled = (code) => code.toUpperCase().replace(/^(...)(...)$/, "$1 $2");

/** @param {Pick<import("../core/figure/types.js").PageContext, "t" | "say">} page */
export function createCodeDialog({ t, say }) {
  const dialog = h("dialog", { className: "qr room-code", "aria-label": t("Join the room") });
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  document.body.append(dialog);

  return {
    /** @param {import("../core/wire/rooms.js").OpenRoom} room */
    open({ code, url }) {
      const { host, hostname } = new URL(url);
      render(
        dialog,
        el("p", { className: "where" }, say(t("Open {address} and type the code"), { address: el("b", {}, `${host}/room`) })),
        el("p", { className: "code" }, spelled(code)),
        el("img", { src: `/api/qr?${new URLSearchParams({ text: url })}`, alt: t("QR code of the link below") }),
        el("p", { className: "link" }, url),
        isLocal(hostname) && el("p", { className: "local" }, t("This address works on this computer only. Open Headlight at its network address, then show the code.")),
        el("form", { method: "dialog" }, el("button", { className: "button", autofocus: true }, t("Close"))),
      );
      dialog.showModal();
    },
    close: () => dialog.close(),
  };
}
