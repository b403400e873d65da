/** The items of a collection in the editor: their order, titles and notes. */

import { pictureOf } from "../core/wire/requests-by-subject.js";
import { el } from "../lib/dom.js";
import { moveItem } from "../core/page/own-collections.js";
import { createOwnQuestionForm } from "../ask/own-question-form.js";
import { headShown, headingOf } from "../ask/own-questions.js";
import { placeIn } from "../ask/question.js";

/** @import { LinkReply, KeptItem } from "../core/wire/schemas.d.ts" */
/** @import { PreparedQuestion, QuestionDraft } from "../ask/own-question-form.js" */

const MOST_TITLE = 200;
const MOST_NOTE = 2000;

/**
 * @param {Pick<import("./editor.js").Plan, "page" | "api" | "lang">} plan
 * @param {(items: KeptItem[], words?: string) => void} change
 * @param {() => void} draw  called when more is known of an item
 */
export function createItemList({ page, api, lang }, change, draw) {
  const { t } = page;
  const privateParts = createPrivateParts(page, api);
  /** What links show; null: nothing any more; undefined: not known yet. @type {Map<string, LinkReply | null | undefined>} */
  const linkReplies = new Map();
  /** Identities of items, which keep focus while they move. @type {WeakMap<KeptItem, number>} */
  const ids = new WeakMap();
  let idCount = 0;
  /** @type {{item: KeptItem, index: number} | null} */
  let removed = null;
  /** @type {number | null} */
  let dragged = null;

  /** @param {string} link */
  function readLink(link) {
    if (linkReplies.has(link)) return;
    linkReplies.set(link, undefined);
    const tell = (/** @type {LinkReply | null} */ reply) => (linkReplies.set(link, reply), draw());
    void api.link(link, lang).then(tell, ({ kind }) => kind === "not-a-link" && tell(null));
  }

  /** @param {KeptItem} item */
  function idOf(item) {
    if (!ids.has(item)) ids.set(item, ++idCount);
    return /** @type {number} */ (ids.get(item));
  }

  /** @param {KeptItem[]} items @param {number} from @param {number} to */
  function move(items, from, to) {
    if (to < 0 || to >= items.length || to === from) return;
    change(moveItem(items, from, to), t("Moved to {n} of {all}.", { n: to + 1, all: items.length }));
  }

  /** @param {KeptItem[]} items @param {number} i @param {Partial<KeptItem>} part */
  function edit(items, i, part) {
    const next = { ...items[i], ...part };
    ids.set(next, idOf(items[i]));
    change(items.map((item, n) => (n === i ? next : item)));
  }

  /** @param {KeptItem[]} items @param {number} index */
  function remove(items, index) {
    removed = { item: items[index], index };
    change(items.filter((_, i) => i !== index), t("Removed."));
  }

  /** @param {KeptItem[]} items */
  function restore(items) {
    if (!removed) return;
    const { item, index } = removed;
    removed = null;
    change([...items.slice(0, index), item, ...items.slice(index)], t("Back again."));
  }

  /** @param {string} link */
  const nameOf = (link) => {
    const reply = linkReplies.get(link);
    const kinds = { workspace: t("A sentence"), lab: t("Attention by hand"), share: t("A shared figure"), lesson: t("A lesson"), figure: t("A figure of a lesson") };
    if (!reply) return { title: link, kind: reply === null ? t("This is no longer there.") : "" };
    const kind = reply.fits ? kinds[reply.kind] : t("A figure of a lesson, which no longer has the state of the link");
    return { title: reply.title || kinds[reply.kind], kind };
  };

  /** The figure with attention that an item is, as a query string of the workspace. @param {LinkReply | null | undefined} reply */
  const figureIn = (reply) => (reply?.page === "workspace" && !reply.share && reply.query ? reply.query : null);

  /** The share that an item is, if it has a sentence. @param {LinkReply | null | undefined} reply */
  const sharedIn = (reply) => (reply?.kind === "share" && reply.page === "workspace" && !reply.gone ? reply.share : null);

  /** @param {KeptItem[]} items @param {KeptItem} item @param {number} i */
  function row(items, item, i) {
    readLink(item.link);
    const { title, kind } = nameOf(item.link);
    const named = item.title || title;
    const typed = (/** @type {"title" | "note"} */ name) => (/** @type {Event} */ { target }) => edit(items, i, { [name]: /** @type {HTMLInputElement} */ (target).value });
    const button = (/** @type {string} */ key, /** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ onclick, disabled = false) => el("button", { key, type: "button", className: "button quiet", title: label, "aria-label": `${label}: ${named}`, disabled, onclick }, sign);
    return el(
      "li",
      {
        key: idOf(item),
        className: "row",
        "data-over": dragged === null ? undefined : "no",
        ondragover: (/** @type {DragEvent} */ event) => dragged !== null && event.preventDefault(),
        ondrop: (/** @type {DragEvent} */ event) => {
          event.preventDefault();
          if (dragged !== null) move(items, dragged, i);
          dragged = null;
        },
      },
      el("span", { className: "handle", draggable: true, "aria-hidden": "true", title: t("Drag to another place"), ondragstart: () => (dragged = i), ondragend: () => (dragged = null) }, "⠿"),
      linkReplies.get(item.link)?.picture ? el("img", { key: item.link, src: pictureOf(item.link, lang), alt: "", width: 160, height: 100, loading: "lazy" }) : el("span", { key: "none", className: "picture" }),
      el(
        "div",
        { className: "about-item" },
        el("p", { className: "meta" }, `${i + 1} · `, el("a", { href: item.link, target: "_blank", rel: "noopener" }, kind || item.link)),
        el("label", { key: "title" }, el("span", {}, t("Title")), el("input", { type: "text", maxLength: MOST_TITLE, placeholder: title, value: item.title, oninput: typed("title"), autocomplete: "off" })),
        el("label", { key: "note" }, el("span", {}, t("Note, for the page and the speaker")), el("textarea", { rows: 2, maxLength: MOST_NOTE, value: item.note, oninput: typed("note") })),
        privateParts.of(idOf(item), item, { name: named, figure: figureIn(linkReplies.get(item.link)), share: sharedIn(linkReplies.get(item.link)) }, (part) => edit(items, i, part)),
      ),
      el("div", { className: "order" }, button("up", "↑", t("Move up"), () => move(items, i, i - 1), i === 0), button("down", "↓", t("Move down"), () => move(items, i, i + 1), i === items.length - 1), button("remove", "×", t("Remove"), () => remove(items, i))),
    );
  }

  return {
    /** @param {LinkReply} reply  what a link shows, when it was just read */
    know: (reply) => void linkReplies.set(reply.link, reply),
    /** @param {KeptItem[]} items */
    show: (items) =>
      el(
        "div",
        { key: "list", className: "rows" },
        items.length ? el("ol", { key: "rows" }, items.map((item, i) => row(items, item, i))) : el("p", { key: "empty", className: "empty" }, t("Nothing yet. Paste a link below; Share in the workspace can also add what you see there.")),
        removed && el("p", { key: "removed", className: "removed" }, t("Removed “{title}”.", { title: removed.item.title || nameOf(removed.item.link).title }), " ", el("button", { type: "button", className: "button", onclick: () => restore(items) }, t("Undo"))),
      ),
  };
}

const MAX_NOTE = 2000;
const MAX_QUESTIONS = 8;

/** @param {import("../core/figure/types.js").PageContext} page @param {import("../core/wire/api.js").Api} api */
function createPrivateParts(page, api) {
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
