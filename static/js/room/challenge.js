/**
 * A question that is answered with works: a sentence, a head or a change of the model that the server
 * runs and checks. A member writes a sentence or hands in what it explores; the teacher sees all works,
 * shows some in a gallery, and lets the class vote on them.
 */

import {
  MAX_SENTENCE, doesWords, goalList, isTyped, originalOf, verdictWords, withSentence, workLink,
} from "../ask/own-questions.js";
import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el } from "../lib/dom.js";
import { ownNickname } from "./room-storage.js";
import { createUnmoderated } from "./members.js";
import { createWorkTiles, thanking } from "./work-tiles.js";

/** @import { AnswerReply, GalleryReply, QuestionReply, RoomCreated, TryReply, Work } from "../core/wire/schemas.d.ts" */
/** @import { Child } from "../lib/dom.js" */
/** @import { Translate } from "../lib/i18n.js" */

/** Milliseconds after which a page shows what was typed: until then it is not in its link. */
export const TYPED = 1_000;
/** Works that a gallery can have. */
const MAX_GALLERY = 40;

/** @param {string} words @param {() => unknown} onclick @param {object} [attributes] */
const button = (words, onclick, attributes = {}) => el("button", { type: "button", className: "button quiet", key: words, onclick, ...attributes }, words);

/**
 * A member's side; without a member, a second screen's.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./room.js").Presentable} presented
 * @param {object} of
 * @param {string} of.code
 * @param {string | null} of.member
 * @param {ReturnType<typeof import("./room-storage.js").createDrafts>} of.drafts
 * @param {() => void} of.drawn
 * @param {(folded: boolean) => void} of.fold  take the question off the page, which is explored meanwhile, or put it back
 */
export function createEntrant(page, api, presented, { code, member, drafts, drawn, fold }) {
  const { t } = page;
  /** The last work of question `n` that was handed in. @type {{n: number, reply: TryReply} | null} */
  let handed = null;
  let [busy, problem] = [false, ""];
  /** @type {GalleryReply | null} */
  let gallery = null;
  let readFor = "";
  let typedAt = -Infinity;
  const tileOf = createWorkTiles(page, api, presented, drawn);
  window.addEventListener("input", () => (typedAt = performance.now()), { capture: true });

  /** @param {QuestionReply} question @param {() => string | null} linkOf */
  async function handIn(question, linkOf) {
    if (!member || busy) return;
    busy = true;
    drawn();
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, typedAt + TYPED - performance.now())));
    const link = linkOf();
    if (!link) return void ([busy, problem] = [false, t("Show a sentence in the workspace first.")], drawn());
    const nickname = question.nicknames ? ownNickname().trim() : "";
    const reply = await api.handIn(code, { member, n: question.n, link, ...(nickname ? { nickname } : {}) }).catch(failure);
    busy = false;
    problem = reply instanceof Problem ? wording(t, reply) : "";
    if (!(reply instanceof Problem)) {
      handed = { n: question.n, reply };
      drafts.send(question, link);
    }
    drawn();
  }

  /** @param {QuestionReply} question */
  async function read(question) {
    const key = `${question.n} ${question.stage}`;
    if (key === readFor) return;
    readFor = key;
    const reply = await api.readGallery(code, member).catch(failure);
    if (readFor !== key) return;
    problem = reply instanceof Problem ? wording(t, reply) : "";
    gallery = reply instanceof Problem ? null : reply;
    drawn();
  }

  /** @param {QuestionReply} question @param {string} id */
  async function vote({ n }, id) {
    if (!member || !gallery) return;
    const failed = await api.answerRoom(code, { member, n, answer: [id] }).then(() => null, failure);
    problem = failed ? wording(t, failed) : "";
    if (!failed) gallery = { ...gallery, vote: id };
    drawn();
  }

  /** @param {QuestionReply} question */
  const sentenceOf = (question) => drafts.offered(question)?.answer[0] ?? originalOf(question.ask);

  /** Show a work in the workspace, or in the figure that is on the screen. @param {string} link */
  function lookAt(link) {
    if (presented.show(link)) return;
    const { pathname, hash } = new URL(presented.link(), "http://room");
    presented.show(`${pathname}?${new URLSearchParams({ shows: link.slice(2) })}${hash}`);
  }

  /** @param {QuestionReply} question */
  function status(question) {
    if (problem) return problem;
    if (busy) return t("Running…");
    return handed?.n === question.n ? [verdictWords(t, question.ask, handed.reply.verdict), t("Handed in. You can hand in another one instead.")].filter(Boolean).join(" ") : "";
  }

  /** @param {QuestionReply} question */
  function galleryOf(question) {
    void read(question);
    if (gallery?.n !== question.n) return null;
    const { works, mine, vote: chosen } = gallery;
    if (!works.length) return el("p", { key: "none" }, t("The gallery is empty."));
    const tile = (/** @type {GalleryReply["works"][number]} */ work) => {
      const isMine = work.id === mine;
      const voting = question.stage === "second" && member !== null && !isMine;
      const counted = typeof work.votes === "number" && el("b", { className: "votes-of" }, work.votes === 1 ? t("1 vote") : t("{count} votes", { count: work.votes }));
      return tileOf(work, [doesMark(t, work.does), isMine && el("b", {}, t("Yours"))], [el("div", { key: "act", className: "act" }, voting && button(chosen === work.id ? t("✓ Your vote") : t("Vote for it"), () => void vote(question, work.id), { "aria-pressed": String(chosen === work.id) }), counted)]);
    };
    const ordered = question.stage === "revealed" ? [...works].sort((a, b) => (b.votes ?? 0) - (a.votes ?? 0)) : works;
    return el("ul", { key: "works", className: "works" }, ordered.map(tile));
  }

  return {
    /** What covers the page. @param {QuestionReply} question @returns {Child[]} */
    view(question) {
      const { stage, ask: about } = question;
      if (stage !== "first" && stage !== "closed") return [goalList(t, about), galleryOf(question)];
      const types = member !== null && isTyped(about);
      const oninput = (/** @type {any} */ { target }) => (drafts.enter(question, [target.value]), drawn());
      return [goalList(t, about), types && el("textarea", { key: "sentence", rows: 2, maxLength: MAX_SENTENCE, "aria-label": t("Your sentence"), value: sentenceOf(question), oninput })];
    },
    /** Below it. @param {QuestionReply} question @param {boolean} paused  whether nobody explores @returns {Child[]} */
    actions(question, paused) {
      const { stage, ask: about } = question;
      if (stage === "second") return [el("p", { className: "crowd", role: "status" }, problem || (member === null ? "" : t("Vote for one that is not yours. You can move your vote until it ends.")))];
      if (stage !== "first" || member === null) return [el("p", { className: "crowd", role: "status" }, problem)];
      const types = isTyped(about);
      const sentence = sentenceOf(question).trim();
      return [
        types && button(t("Try it"), () => void handIn(question, () => withSentence(about, sentence)), { className: "button strong", disabled: busy || !sentence }),
        !paused && button(types ? t("Look at it in the workspace") : t("Explore…"), () => (types && lookAt(withSentence(about, sentence)), fold(true)), types ? {} : { className: "button strong" }),
        el("p", { className: "crowd", role: "status" }, status(question)),
      ];
    },
    /** In the bar of a page that is explored meanwhile. @param {QuestionReply} question @returns {Child[]} */
    inBar: (question) => [
      el("span", { key: "verdict", className: "crowd verdict-of", role: "status" }, status(question)),
      button(t("Hand in what I see"), () => void handIn(question, () => workLink(presented.link())), { className: "button strong", disabled: busy }),
      button(t("Back to the challenge"), () => fold(false)),
    ],
    /** Whether a member made this work. @param {string} id */
    isMine: (id) => Boolean(id) && (handed?.reply.id === id || gallery?.mine === id),
  };
}

/** @param {Translate} t @param {boolean | null | undefined} does */
const doesMark = (t, does) => typeof does === "boolean" && el("span", { className: does ? "right" : "wrong" }, doesWords(t, does));

/**
 * The teacher's side.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./room.js").Presentable} presented
 * @param {object} of
 * @param {() => RoomCreated | null} of.room
 * @param {() => void} of.drawn
 * @param {(work: Work, words: string) => void} of.pick  show a work to everyone
 */
export function createJury(page, api, presented, { room, drawn, pick }) {
  const { t } = page;
  /** @type {AnswerReply[]} */
  let answers = [];
  /** Works that the class does not see. @type {Set<string>} */
  const hidden = new Set();
  /** The work that is about to be shown, with a word of thanks. @type {{id: string, form: HTMLElement} | null} */
  let chosen = null;
  const tileOf = createWorkTiles(page, api, presented, drawn);
  const unmoderated = createUnmoderated(t, { code: () => room()?.code ?? "", drawn });
  const works = () => answers.filter(({ vote }) => vote === "first");
  const votesFor = (/** @type {string} */ id) => answers.filter(({ vote, answer: [work] }) => vote === "second" && work === id).length;

  /** @param {string} id */
  async function remove(id) {
    const of = room();
    if (of) await api.removeAnswer(of, id).catch(failure);
    answers = answers.filter((answer) => answer.id !== id);
    drawn();
  }

  /** @param {AnswerReply} work */
  function choose(work) {
    const cancel = () => ((chosen = null), drawn());
    chosen = { id: work.id, form: thanking(t, (words) => (cancel(), pick({ id: work.id, link: work.answer[0], at: work.at }, words)), cancel) };
    drawn();
    chosen.form.querySelector("input")?.focus();
  }

  /** @param {QuestionReply} question @param {AnswerReply} work */
  function tile({ stage }, work) {
    const { id, answer: [link], does } = work;
    const name = unmoderated.nameOf(work);
    const isHidden = hidden.has(id);
    const votes = stage === "revealed" && votesFor(id);
    const act = el(
      "div",
      { key: "act", className: "act" },
      stage === "first" && button(isHidden ? t("Show in the gallery") : t("Hide from the gallery"), () => (hidden.delete(id) || hidden.add(id), drawn())),
      button(t("Show everyone…"), () => choose(work)),
      stage !== "revealed" && button(t("Remove"), () => void remove(id)),
      typeof votes === "number" && el("b", { className: "votes-of" }, votes === 1 ? t("1 vote") : t("{count} votes", { count: votes })),
    );
    return tileOf({ id, link }, [doesMark(t, does), name && el("b", {}, name)], [chosen?.id === id ? chosen.form : act], { className: isHidden ? "aside" : "" });
  }

  return {
    /** @param {QuestionReply} question */
    async read(question) {
      const of = room();
      const reply = of && question.entry === "work" ? await api.readAnswers(of).catch(failure) : null;
      if (reply && !(reply instanceof Problem) && reply.n === question.n) answers = reply.answers;
    },
    /** Whether the teacher has seen what a gallery would show everyone. */
    isLookedAt: () => unmoderated.isOpen("works") || works().length === 0,
    /** The works that the class is shown, by their ids. */
    gallery: () => works().flatMap(({ id }) => (hidden.has(id) ? [] : [id])).slice(0, MAX_GALLERY),
    /** @param {QuestionReply} question @returns {Child[]} */
    view(question) {
      const visibleWorks = works().filter(({ id }) => question.stage === "first" || !hidden.has(id));
      const doing = visibleWorks.filter(({ does }) => does).length;
      const counted = [visibleWorks.length === 1 ? t("1 work") : t("{count} works", { count: visibleWorks.length }), visibleWorks.some(({ does }) => typeof does === "boolean") && t("{count} do it", { count: doing })].filter(Boolean).join(" · ");
      const isNew = question.stage === "first" && visibleWorks.length > 0; // the class sees none of it yet
      const lookButton = isNew && unmoderated.works(visibleWorks.length);
      const list = isNew && !unmoderated.isOpen("works") ? [] : [unmoderated.nicknames(visibleWorks), el("ul", { key: "works", className: "works" }, visibleWorks.map((work) => tile(question, work)))];
      return [goalList(t, question.ask), el("p", { key: "counted", className: "crowd" }, counted), lookButton, ...list];
    },
    /** Another question begins. */
    clear() {
      answers = [];
      hidden.clear();
      chosen = null;
    },
  };
}
