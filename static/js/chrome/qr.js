/** The link as a QR code over the whole screen, readable from the back of a room. */

import { Problem, failure } from "../data/problem.js";
import { find } from "../lib/dom.js";
import { wording } from "../parts/problem-wording.js";

/** @typedef {import("../state/types.js").Context} Context */

const LOCAL = ["localhost", "127.0.0.1", "[::1]"];

/**
 * @param {Pick<Context, "t">} context
 * @param {() => Promise<{url: string}>} shorten  makes a short link, because a long one makes the
 *   modules too small
 */
export function bindQr({ t }, shorten) {
  const dialog = /** @type {HTMLDialogElement} */ (find("#qr"));
  const picture = /** @type {HTMLImageElement} */ (find("#qr-picture"));
  const problem = find("#qr-problem");

  async function open() {
    const button = /** @type {HTMLButtonElement} */ (find("#qr-open"));
    button.disabled = true;
    const made = await shorten().catch(failure);
    button.disabled = false;
    find("#more").focus(); // the menu has closed, and gets the focus back when the dialog closes
    made instanceof Problem ? fail(wording(t, made)) : show(made.url);
  }

  /** @param {string} url */
  function show(url) {
    problem.hidden = true;
    picture.hidden = false;
    picture.src = `/api/qr?${new URLSearchParams({ text: url })}`;
    find("#qr-link").textContent = url;
    find("#qr-note").hidden = !LOCAL.includes(new URL(url).hostname);
    dialog.showModal();
  }

  /** @param {string} words */
  function fail(words) {
    problem.textContent = words;
    problem.hidden = false;
    picture.hidden = true;
    find("#qr-link").textContent = "";
    if (!dialog.open) dialog.showModal();
  }

  picture.addEventListener("error", () => fail(t("The QR code could not be made.")));
  // Escape closes the dialog and keeps the pin.
  dialog.addEventListener("keydown", (event) => event.stopPropagation());
  find("#qr-open").addEventListener("click", open);
  return { show };
}
