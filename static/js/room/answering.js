/** A member's side of a question: answer it, change the answer, see the answers of all. */

import { failure } from "../core/wire/problem.js";
import { ownNickname, setOwnNickname } from "./room-storage.js";
import { plainNumbers } from "../ask/entry-numbers.js";
import { el } from "../lib/render.js";
import { wording } from "../core/figure/problem-wording.js";
import { createQuestionPanel } from "./question.js";

/** @import { RoomQuestion } from "../core/wire/rooms.js" */

const MOST_NICKNAME = 40;

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{presented: import("./types.js").Presentable, root: HTMLElement, bar: HTMLElement, code: string, member: string | null}} of  member:
 *   null for a screen, which shows the question and cannot answer
 */
export function createAnswering(page, api, { presented, root, bar, code, member }) {
  const { t } = page;
  /** What was sent: question, stage, answer and nickname. @type {string} */
  let sent = "";
  let refusal = "";
  const panel = createQuestionPanel({ page, api, presented, root, bar, answers: member !== null, actions });

  /** @param {RoomQuestion} question @param {string[] | null} answer */
  function actions(question, answer) {
    const { stage, n, nicknames = false } = question;
    const key = JSON.stringify([n, stage, answer, nicknames && ownNickname().trim()]);
    if (stage === "revealed") return [];
    if (stage === "discuss") return [el("p", { className: "crowd", role: "status" }, t("Discuss it with your neighbours. Then you answer again."))];
    if (stage === "closed" || member === null) return [];
    return [
      nicknames && nickname(),
      el("button", { type: "button", className: "button strong", key: "send", disabled: !answer || sent === key, onclick: () => void send(question, answer, key) }, stage === "second" ? t("Send the second answer") : t("Send")),
      el("p", { className: "crowd", role: "status" }, refusal || (sent === key ? t("Sent. You can change it until the vote ends.") : "")),
    ];
  }

  function nickname() {
    const oninput = (/** @type {any} */ { target }) => (setOwnNickname(target.value), panel.draw());
    const field = el("input", { type: "text", maxLength: MOST_NICKNAME, autocomplete: "nickname", value: ownNickname(), oninput });
    return el("label", { className: "nickname", key: "nickname" }, el("span", {}, t("Nickname (optional, for the teacher)")), field);
  }

  /** @param {RoomQuestion} question @param {string[] | null} answer @param {string} key */
  async function send({ n, entry, nicknames }, answer, key) {
    if (!answer || !member) return;
    const name = ownNickname().trim();
    const given = { member, n, answer: entry === "numbers" ? plainNumbers(answer) : answer, ...(nicknames && name ? { nickname: name } : {}) };
    const failed = await api.answerRoom(code, given).then(() => null, failure);
    refusal = failed ? wording(t, failed) : "";
    if (!failed) sent = key;
    panel.draw();
  }

  return panel;
}
