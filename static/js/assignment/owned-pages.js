/**
 * What has an owner, an assignment or a study: the keys that this browser keeps, the list of one's own, and
 * the two sides of each page.
 */

import { wording } from "../core/figure/problem-wording.js";
import { openPage } from "../core/page/served-page.js";
import { createShortLink } from "../core/page/short-link.js";
import { readFragment, writeFragment } from "../core/store/address.js";
import { Problem, failure } from "../core/wire/reply.js";
import { download, keep, keptDocument, keptKeys } from "../lib/browser.js";
import { el, find, h, render } from "../lib/dom.js";
import { bindApartFromRoom } from "../room/bar-on-other-pages.js";

// The assignments that this browser created, and what it has answered in others.

/**
 * @typedef {object} Work  what a student has done in an assignment
 * @property {string} member  a random token: the same student after a reload
 * @property {string} nickname
 * @property {(string[] | null)[]} answers  one per question
 * @property {boolean[]} sent  whether the model's answer may be shown, per question
 */

const workOf = (/** @type {string} */ id) => `assignment-work-${id}`;

export const assignmentKeys = keptKeys("assignments");

/**
 * @param {string} id
 * @param {number} count  of questions
 * @param {() => string} token  makes a random one
 * @returns {Work}
 */
export function workIn(id, count, token) {
  const stored = keptDocument(workOf(id));
  const [answers, sent] = [stored?.answers, stored?.sent];
  if (typeof stored?.member === "string" && answers?.length === count && sent?.length === count) return { nickname: "", ...stored };
  return { member: token(), nickname: "", answers: Array(count).fill(null), sent: Array(count).fill(false) };
}

/** @param {string} id @param {Work} work */
export const keepWork = (id, work) => keep(workOf(id), JSON.stringify(work));

// The studies that this browser created, and its part in others.

/**
 * @typedef {object} Part  what a participant has done in a study
 * @property {string} member  a random token: the same participant after a reload
 * @property {boolean} read  whether the pages between the tests were read
 * @property {(number | null)[]} answers  to the test that is open, not sent yet
 */

export const studyKeys = keptKeys("studies");

const partOf = (/** @type {string} */ id) => `study-part-${id}`;

/** @param {string} id @returns {Part | null}  null: this browser does not take part yet */
export function partIn(id) {
  const stored = keptDocument(partOf(id));
  return typeof stored?.member === "string" ? { read: false, answers: [], ...stored } : null;
}

/** @param {string} id @param {Part} part */
export const keepPart = (id, part) => keep(partOf(id), JSON.stringify(part));

// Pages of what has an owner, an assignment or a study: the list of one's own, and the two sides of each.

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

// What the owner of an assignment or a study has above its answers: how many there are, links, files, and
// to delete it.

/** Milliseconds between two looks at the answers. */
const PACE = 10_000;

/**
 * @template Summary
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {object} of
 * @param {string} of.label  whose panel it is
 * @param {string} of.owner  the link with the key
 * @param {{label: string, url: string, says: string}} of.invitation  the link for everyone
 * @param {{label: string, name: string, read: () => Promise<Blob>}[]} of.files
 * @param {() => Promise<Summary>} of.read
 * @param {(summary: Summary | null) => number} of.count  those who answered
 * @param {(count: number) => string} of.counted  the same in words
 * @param {(summary: Summary) => void} of.drawn  draws what is below the panel
 * @param {string} of.sure  asks before it is deleted
 * @param {() => Promise<unknown>} of.remove
 * @param {() => void} of.removed
 */
export function createOwnerPanel(page, { label, owner, invitation, files, read, count, counted, drawn, sure, remove, removed }) {
  const { t } = page;
  const link = createShortLink(page);
  const element = h("section", { className: "owning", "aria-label": label });
  /** @type {Summary | null} */
  let summary = null;
  /** @type {Problem | null} */
  let problem = null;
  let [isAsking, isGone] = [false, false];

  async function refresh() {
    if (!document.hidden) {
      const reply = await read().catch(failure);
      problem = reply instanceof Problem ? reply : null;
      if (!(reply instanceof Problem)) summary = reply;
      draw();
    }
    if (!isGone) setTimeout(refresh, PACE);
  }

  /** @param {typeof files[number]} file */
  async function save({ name, read: readFile }) {
    const file = await readFile().catch(failure);
    problem = file instanceof Problem ? file : null;
    if (!(file instanceof Problem)) download(file, name);
    draw();
  }

  async function erase() {
    problem = await remove().then(() => null, failure);
    if (problem) return draw();
    isGone = true;
    removed();
  }

  /** @param {boolean} asks */
  const askFirst = (asks) => {
    isAsking = asks;
    draw();
  };
  const invite = () => link.show(invitation.url, invitation.says, { opener: element });
  const keep = () => link.show(owner, t("Keep this link to yourself: whoever has it sees all answers and can delete them."), { opener: element });

  function draw() {
    if (isGone) return;
    const members = count(summary);
    render(
      element,
      el("p", { key: "count", className: "count", role: "status" }, el("b", {}, counted(members))),
      problem && el("p", { key: "problem", className: "problem", role: "alert" }, wording(t, problem)),
      el(
        "div",
        { key: "actions", className: "actions" },
        button(invitation.label, invite, "strong"),
        files.map((file) => button(file.label, () => void save(file), "", !members)),
        button(t("Link for yourself"), keep),
        isAsking
          ? [el("span", { key: "sure", role: "alert" }, sure), button(t("Delete it"), () => void erase(), "strong"), button(t("Keep it"), () => askFirst(false), "quiet")]
          : button(t("Delete…"), () => askFirst(true), "quiet"),
      ),
      link.element,
    );
    if (summary) drawn(summary);
  }

  return { element, draw, refresh };
}

/** @param {string} words @param {() => void} onclick @param {"" | "strong" | "quiet"} [kind] @param {boolean} [disabled] */
const button = (words, onclick, kind = "", disabled = false) => el("button", { type: "button", key: words, className: `button ${kind}`.trim(), disabled, onclick }, words);
