/** The sentences that a class has sent, which only the teacher sees. */

import { Problem, failure } from "../core/wire/problem.js";
import { el } from "../lib/render.js";

/** @import { GivenAnswer } from "../core/wire/rooms.js" */

/**
 * @param {import("../lib/i18n.js").Translate} t
 * @param {import("../core/wire/api.js").Api} api
 * @param {{room: () => import("../core/wire/rooms.js").OpenRoom | null, drawn: () => void, show: (text: string) => void}} of
 */
export function createSentences(t, api, { room, drawn, show }) {
  /** @type {GivenAnswer[]} */
  let known = [];
  const button = (/** @type {string} */ words, /** @type {() => unknown} */ onclick) => el("button", { type: "button", className: "button quiet", key: words, onclick }, words);

  /** @param {string} id */
  async function remove(id) {
    const of = room();
    if (of) await api.removeAnswer(of, id).catch(failure);
    known = known.filter((one) => one.id !== id);
    drawn();
  }

  return {
    async read() {
      const of = room();
      const reply = of && (await api.readAnswers(of).catch(failure));
      if (reply && !(reply instanceof Problem)) known = reply.answers;
    },
    listed: () =>
      el(
        "ul",
        { className: "sentences" },
        known.map(({ id, answer: [text], nickname }) => el("li", { key: id }, el("span", {}, text, nickname && el("small", {}, nickname)), button(t("Show to everyone"), () => show(text)), button(t("Remove"), () => remove(id)))),
      ),
  };
}
