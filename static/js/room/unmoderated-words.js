/**
 * What members have written is on the teacher's page only once she asks to see it, since her screen may
 * be the projector. What she opened stays open in this room, also on another page.
 */

import { el } from "../lib/render.js";
import { lookedAt, setLookedAt } from "./room-storage.js";

/** @typedef {"answers" | "works" | "nicknames"} Unmoderated */

/** @param {import("../lib/i18n.js").Translate} t @param {{code: () => string, drawn: () => void}} of */
export function createUnmoderated(t, { code, drawn }) {
  /** @param {Unmoderated} kind */
  const isOpen = (kind) => lookedAt(code()).includes(kind);

  /** @param {Unmoderated} kind */
  function toggle(kind) {
    const kinds = lookedAt(code());
    setLookedAt(code(), isOpen(kind) ? kinds.filter((open) => open !== kind) : [...kinds, kind]);
    drawn();
  }

  /** @param {Unmoderated} kind @param {string} shows  the button's words while it is hidden @param {string} hides */
  const button = (kind, shows, hides) => el("button", { key: `look-${kind}`, type: "button", className: "button quiet", "aria-expanded": String(isOpen(kind)), onclick: () => toggle(kind) }, isOpen(kind) ? hides : shows);

  return {
    isOpen,
    /** @param {number} count */
    answers: (count) => button("answers", count === 1 ? t("1 answer to look at") : t("{count} answers to look at", { count }), t("Hide the answers")),
    /** @param {number} count */
    works: (count) => button("works", count === 1 ? t("1 work to look at") : t("{count} works to look at", { count }), t("Hide the works")),
    /** @param {{nickname?: string | null}[]} signed  what may have a nickname */
    nicknames: (signed) => signed.some(({ nickname }) => nickname) && button("nicknames", t("Show nicknames"), t("Hide nicknames")),
    /** @param {{nickname?: string | null}} signed */
    nameOf: ({ nickname }) => (isOpen("nicknames") && nickname) || null,
  };
}
