/** The teacher's side of a question: choose it, count the answers, let the class discuss, reveal. */

import { OWN_KINDS, headingOf, wordsOf, workLink } from "../ask/own-questions.js";
import { createOwnQuestionForm } from "../ask/own-question-form.js";
import { KINDS, isStated } from "../ask/question-kinds.js";
import { answerSources, ask } from "../ask/question.js";
import { shareBar } from "../core/draw/colour-scales.js";
import { wording } from "../core/figure/problem-wording.js";
import { served } from "../core/store/data-sources.js";
import { Problem, failure } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { createJury } from "./challenge.js";
import { createUnmoderated, saveAnswers } from "./members.js";
import { createQuestionPanel, timerMenu } from "./question.js";
import { asksNicknames, questionDraft, setAsksNicknames, setQuestionDraft } from "./room-storage.js";
import { advice, gain, shareRight, spreadOf } from "./vote-results.js";

/** @import { Choice } from "../ask/question.js" */
/** @import { AnswerReply, QuestionReply, RoomCreated, Truth, Work } from "../core/wire/schemas.d.ts" */
/** @import { RoomState } from "../core/wire/requests-by-subject.js" */
/** @import { Translate } from "../lib/i18n.js" */

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

  /** @param {import("../core/wire/requests-by-subject.js").Entry} entry @param {import("../ask/question.js").Question} about */
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

/** @param {import("../lib/dom.js").Child | import("../lib/dom.js").Child[]} parts */
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

// How votes are spread while they come, for the teacher alone: opened by a button, since her page may be on
// the wall; the second screen of a room never has it.

/** Different answers that are listed. */
const MAX_LISTED = 12;

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{room: () => RoomCreated | null, choices: () => Choice[], drawn: () => void}} of
 */
function createPrivateSpread(page, api, { room, choices, drawn }) {
  const { t } = page;
  let opened = false;
  /** @type {AnswerReply[]} */
  let answers = [];
  /** The right answer of question `n`. @type {{n: number, truth: Partial<Truth> | null}} */
  let knownTruth = { n: 0, truth: null };

  /** @param {QuestionReply} question */
  async function read(question) {
    const of = room();
    if (!opened || !of || question.entry === "text" || question.entry === "work") return;
    const reply = await api.readAnswers(of).catch(failure);
    if (reply instanceof Problem || reply.n !== question.n) return;
    answers = reply.answers;
    if (knownTruth.n !== question.n) knownTruth = { n: question.n, truth: reply.truth ?? (await computed(question)) };
    drawn();
  }

  /** What the model answers. @param {QuestionReply} question @returns {Promise<Partial<Truth> | null>} */
  async function computed({ ask: about }) {
    if (about.kind in OWN_KINDS) return null;
    const inquiry = ask(page, { source: served(api), compute: (/** @type {object} */ body) => api.lab(body) }, about);
    const revealed = await KINDS[about.kind].reveal(inquiry).catch(() => null);
    return revealed && { right: revealed.right, numbers: revealed.numbers, within: about.within ?? undefined };
  }

  /** @param {QuestionReply} question */
  function toggle(question) {
    opened = !opened;
    answers = [];
    drawn();
    void read(question);
  }

  return {
    read,
    /** @param {QuestionReply} question */
    view(question) {
      const { entry, stage, n } = question;
      if (entry === "text" || entry === "work" || stage === "revealed" || stage === "closed") return [];
      const button = el("button", { key: "spread", type: "button", className: "button quiet", "aria-expanded": String(opened), onclick: () => toggle(question) }, opened ? t("Hide the votes") : t("Votes, only here"));
      if (!opened) return [button];
      const [first, second] = /** @type {const} */ (["first", "second"]).map((vote) => spreadOf(entry, answers, vote, knownTruth.n === n ? knownTruth.truth : null));
      return [button, el("section", { key: "private", className: "private-spread", "aria-label": t("Votes, only here") }, spread(t, entry, choices(), stage === "second" ? second : first), counsel(t, first, stage === "second" ? second : null))];
    },
  };
}

/** @param {Translate} t @param {QuestionReply["entry"]} entry @param {Choice[]} choices @param {ReturnType<typeof spreadOf>} vote */
function spread(t, entry, choices, { count, answerCounts }) {
  if (!count) return el("p", {}, t("Nobody has answered."));
  if (entry === "shares" || (entry === "numbers" && choices.length > 1)) return null;
  const label = (/** @type {string} */ answer) => choices.find(({ id }) => id === answer)?.label ?? answer;
  const words = (/** @type {string} */ answer) => (entry === "numbers" ? answer.replace("-", "−") : entry === "order" ? answer.split(" ").flatMap((id, i) => [i > 0 && " → ", label(id)]) : label(answer));
  const rows = answerCounts.slice(0, MAX_LISTED).map(([answer, times]) => el("tr", { key: answer }, el("th", { scope: "row" }, words(answer)), el("td", {}, shareBar(times / count), el("span", { className: "number" }, String(times)))));
  return el("table", {}, el("tbody", {}, rows));
}

/** @param {Translate} t @param {ReturnType<typeof spreadOf>} first @param {ReturnType<typeof spreadOf> | null} second */
function counsel(t, first, second) {
  const vote = second ?? first;
  const share = shareRight(vote);
  if (share === null) return null;
  const gained = second && gain(first, second);
  const advised = { explain: t("Under 0.30: explain, then ask again."), discuss: t("0.30 to 0.70: let them discuss, then vote again."), "go-on": t("Above 0.70: go on.") };
  const kind = advice(vote);
  return el("p", { className: "counsel" }, el("b", {}, t("Share right: {share}", { share: two(share) })), " ", kind && advised[kind], typeof gained === "number" && [" ", t("Gain {gain}", { gain: two(gained) })]);
}
