/** What the owner of an assignment or a study has above its answers: how many there are, links, files, and to delete it. */

import { wording } from "../core/figure/problem-wording.js";
import { createShortLink } from "../core/page/short-link.js";
import { Problem, failure } from "../core/wire/reply.js";
import { download } from "../lib/browser.js";
import { el, h, render } from "../lib/dom.js";

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
