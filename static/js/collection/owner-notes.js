/** What only the owner and the speaker see of an item: a note, the minutes, and questions to a class. */

import { createOwnQuestionForm } from "../ask/own-question-form.js";
import { headShown } from "../ask/challenge-goals.js";
import { headingOf } from "../ask/own-questions.js";
import { placeIn } from "../ask/question.js";
import { el } from "../lib/render.js";

/** @import { KeptItem } from "../core/wire/schemas.d.ts" */
/** @import { PreparedQuestion, QuestionDraft } from "../ask/own-question-form.js" */

const MAX_NOTE = 2000;
const MAX_QUESTIONS = 8;

/** @param {import("../core/figure/types.js").PageContext} page @param {import("../core/wire/api.js").Api} api */
export function createPrivateParts(page, api) {
  const { t } = page;
  /** The forms of items' questions. @type {Map<number, ReturnType<typeof createOwnQuestionForm>>} */
  const forms = new Map();
  /** What the forms do with a question now. @type {Map<number, (question: PreparedQuestion) => void>} */
  const takers = new Map();
  /** The figures that the items show, as query strings of the workspace, and the share whose numbers they show. @type {Map<number, {link: string | null, share: string | null}>} */
  const figures = new Map();
  /** The places on which shares open. @type {Map<string, string | null>} */
  const places = new Map();
  const value = (/** @type {Event} */ { target }) => /** @type {HTMLInputElement} */ (target).value;

  /** Where a question to the class is written. @param {number} id  of the item @param {(question: PreparedQuestion) => void} take */
  function formOf(id, take) {
    takers.set(id, take);
    if (!forms.has(id)) {
      /** @type {QuestionDraft | null} */
      let draft = null;
      const figure = () => figures.get(id)?.link ?? null;
      const share = () => figures.get(id)?.share ?? null;
      const place = () => (figure() ? headShown(t, { link: figure() ?? "" }) : "");
      forms.set(id, createOwnQuestionForm(page, api, { figure, share, place, submit: t("Add the question"), read: () => draft, keep: (typed) => (draft = typed), take: (question) => takers.get(id)?.(question) }));
    }
    return el("details", { key: "write", className: "writing", ontoggle: () => void findPlace(id) }, el("summary", {}, t("A question to the class…")), forms.get(id)?.element);
  }

  /** Find the place on which the share of an item opens, which takes its numbers. @param {number} id */
  async function findPlace(id) {
    const share = figures.get(id)?.share;
    if (!share || places.has(share)) return;
    places.set(share, null);
    const link = await placeIn(api, share).catch(() => "");
    places.set(share, link || null);
    figures.set(id, { link: link || null, share });
    forms.get(id)?.draw();
  }

  return {
    /** @param {number} id  of the item, which it keeps @param {KeptItem} item @param {{name: string, figure: string | null, share: string | null}} about @param {(part: Partial<KeptItem>) => void} edit */
    of(id, { private: privately = "", minutes = null, questions = [] }, { name, figure, share }, edit) {
      const link = figure ?? places.get(share ?? "") ?? null;
      const isNew = figures.get(id)?.link !== link;
      figures.set(id, { link, share });
      if (isNew) forms.get(id)?.draw();
      const count = questions.length === 1 ? t("1 question") : questions.length > 1 && t("{n} questions", { n: questions.length });
      const summary = [t("Only for you"), privately && t("note"), minutes && t("{n} min", { n: minutes }), count].filter(Boolean).join(" · ");
      const question = (/** @type {PreparedQuestion} */ { ask: about }, /** @type {number} */ n) => {
        const remove = () => edit({ questions: questions.filter((_, i) => i !== n) });
        const words = headingOf(t, about);
        return el("li", { key: n }, el("span", {}, words), el("button", { type: "button", className: "button quiet", "aria-label": `${t("Remove")}: ${words}`, onclick: remove }, "×"));
      };
      return el(
        "details",
        { key: "private", className: "private-part" },
        el("summary", { "aria-label": `${summary}: ${name}` }, summary),
        el("label", { key: "private" }, el("span", {}, t("Private note, in the speaker’s window and on no other page")), el("textarea", { rows: 2, maxLength: MAX_NOTE, value: privately, oninput: (/** @type {Event} */ event) => edit({ private: value(event) }) })),
        el("label", { key: "minutes", className: "minutes" }, el("span", {}, t("Minutes")), el("input", { type: "number", min: 1, max: 600, value: String(minutes ?? ""), oninput: (/** @type {Event} */ event) => edit({ minutes: Number(value(event)) || null }) })),
        questions.length > 0 && el("ol", { key: "questions", className: "prepared" }, questions.map(question)),
        questions.length < MAX_QUESTIONS && formOf(id, (written) => edit({ questions: [...questions, written] })),
      );
    },
  };
}
