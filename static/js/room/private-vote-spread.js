/**
 * How votes are spread while they come, for the teacher alone: opened by a button, since her page may be
 * on the wall; the second screen of a room never has it.
 */

import { OWN_KINDS } from "../ask/own-questions.js";
import { KINDS } from "../ask/question-kinds.js";
import { ask } from "../ask/question.js";
import { shareBar } from "../core/draw/colour-scales.js";
import { served } from "../core/store/data-sources.js";
import { Problem, failure } from "../core/wire/problem.js";
import { two } from "../lib/numbers.js";
import { el } from "../lib/render.js";
import { advice, gain, shareRight, spreadOf } from "./vote-spread.js";

/** @import { AnswerReply, QuestionReply, RoomCreated, Truth } from "../core/wire/schemas.d.ts" */
/** @import { Choice } from "../ask/question.js" */
/** @import { Translate } from "../lib/i18n.js" */

/** Different answers that are listed. */
const MAX_LISTED = 12;

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {{room: () => RoomCreated | null, choices: () => Choice[], drawn: () => void}} of
 */
export function createPrivateSpread(page, api, { room, choices, drawn }) {
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
