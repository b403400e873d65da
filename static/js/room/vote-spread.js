/**
 * What a teacher decides by while votes come in, as peer instruction does: how the answers are
 * spread, the share that is right, what to do next, and after the second vote the gain.
 */

/** Of the votes: if fewer are right, explain; from here to `GO_ON_ABOVE`, discuss and vote again. */
const EXPLAIN_BELOW = 0.3;
const GO_ON_ABOVE = 0.7;

/** @import { AnswerReply, Truth } from "../core/wire/schemas.d.ts" */
/** @import { Entry } from "../core/wire/subject-requests.js" */
/** @typedef {"explain" | "discuss" | "go-on"} Advice */
/** @typedef {{count: number, right: number | null}} Vote */

/** @param {Vote} vote @returns {number | null}  null: nobody has answered, or nothing is right or wrong */
export const shareRight = ({ count, right }) => (count > 0 && right !== null ? right / count : null);

/** @param {Vote} vote @returns {Advice | null} */
export function advice(vote) {
  const share = shareRight(vote);
  if (share === null) return null;
  return share < EXPLAIN_BELOW ? "explain" : share <= GO_ON_ABOVE ? "discuss" : "go-on";
}

/**
 * Hake's normalised gain: how much of what could still become right did.
 * @param {Vote} first @param {Vote} second
 * @returns {number | null}  null: without two votes, or if everybody was right at first
 */
export function gain(first, second) {
  const [before, after] = [shareRight(first), shareRight(second)];
  return before === null || after === null || before === 1 ? null : (after - before) / (1 - before);
}

/**
 * Whether an answer is right, as the server counts it: of drawn rows, whether the largest weight is
 * where the model's is.
 * @param {Entry} entry
 * @param {string[]} answer
 * @param {Partial<Truth>} truth
 */
export function isRight(entry, answer, { right = [], numbers = [], within = 0.005 }) {
  if (entry === "choice" || entry === "cell") return right.includes(answer[0]);
  if (entry === "order") return answer.join(" ") === right.join(" ");
  const typedNumbers = answer.map(Number);
  if (entry === "numbers") return typedNumbers.length === numbers.length && typedNumbers.every((number, i) => Math.abs(number - numbers[i]) <= within + 1e-9);
  return entry === "shares" && typedNumbers[numbers.indexOf(Math.max(...numbers))] === Math.max(...typedNumbers);
}

/**
 * The answers of one vote: how often each answer was given, the most frequent first, and how many are right.
 * @param {Entry} entry
 * @param {Pick<AnswerReply, "vote" | "answer">[]} answers  of all votes
 * @param {"first" | "second"} vote
 * @param {Partial<Truth> | null} truth  null: not known
 * @returns {Vote & {answerCounts: [answer: string, times: number][]}}
 */
export function spreadOf(entry, answers, vote, truth) {
  const cast = answers.filter((answer) => answer.vote === vote);
  /** @type {Map<string, number>} */
  const times = new Map();
  for (const { answer } of cast) {
    const key = answer.join(" ");
    times.set(key, (times.get(key) ?? 0) + 1);
  }
  const judged = truth && Boolean(truth.right?.length || truth.numbers?.length);
  const right = judged ? cast.filter(({ answer }) => isRight(entry, answer, truth)).length : null;
  return { count: cast.length, right, answerCounts: [...times].sort(([, a], [, b]) => b - a) };
}
