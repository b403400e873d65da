/** Pages of what has an owner, an assignment or a study: the list of one's own, and the two sides of each. */

import { wording } from "../core/figure/problem-wording.js";
import { openPage } from "../core/page/served-page.js";
import { readFragment, writeFragment } from "../core/store/address.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el, find, h, render } from "../lib/dom.js";
import { bindApartFromRoom } from "../room/bar-on-other-pages.js";

/** @typedef {ReturnType<typeof import("../lib/browser.js").keptKeys>} Keys */
/** @typedef {Awaited<ReturnType<typeof openPage>> & {root: HTMLElement, lang: string}} SideServices */

/**
 * List what this browser created; what was deleted elsewhere is no longer listed.
 * @param {Keys} keys
 * @param {object} of
 * @param {(id: string) => Promise<unknown>} of.read
 * @param {string} of.unknown  the kind of problem of what was deleted
 * @param {(id: string) => string} of.address  as others see it
 * @param {string} of.fragment  of the owner's side
 * @param {string} of.othersLabel  opens the side of the others
 */
export async function listOwned(keys, { read, unknown, address, fragment, othersLabel }) {
  const draw = () => {
    find("#mine").hidden = !keys.all().length;
    render(
      find("#mine-list"),
      keys.all().map(({ id, title }) =>
        el("li", { key: id }, el("a", { className: "name", href: `${address(id)}#${fragment}` }, title || id), el("a", { className: "button quiet", href: address(id) }, othersLabel)),
      ),
    );
  };
  draw();
  for (const { id } of keys.all()) {
    const reply = await read(id).catch(failure);
    if (reply instanceof Problem && reply.kind === unknown) keys.forget(id);
  }
  draw();
}

/**
 * Open a page with two sides: with the key that of its owner, in the fragment of that name, and
 * that of those who answer.
 * @template Document
 * @param {Keys} keys
 * @param {object} of
 * @param {string} of.id
 * @param {string} of.fragment
 * @param {(api: SideServices["api"]) => Promise<Document>} of.read
 * @param {(word: string, secret: string) => void} of.take  keeps what is in the fragment of a link
 *   that was given away: no server sees it, and it is taken out of the address bar, so that an
 *   address that is copied from there does not give it away
 * @param {(services: SideServices, document: Document) => void} of.showOwner
 * @param {(services: SideServices, document: Document) => void} of.showOthers
 */
export async function openSides(keys, { id, fragment, read, take, showOwner, showOthers }) {
  const { lang = "en", catalog = "" } = find("#learn").dataset;
  const { api, page } = await openPage({ catalog });
  bindApartFromRoom({ page, api });
  const root = find("#sheet");
  const document = await read(api).catch(failure);
  if (document instanceof Problem) return root.replaceChildren(h("p", { className: "problem", role: "alert" }, wording(page.t, document)));
  const [word, secret = ""] = readFragment(window).split("=");
  if (secret) take(word, decodeURIComponent(secret));
  if (secret) writeFragment(window, word === "key" ? fragment : "");
  const isOwner = keys.keyOf(id) !== "";
  const onOwnersSide = isOwner && readFragment(window) === fragment;
  find("#owner").hidden = !isOwner;
  find(onOwnersSide ? `#owner [href='#${fragment}']` : "#owner [href='#']").setAttribute("aria-current", "page");
  window.document.querySelector("#how")?.toggleAttribute("hidden", onOwnersSide);
  (onOwnersSide ? showOwner : showOthers)({ page, api, root, lang }, document);
  window.addEventListener("hashchange", () => window.location.reload());
}
