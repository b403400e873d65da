/**
 * A question on the screens of a room. It covers the page, because the figure would give the answer
 * away; the answers of others are shown only when it is revealed.
 */

import { plainNumbers } from "../ask/answer-entry.js";
import { goalWords, wordsOf } from "../ask/own-questions.js";
import { createPrediction } from "../ask/predict.js";
import { KINDS, contextOf } from "../ask/question-kinds.js";
import { answerSources, ask } from "../ask/question.js";
import { wording } from "../core/figure/problem-wording.js";
import { failure } from "../core/wire/reply.js";
import { el, h, render } from "../lib/dom.js";
import { createEntrant } from "./challenge.js";
import { createDrafts, draftStorage, ownNickname, setOwnNickname } from "./room-storage.js";
import { answerTable, classAnswers, voteSummary } from "./vote-results.js";

/** @import { Choice } from "../ask/question.js" */
/** @import { QuestionReply } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Child } from "../lib/dom.js" */

/**
 * @typedef {object} Plan
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("../core/wire/api.js").Api} api
 * @property {import("./room.js").Presentable} presented
 * @property {HTMLElement} root  of the page
 * @property {HTMLElement} bar  stays visible above the question
 * @property {ReturnType<typeof createDrafts> | null} drafts  what the reader has entered; null: the
 *   reader cannot answer
 * @property {(question: QuestionReply, answer: string[] | null) => Child[]} actions  buttons and
 *   messages below the question; answer: the reader's, null while it is incomplete
 * @property {(question: QuestionReply) => Child[]} works  what a question shows that is answered with works
 */
/** @typedef {ReturnType<typeof createQuestionPanel>} QuestionPanel */

/** @param {import("../lib/i18n.js").Translate} t @param {boolean} answers @param {HTMLElement} timer */
function panelElements(t, answers, timer) {
  const context = h("p", { className: "context" });
  const words = h("h2", { className: "asks", tabIndex: -1, "aria-level": "1" });
  const place = h("div", { className: "asked" });
  const summary = h("div", { className: "class-answers" });
  const works = h("div", { className: "challenge" });
  const below = h("div", { className: "room-actions" });
  const head = h("div", { className: "asks-head" }, words, timer);
  const body = h("div", { className: "room-body" }, place, summary);
  const panel = h("section", { className: `room-question${answers ? "" : " watching"}`, role: "main", hidden: true, "aria-label": t("Question") }, context, head, body, works, below);
  return { panel, context, words, place, summary, works, below };
}

/** Cover the page with a panel, or uncover it. @param {HTMLElement} root @param {HTMLElement} bar @param {HTMLElement} panel @param {boolean} covered */
export function coverPage(root, bar, panel, covered) {
  panel.hidden = !covered;
  for (const child of root.children) if (child instanceof HTMLElement && child !== bar && child !== panel && child.id !== "announce") child.inert = covered;
  document.documentElement.toggleAttribute("data-asked-by-room", covered); // a share that asks before it shows is still covered afterwards
  panel.style.top = `${bar.offsetHeight}px`;
}

/**
 * Covers the page with a question, unless the page is seen meanwhile: it is explored, or a work is shown
 * to everyone.
 * @param {HTMLElement} root @param {HTMLElement} bar @param {HTMLElement} panel
 */
function createCover(root, bar, panel) {
  let [isAsking, folded, givesWay] = [false, false, false];
  const update = () => coverPage(root, bar, panel, isAsking && !folded && !givesWay);
  window.addEventListener("resize", () => isAsking && update());
  return {
    isFolded: () => isAsking && (folded || givesWay),
    /** @param {boolean} folds  whether the page is explored @returns {boolean}  whether that is new */
    fold(folds) {
      if (folded === folds) return false;
      folded = folds;
      if (isAsking) update();
      return true;
    },
    /** @param {{unfolds: boolean, shows: boolean}} how  unfolds: if the page was explored; shows: whether everyone is shown a work */
    show({ unfolds, shows }) {
      [isAsking, folded, givesWay] = [true, folded && !unfolds, shows];
      update();
    },
    hide() {
      if (isAsking) coverPage(root, bar, panel, false);
      [isAsking, folded] = [false, false];
    },
  };
}

/** @param {Plan} plan */
export function createQuestionPanel({ page, api, presented, root, bar, drafts, actions, works: worksOf }) {
  const { t } = page;
  const answers = drafts !== null;
  const timer = createTimer(page, api.clock.now);
  const { panel, context, words, place, summary, works, below } = panelElements(t, answers, timer.element);
  bar.after(panel);
  const cover = createCover(root, bar, panel);
  /** @type {QuestionReply | null} */
  let current = null;
  /** @type {import("../ask/predict.js").Prediction | null} */
  let prediction = null;
  /** @type {Choice[]} */
  let choices = [];
  /** @type {string[] | null} */
  let answer = null;
  let revealed = false;
  /** The question in the words of this page. @type {{words: Node[], why: Node[]} | null} */
  let ownWording = null;

  /** @param {QuestionReply} question */
  async function open(question) {
    const { ask: about, entry } = question;
    const entered = drafts?.offered(question)?.answer ?? null;
    prediction?.destroy();
    prediction = answer = null;
    choices = [];
    revealed = false;
    render(summary);
    render(context);
    place.replaceChildren();
    ownWording = (about.scene && presented.wording?.(about.scene)) || null;
    render(words, ownWording ? ownWording.words : wordsOf(about));
    if (entry === "text") return openText(question, entered);
    if (!words.textContent) render(words, entry === "work" ? goalWords(t, about) || t("A challenge") : t("Question")); // until it is worded, since the heading has the focus
    if (entry === "work") return;
    const sources = answerSources(api, about.share);
    const inquiry = ask(page, sources, about);
    prediction = createPrediction({
      root: place,
      page,
      sources,
      question: about,
      label: words,
      answer: entered,
      controls: false,
      onEnter: (entered) => drafts?.enter(question, entered),
      onAnswer: (complete) => ((answer = complete), draw()),
    });
    if (!answers) prediction.close();
    const [choiceList, wordsOfKind, contextParts] = await Promise.all([KINDS[about.kind].choices(inquiry), ownWording || wordsOf(about) ? [] : KINDS[about.kind].words(inquiry), contextOf(inquiry)]).catch(() => [[], [], []]);
    if (current?.ask !== about) return;
    choices = choiceList;
    render(context, contextParts);
    if (!ownWording && !wordsOf(about) && wordsOfKind.length) render(words, wordsOfKind);
  }

  /** @param {QuestionReply} question @param {string[] | null} entered */
  function openText(question, entered) {
    if (!words.textContent) render(words, t("Send a sentence that you would like to see."));
    if (!answers) return;
    const field = textField(words, entered, (text) => (drafts?.enter(question, [text]), read(), draw()));
    const read = () => (answer = field.value.trim() ? [field.value.trim()] : null);
    place.append(field);
    read();
  }

  function draw() {
    if (!current) return;
    render(works, current.entry === "work" ? worksOf(current) : null);
    render(below, actions(current, answer));
  }

  /** @param {QuestionReply} question */
  async function reveal(question) {
    const { ask: about, entry, results } = question;
    if (revealed || !results) return;
    revealed = true;
    drafts?.close(question);
    if (ownWording && about.scene) presented.revealed?.(about.scene);
    const result = await prediction?.reveal({ guessed: answer !== null });
    const last = results.second.count ? results.second : results.first;
    prediction?.tally(classAnswers(entry, last));
    const texts = entry === "text" && el("ul", { className: "picked" }, (question.truth?.right ?? []).map((text, i) => el("li", { key: i }, text)));
    render(summary, voteSummary(t, results, entry), texts, answerTable(t, entry, choices, results, result?.revealed), ownWording && el("p", { className: "why" }, ownWording.why));
  }

  return {
    /** Show what the room is asked; null: nothing. @param {QuestionReply | null | undefined} question @param {boolean} [shows]  whether everyone is shown a work */
    show(question, shows = false) {
      if (!question) {
        cover.hide();
        current = null;
        return timer.show(null);
      }
      timer.show(question.ends);
      const fresh = current?.n !== question.n;
      const again = !fresh && current?.stage !== question.stage;
      const about = fresh ? question.ask : /** @type {QuestionReply} */ (current).ask;
      current = { ...question, ask: Object.assign(about, question.ask) }; // a stated number is told when it is revealed
      if (fresh) {
        void open(current);
        page.announce(t("A question for everyone."));
      }
      if (answers && (fresh || again)) prediction?.close(question.stage !== "first" && question.stage !== "second");
      draw();
      cover.show({ unfolds: fresh || again, shows: shows && question.entry === "work" });
      if (fresh) words.focus();
      if (question.stage === "revealed") void reveal(question);
    },
    draw,
    /** Explore the page meanwhile, or no longer. @param {boolean} folds */
    fold: (folds) => cover.fold(folds) && !folds && words.focus(),
    isFolded: cover.isFolded,
    isOpen: () => current !== null,
    choices: () => choices,
    /** The right answer, shown to this reader only. */
    truth: async () => (await prediction?.reveal({ guessed: false }))?.revealed ?? null,
  };
}

/** @param {HTMLElement} label @param {string[] | null} entered  earlier @param {(text: string) => void} enter */
function textField(label, entered, enter) {
  const field = h("textarea", { rows: 2, maxLength: 200, "aria-labelledby": (label.id ||= "room-asks") });
  field.value = entered?.[0] ?? "";
  field.addEventListener("input", () => enter(field.value));
  return field;
}

// A member's side of a question: answer it, change the answer, see the answers of all.

const MOST_NICKNAME = 40;

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{presented: import("./room.js").Presentable, root: HTMLElement, bar: HTMLElement, code: string, member: string | null, fold?: (folds: boolean) => void, drawn?: () => void, isPaused?: () => boolean}} of  member:
 *   null for a screen, which shows the question and cannot answer; fold: called when the page is
 *   explored while a challenge goes on, or no longer; drawn: when the bar has something new to say
 */
export function createAnswering(page, api, { presented, root, bar, code, member, fold = () => {}, drawn = () => {}, isPaused = () => true }) {
  const { t } = page;
  const drafts = createDrafts(draftStorage(code));
  let refusal = "";
  /** How many have answered, on a second screen; null: not known. @type {number | null} */
  let answeredCount = null;
  const entrant = createEntrant(page, api, presented, { code, member, drafts, drawn: () => (panel.draw(), drawn()), fold: (folds) => (panel.fold(folds), fold(folds)) });
  const panel = createQuestionPanel({ page, api, presented, root, bar, drafts: member === null ? null : drafts, actions, works: entrant.view });

  /** @param {QuestionReply} question @param {string[] | null} answer */
  function actions(question, answer) {
    const { stage, nicknames = false } = question;
    const key = JSON.stringify([stage, answer, nicknames && ownNickname().trim()]);
    const sent = drafts.sent(question);
    if (stage === "revealed") return [];
    if (question.entry === "work" && (member !== null || stage !== "first")) return [nicknames && stage === "first" && nickname(), ...entrant.actions(question, isPaused())];
    if (stage === "discuss") return [el("p", { className: "crowd", role: "status" }, t("Discuss it with your neighbours. Then you answer again."))];
    if (stage === "closed") return [];
    if (member === null) return answeredCount === null ? [] : [el("p", { className: "crowd", role: "status" }, t("{count} answered", { count: answeredCount }))];
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

  /** @param {QuestionReply} question @param {string[] | null} answer @param {string} key */
  async function send(question, answer, key) {
    const { n, entry, nicknames } = question;
    if (!answer || !member) return;
    const name = ownNickname().trim();
    const body = { member, n, answer: entry === "numbers" ? plainNumbers(answer) : answer, ...(nicknames && name ? { nickname: name } : {}) };
    const failed = await api.answerRoom(code, body).then(() => null, failure);
    refusal = failed ? wording(t, failed) : "";
    if (!failed) drafts.send(question, key);
    panel.draw();
  }

  return {
    ...panel,
    entrant,
    /** @param {number} count  of those who have answered */
    count(count) {
      answeredCount = count;
      panel.draw();
    },
  };
}

// The timer of a question: how much time is left, by the server's clock. The vote goes on after it.

/** Seconds that a teacher can choose. */
const CHOICES = [30, 60, 120, 180, 300];

/** Minutes and seconds, rounded up: a timer of a minute begins with 1:00. @param {number} seconds */
export function clockTime(seconds) {
  const whole = Math.max(0, Math.ceil(seconds));
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t" | "announce">} page
 * @param {() => number} now  the server's time in seconds
 */
function createTimer({ t, announce }, now) {
  const element = h("p", { className: "timer", role: "timer", hidden: true });
  /** @type {number | null} */
  let ends = null;
  let interval = 0;

  function draw() {
    element.hidden = ends === null;
    if (ends === null) return stop();
    const secondsLeft = ends - now();
    element.textContent = secondsLeft > 0 ? clockTime(secondsLeft) : t("Time is up.");
    element.classList.toggle("over", secondsLeft <= 0);
    if (secondsLeft > 0) return;
    if (interval) announce(t("Time is up."));
    stop();
  }

  function stop() {
    clearInterval(interval);
    interval = 0;
  }

  return {
    element,
    /** @param {number | null | undefined} end  by the server's clock; none: no timer */
    show(end) {
      if ((end ?? null) === ends) return;
      ends = end ?? null;
      stop();
      if (ends !== null && ends > now()) interval = window.setInterval(draw, 250);
      draw();
    },
  };
}

/** Where the teacher sets the timer. @param {Translate} t @param {boolean} runs @param {(seconds: number) => void} set */
export function timerMenu(t, runs, set) {
  const onchange = (/** @type {any} */ { target }) => (set(Number(target.value)), (target.value = ""));
  const options = CHOICES.map((seconds) => el("option", { key: seconds, value: String(seconds) }, clockTime(seconds)));
  return el("label", { key: "timer", className: "timer-menu" }, el("span", {}, t("Timer")), el("select", { onchange }, el("option", { value: "" }, "–"), runs && el("option", { key: "none", value: "0" }, t("no timer")), options));
}
