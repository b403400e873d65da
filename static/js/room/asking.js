/** The teacher's side of a question: choose it, count the answers, let the class discuss, reveal. */

import { createOwnQuestionForm } from "../ask/own-question-form.js";
import { OWN_KINDS, headingOf, wordsOf } from "../ask/own-questions.js";
import { KINDS, isStated } from "../ask/question-kinds.js";
import { workLink } from "../ask/challenge-works.js";
import { wording } from "../core/figure/problem-wording.js";
import { Problem, failure } from "../core/wire/problem.js";
import { h } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { el, render } from "../lib/render.js";
import { createJury } from "./challenge.js";
import { createPrivateSpread } from "./private-vote-spread.js";
import { createQuestionPanel } from "./question.js";
import { saveAnswers } from "./members.js";
import { timerMenu } from "./timer.js";
import { createUnmoderated } from "./unmoderated-words.js";
import { gain } from "./vote-spread.js";
import { asksNicknames, questionDraft, setAsksNicknames, setQuestionDraft } from "./room-storage.js";
import { answerSources, ask } from "../ask/question.js";

/** @import { QuestionReply, RoomCreated, AnswerReply, Work } from "../core/wire/schemas.d.ts" */
/** @import { RoomState } from "../core/wire/subject-requests.js" */

// What a class has sent in words, which only the teacher sees until she shows it.

/**
 * @param {import("../lib/i18n.js").Translate} t
 * @param {import("../core/wire/api.js").Api} api
 * @param {{room: () => RoomCreated | null, drawn: () => void, show: (text: string) => void}} of
 */
function createSentences(t, api, { room, drawn, show }) {
  /** @type {AnswerReply[]} */
  let answers = [];
  /** Answers that are shown when the question is revealed. @type {Set<string>} */
  const picked = new Set();
  const unmoderated = createUnmoderated(t, { code: () => room()?.code ?? "", drawn });

  /** @param {string} id */
  async function remove(id) {
    const of = room();
    if (of) await api.removeAnswer(of, id).catch(failure);
    answers = answers.filter((answer) => answer.id !== id);
    drawn();
  }

  /** @param {string} id */
  function pick(id) {
    if (!picked.delete(id)) picked.add(id);
    drawn();
  }

  return {
    async read() {
      const of = room();
      const reply = of && (await api.readAnswers(of).catch(failure));
      if (reply && !(reply instanceof Problem)) answers = reply.answers;
    },
    picked: () => answers.flatMap(({ id, answer: [text] }) => (picked.has(id) ? [text] : [])),
    /** @param {boolean} picks  whether answers are picked for the reveal, instead of shown one by one */
    listed: (picks) => (answers.length ? [unmoderated.answers(answers.length), ...(unmoderated.isOpen("answers") ? [unmoderated.nicknames(answers), list(picks)] : [])] : []),
    /** Another question begins. */
    clear() {
      answers = [];
      picked.clear();
    },
  };

  /** @param {boolean} picks */
  function list(picks) {
    const row = (/** @type {AnswerReply} */ answer) => {
      const { id, answer: [text] } = answer;
      const name = unmoderated.nameOf(answer);
      return el(
        "li",
        { key: id },
        el("span", {}, text, name && el("small", {}, name)),
        picks ? el("button", { type: "button", className: "button quiet", key: "pick", "aria-pressed": String(picked.has(id)), onclick: () => pick(id) }, picked.has(id) ? t("✓ Will be shown") : t("Pick to show")) : button(t("Show to everyone"), () => show(text)),
        button(t("Remove"), () => remove(id)),
      );
    };
    return el("ul", { key: "sentences", className: "sentences" }, answers.map(row));
  }
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./room.js").Presentable} presented
 * @param {{root: HTMLElement, bar: HTMLElement, room: () => RoomCreated | null, heard: (state: RoomState) => void, drawn: () => void, pick: (work: Work, words: string) => void}} of
 */
export function createAsking(page, api, presented, { root, bar, room, heard: onState, drawn, pick }) {
  const { t } = page;
  /** What the page shows, for a goal; "": no sentence. */
  const shownQuery = () => workLink(presented.link())?.slice(2) ?? "";
  const ownForm = createOwnQuestionForm(page, api, { figure: () => presented.askable().figure ?? null, submit: t("Ask the class"), read: questionDraft, keep: setQuestionDraft, take: ({ entry, ask: about }) => void askRoom(entry, about.goal ? { ...about, link: shownQuery() } : about), place: () => (shownQuery() && (presented.place?.(presented.link()) || t("on the screen"))) });
  let writes = questionDraft() !== null;
  const menu = h("section", { className: "room-kinds", hidden: true, "aria-label": t("Ask the class") });
  bar.after(menu);
  /** @type {QuestionReply | null} */
  let question = null;
  /** @type {import("../core/wire/schemas.d.ts").ClassReply | null} */
  let counts = null;
  let failed = "";
  const sentences = createSentences(t, api, { room, drawn: () => panel.draw(), show: (text) => (presented.run?.(text), void done()) });
  const spread = createPrivateSpread(page, api, { room, choices: () => panel.choices(), drawn: () => panel.draw() });
  const jury = createJury(page, api, presented, { room, drawn: () => panel.draw(), pick });
  const panel = createQuestionPanel({ page, api, presented, root, bar, drafts: null, actions, works: jury.view });

  /** @param {QuestionReply | null | undefined} roomQuestion @param {boolean} [shows]  whether everyone is shown a work */
  function show(roomQuestion, shows) {
    if (roomQuestion?.n !== question?.n) for (const answers of [jury, sentences]) answers.clear();
    question = roomQuestion ?? null;
    menu.hidden ||= question !== null;
    panel.show(question, shows);
  }

  /** Do something in the room, and show its state or what went wrong. @param {(room: RoomCreated) => Promise<RoomState | null>} roomAction */
  async function act(roomAction) {
    const of = room();
    if (!of) return;
    const state = await roomAction(of).catch(failure);
    failed = state instanceof Problem ? wording(t, state) : "";
    if (state instanceof Problem) panel.draw();
    else if (state) onState(state);
    else show(null), drawn();
  }

  /** @param {import("../core/wire/subject-requests.js").Entry} entry @param {import("../ask/question.js").Question} about */
  const askRoom = (entry, about) =>
    act(async (of) => api.askRoom(of, { entry, ask: about, nicknames: asksNicknames(), wording: await wordingOf(page, api, presented, about) }));
  const put = (/** @type {import("./room.js").Asks} */ roomQuestion) => (presented.asked?.(roomQuestion), askRoom(KINDS[roomQuestion.kind].entry(roomQuestion), roomQuestion));
  const sentence = () => askRoom("text", { kind: "sentence", link: "" });

  /** Choose a question about what is on the screen. */
  function choose() {
    const { questions, form } = presented.askable();
    menu.hidden = !menu.hidden;
    menu.style.top = `${bar.offsetHeight}px`;
    const pinned = questions.length > (presented.run ? 1 : 0) || form;
    const pageForm = form?.(put);
    ownForm.draw();
    const drawMenu = () =>
      render(
        menu,
        el("p", {}, pinned ? t("About what is on the screen:") : presented.run ? t("Pin a row or a cell to ask about it. Or:") : t("Scroll to a figure or a question to ask about it. Or:")),
        questions.map((choice) => button(shortened(headingOf(t, choice)) || KINDS[choice.kind].name(t), () => put(choice))),
        pageForm,
        presented.run && button(t("Sentences of the class"), sentence),
        el("button", { type: "button", className: "button quiet", key: "own", "aria-expanded": String(writes), onclick: () => ((writes = !writes), drawMenu()) }, t("A question of your own…")),
        writes && ownForm.element,
        el("label", { className: "check" }, el("input", { type: "checkbox", checked: asksNicknames(), onchange: (/** @type {any} */ { target }) => setAsksNicknames(target.checked) }), el("span", {}, t("Ask for nicknames, which only you see"))),
        button(t("Cancel"), () => (menu.hidden = true)),
      );
    drawMenu();
  }

  /** @param {QuestionReply} askedQuestion */
  function actions(askedQuestion) {
    const { stage, entry, results, ask: about } = askedQuestion;
    const picks = about.kind === "open";
    const isWork = entry === "work";
    const go = (/** @type {"discuss" | "second"} */ next) => () => act((of) => api.goOn(of, { stage: next, ...(isWork && next === "discuss" ? { gallery: jury.gallery() } : {}) }));
    const gained = results && gain(results.first, results.second);
    const status = failed || (stage === "discuss" ? (isWork ? t("The class looks at the gallery.") : t("The class discusses.")) : stage === "revealed" ? (typeof gained === "number" ? t("Gain {gain}", { gain: two(gained) }) : "") : t("{count} answered", { count: counts?.answered ?? 0 }));
    return [
      el("p", { className: "crowd", role: "status" }, status),
      stage !== "revealed" && timerMenu(t, Boolean(askedQuestion.ends), (seconds) => void act((of) => api.setTimer(of, seconds))),
      ...spread.view(askedQuestion),
      ...(entry === "text" && stage !== "revealed" ? sentences.listed(picks) : []),
      entry !== "text" && stage === "first" && (!isWork || jury.isLookedAt()) && button(isWork ? t("Open the gallery") : t("Discuss, then vote again"), go("discuss"), isWork ? "strong" : "quiet"),
      stage === "discuss" && button(isWork ? t("Let them vote") : t("Vote again"), go("second"), isWork ? "strong" : "quiet"),
      (entry !== "text" || picks) && stage !== "revealed" && (!isWork || stage !== "first" || jury.isLookedAt()) && button(picks ? t("Show those picked") : t("Reveal"), reveal, isWork && stage !== "second" ? "quiet" : "strong"),
      stage === "revealed" && button(t("Download the answers (CSV)"), () => saveAnswers(api, room())),
      button(t("End the question"), done, stage === "revealed" ? "strong" : "quiet"),
    ];
  }

  async function reveal() {
    const about = question?.ask;
    if (!about) return;
    if (about.kind === "open") return act((of) => api.goOn(of, { stage: "revealed", truth: { right: sentences.picked() } }));
    if (question?.entry === "work") return act((of) => api.goOn(of, { stage: "revealed", ...(question?.stage === "first" ? { gallery: jury.gallery() } : {}) }));
    if (isStated(about) || about.kind in OWN_KINDS) return act((of) => api.goOn(of, { stage: "revealed" }));
    const truth = await panel.truth();
    if (!truth) return;
    const { right = [], numbers = [] } = truth;
    await act((of) => api.goOn(of, { stage: "revealed", truth: { right, numbers, within: about.within ?? undefined } }));
  }

  const done = () => act((of) => api.endQuestion(of).then(() => null));

  return {
    show,
    choose,
    askOwn() {
      const { own: presentedQuestion } = presented.askable();
      if (presentedQuestion) void put(presentedQuestion);
    },
    offers: () => (question !== null ? "none" : presented.askable().own ? "own" : "any"),
    /** @param {import("../core/wire/schemas.d.ts").ClassReply} classCounts */
    async count(classCounts) {
      counts = classCounts;
      if (question?.entry === "text") await sentences.read();
      if (question) await jury.read(question);
      if (question) await spread.read(question);
      if (question) panel.draw();
    },
  };
}

/** Letters of a question in the menu. */
const LETTERS = 60;

/** @param {string} words */
const shortened = (words) => (words.length > LETTERS ? `${words.slice(0, LETTERS).trimEnd()}…` : words);

/** @param {string} words @param {() => unknown} onclick @param {"strong" | "quiet"} [kind] */
const button = (words, onclick, kind = "quiet") => el("button", { type: "button", className: `button ${kind}`, key: words, onclick }, words);

// How a question reads on this page: for the files of answers, which say it in words.

/** Milliseconds for which asking waits for the words. */
const PATIENCE = 2_000;
/** Letters of a question and of a choice that the server takes. */
const [MAX_WORDS, MAX_CHOICE] = [2_000, 300];

/** @param {import("../lib/render.js").Child | import("../lib/render.js").Child[]} parts */
function plainText(parts) {
  const element = h("p");
  render(element, parts);
  return (element.textContent ?? "").trim();
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("./room.js").Presentable} presented
 * @param {import("../ask/question.js").Question} about
 * @returns {Promise<import("../core/wire/schemas.d.ts").Wording | undefined>}  undefined: they took too long
 */
async function wordingOf(page, api, presented, about) {
  const kind = KINDS[about.kind];
  const ownWords = (about.scene && presented.wording?.(about.scene)?.words.map(({ textContent }) => textContent).join("")) || wordsOf(about);
  if (!kind) return ownWords ? { words: ownWords.slice(0, MAX_WORDS), choices: {} } : undefined;
  const inquiry = ask(page, answerSources(api, about.share), about);
  const words = Promise.all([ownWords || kind.words(inquiry).then(plainText), kind.choices(inquiry)]).catch(() => null);
  const wording = await Promise.race([words, new Promise((/** @type {(value: null) => void} */ resolve) => setTimeout(() => resolve(null), PATIENCE))]);
  if (!wording) return undefined;
  // The words of cells are those of the question's axes.
  const choices = (about.kind === "point" ? [] : wording[1]).map(({ id, label }) => [id, plainText(label).slice(0, MAX_CHOICE)]);
  return { words: wording[0].trim().slice(0, MAX_WORDS), choices: Object.fromEntries(choices) };
}
