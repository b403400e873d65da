/**
 * Questions that a teacher wrote: a choice, an order, a text, a point on a figure, a goal for works; a
 * number is `number` of the other kinds.
 * A question has its words and options in the author's language and, if the author wrote it, in the
 * other one; which options are right is told only when it is revealed.
 */

import { DEFAULTS, mergeStates, parse } from "../core/store/link.js";
import { blockName } from "../core/store/model-part-names.js";
import { number } from "../lib/csv.js";
import { el } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { cellsOf } from "./cells.js";

/** @import { Goal, Verdict } from "../core/wire/schemas.d.ts" */
/** @import { Child } from "../lib/dom.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Kind, Question } from "./question.js" */

// Goals that a sentence, a head or a change of the model can reach: as a teacher writes them, in words, and
// what the server's run of a work showed.

/** @typedef {NonNullable<Goal["free"]>[number]} Free */
/**
 * @typedef {object} GoalDraft  as typed
 * @property {Goal["kind"]} kind
 * @property {string} key
 * @property {string} query
 * @property {string} least
 * @property {string} words  separated by commas
 * @property {string} uses  separated by commas
 * @property {boolean} oneWord
 * @property {Free[]} free
 */

const [MAX_WORD, MAX_WORDS] = [40, 6];
const MAX_LISTED = MAX_WORDS * (MAX_WORD + 2);

/** @returns {GoalDraft} */
export const emptyGoal = () => ({ kind: "weight", key: "", query: "", least: "0.5", words: "", uses: "", oneWord: false, free: ["sentence"] });

/** @param {string} text */
const listed = (text) => text.split(/[,，、;；]/).map((word) => word.trim().slice(0, MAX_WORD)).filter(Boolean).slice(0, MAX_WORDS);

/** @param {Goal["kind"]} kind */
const isAboutWeights = (kind) => kind === "weight" || kind === "strongest";

/**
 * The goal that was typed, or what is missing.
 * @param {GoalDraft} draft
 * @returns {Goal | {missing: "word" | "least"}}
 */
export function goalOf({ kind, oneWord, free, ...typed }) {
  const [key, query] = [typed.key.trim(), typed.query.trim()];
  const [words, uses] = [listed(typed.words), listed(typed.uses)];
  const least = number(typed.least).value;
  const ofWeights = isAboutWeights(kind);
  if (ofWeights ? !key : kind !== "any" && !words.length) return { missing: "word" };
  if (kind === "weight" && !(least !== null && least > 0 && least <= 1)) return { missing: "least" };
  return {
    kind,
    ...(ofWeights ? { key, ...(query ? { query } : {}) } : {}),
    least: kind === "weight" ? /** @type {number} */ (least) : 0.5,
    words: ofWeights || kind === "any" ? [] : words,
    free: free.length ? free : ["sentence"],
    uses: free.includes("sentence") ? uses : [],
    one_word: oneWord && free.includes("sentence"),
  };
}

/** @param {Translate} t @returns {Record<Free, string>} */
const freeNames = (t) => ({ sentence: t("the sentence"), head: t("the head"), change: t("changes of the model") });

/** Words as they are listed in a sentence. @param {string[]} words */
const inQuotes = (words) => words.map((word) => `“${word}”`).join(", ");

/** The state that a question's link shows. @param {Question} question */
const stateOf = ({ link }) => mergeStates(DEFAULTS, parse(link));

/** What may be chosen for a goal. @param {Goal | null | undefined} goal @returns {Free[]} */
const freeIn = (goal) => goal?.free ?? ["sentence"];

/** Whether a work is a sentence and nothing else. @param {Question} question */
export const isTyped = ({ goal }) => freeIn(goal).join() === "sentence";

/** The head that a link shows. @param {Translate} t @param {{link: string}} of */
export function headShown(t, { link }) {
  const { block, layer, head } = mergeStates(DEFAULTS, parse(link));
  const place = t("Layer {layer}, head {head}", { layer: layer + 1, head: head + 1 });
  return block ? `${blockName(block, t)} · ${place}` : place;
}

/** The head that a goal is about. @param {Translate} t @param {Question} question @param {Goal} goal */
const headOf = (t, question, goal) => (freeIn(goal).includes("head") ? t("A head of your choice") : headShown(t, question));

/** The goal in a sentence; "": nothing is checked. @param {Translate} t @param {Question} question */
export const goalWords = (t, question) => (question.goal ? goalItself(t, question, question.goal) : "");

/**
 * What a work must keep to, and what may be chosen, in sentences.
 * @param {Translate} t @param {Question} question
 * @returns {string[]}
 */
export function ruleSentences(t, question) {
  const { goal } = question;
  if (!goal) return [];
  const names = freeNames(t);
  const { uses = [] } = goal;
  const rules = [
    uses.length > 0 && t("The sentence has {words}.", { words: inQuotes(uses) }),
    goal.one_word && t("Change one word only of: {sentence}", { sentence: stateOf(question).source }),
    !isTyped(question) && t("You choose: {what}.", { what: freeIn(goal).map((name) => names[name]).join(", ") }),
  ];
  return rules.flatMap((sentence) => (sentence ? [sentence] : []));
}

/** @param {Translate} t @param {Question} question @param {Goal} goal */
function goalItself(t, question, goal) {
  const values = { place: headOf(t, question, goal), key: goal.key ?? "", query: goal.query ?? "", least: two(goal.least ?? 0.5), words: inQuotes(goal.words ?? []) };
  if (goal.kind === "weight") return goal.query ? t("{place}: the row of “{query}” gives “{key}” at least {least} of its weight.", values) : t("{place}: some row gives “{key}” at least {least} of its weight.", values);
  if (goal.kind === "strongest") return goal.query ? t("{place}: the largest weight in the row of “{query}” goes to “{key}”.", values) : t("{place}: the largest weight of all goes to “{key}”.", values);
  if (goal.kind === "contains") return t("What the model writes has {words}.", values);
  return goal.kind === "lacks" ? t("What the model writes does not have {words}.", values) : "";
}

/** Whether a work does what is asked, in a word; "": nothing is checked. @param {Translate} t @param {boolean | null | undefined} does */
export const doesWords = (t, does) => (does === true ? t("✓ It does it.") : does === false ? t("✗ It does not do it.") : "");

/**
 * What the run of a work showed.
 * @param {Translate} t @param {Question} question @param {Verdict} verdict
 */
export function verdictWords(t, { goal }, { does, missing, rewritten, weight, strongest, output }) {
  const why =
    (missing && t("“{word}” is not in it.", { word: missing })) ||
    (rewritten && t("More than one word is different.")) ||
    (typeof weight === "number" && goal?.kind === "weight" && t("“{key}” gets {weight} at most; the largest weight goes to “{strongest}”.", { key: goal.key ?? "", weight: two(weight), strongest: strongest ?? "" })) ||
    (typeof weight === "number" && t("The largest weight goes to “{strongest}”.", { strongest: strongest ?? "" })) ||
    (typeof output === "string" && t("The model writes: {output}", { output }));
  return [doesWords(t, does ?? null), why].filter(Boolean).join(" ");
}

/**
 * Where a teacher writes a goal.
 * @param {Translate} t
 * @param {GoalDraft} draft
 * @param {string} place  the head that is on the screen
 * @param {(part: Partial<GoalDraft>) => void} change
 * @returns {Child[]}
 */
export function goalFields(t, draft, place, change) {
  const { kind, free } = draft;
  const kinds = /** @type {[Goal["kind"], string][]} */ ([["weight", t("A word gets much of a head’s weight")], ["strongest", t("The largest weight goes to a word")], ["contains", t("The model writes certain words")], ["lacks", t("The model does not write certain words")], ["any", t("Nothing is checked")]]);
  const field = (/** @type {"key" | "query" | "least" | "words" | "uses"} */ name, /** @type {string} */ label, maxLength = MAX_WORD) =>
    el("label", { key: name, className: "named" }, el("span", {}, label), el("input", { type: "text", autocomplete: "off", value: draft[name], maxLength, oninput: (/** @type {any} */ { target }) => change({ [name]: target.value }) }));
  const check = (/** @type {string} */ key, /** @type {string} */ label, /** @type {boolean} */ checked, /** @type {(checked: boolean) => void} */ take) =>
    el("label", { key, className: "check" }, el("input", { type: "checkbox", checked, onchange: (/** @type {any} */ { target }) => take(target.checked) }), el("span", {}, label));
  const names = freeNames(t);
  const order = /** @type {Free[]} */ (["sentence", "head", "change"]);
  return [
    el("label", { key: "goal", className: "goal-kind" }, el("span", {}, t("What is to happen")), el("select", { value: kind, onchange: (/** @type {any} */ { target }) => change({ kind: target.value }) }, kinds.map(([id, name]) => el("option", { key: id, value: id, selected: id === kind }, name)))),
    isAboutWeights(kind) && el("p", { key: "weights", className: "together" }, field("key", t("Word that is looked at")), field("query", t("In the row of (any if empty)")), kind === "weight" && field("least", t("At least (0 to 1)"))),
    isAboutWeights(kind) && !free.includes("head") && el("p", { key: "place", className: "hint" }, t("The head is the one that is shown: {place}.", { place })),
    (kind === "contains" || kind === "lacks") && el("p", { key: "words-of", className: "together" }, field("words", t("Words, separated by commas"), MAX_LISTED)),
    el("p", { key: "free", className: "together" }, el("span", {}, t("Students choose")), order.map((name) => check(name, names[name], free.includes(name), (checked) => change({ free: order.filter((id) => (id === name ? checked : free.includes(id))) })))),
    free.includes("sentence") && el("p", { key: "rules", className: "together" }, field("uses", t("The sentence must have (optional)"), MAX_LISTED), check("oneWord", t("Only one word of yours may be different"), draft.oneWord, (oneWord) => change({ oneWord }))),
  ];
}

/** The language of this page. */
const pageLanguage = () => (document.documentElement.lang.startsWith("zh") ? "zh" : "en");

/** Its words in the reader's language; "": the page words it. @param {Question} question */
export const wordsOf = ({ words = "", translations }) => translations?.[pageLanguage()]?.words ?? words;

/** Its words, or those of its goal; "": the page words it. @param {import("../lib/i18n.js").Translate} t @param {Question} question */
export const headingOf = (t, question) => wordsOf(question) || goalWords(t, question);

/** @param {Question} question @returns {import("./question.js").Choice[]} */
function optionsOf({ options, translations }) {
  const translated = translations?.[pageLanguage()]?.options ?? [];
  return (options ?? []).map(({ text }, i) => ({ id: String(i), label: translated[i] || text }));
}

/** Whether a teacher wrote all of it, so that no figure adds to its words. @param {Question} question */
export const isOwn = ({ kind, link, share, words }) => kind in OWN_KINDS || (kind === "number" && !link && !share && Boolean(words));

/** Whether the answer to a question can be right or wrong. @param {Question} question */
export const isJudged = ({ kind, right, cells }) => !(kind in OWN_KINDS) || (right ?? cells ?? []).length > 0;

/** What wrong options stand for, once revealed. @param {Question} question @param {string} id */
export const noteOf = ({ options }, id) => options?.[Number(id)]?.note ?? "";

/** @type {Pick<Kind, "fits" | "words" | "choices" | "reveal">} */
const written = {
  fits: () => false,
  words: async ({ question, t }) => [wordsOf(question) || t("Question")],
  choices: async ({ question }) => optionsOf(question),
  async reveal({ question, stated }) {
    const { right } = (await stated?.()) ?? question;
    return { right: (right ?? []).map(String), says: [] };
  },
};

/** @type {Record<string, Kind>} */
export const OWN_KINDS = {
  choice: { ...written, name: (t) => t("A choice"), entry: () => "choice" },
  order: { ...written, name: (t) => t("An order"), entry: () => "order" },
  point: {
    ...written,
    name: (t) => t("A point on the figure"),
    entry: () => "cell",
    choices: cellsOf,
    async reveal({ question, stated }) {
      const { cells } = (await stated?.()) ?? question;
      return { right: cells ?? [], says: [] };
    },
  },
  does: {
    ...written,
    name: (t) => t("A sentence or a head that does something"),
    entry: () => "work",
    words: async ({ question, t }) => [headingOf(t, question)],
    choices: async () => [],
  },
  open: { ...written, name: (t) => t("An answer in words"), entry: () => "text" },
};

// Works for a goal: links of the workspace, of which only what may be chosen counts.

/** Characters of a work's link. */
export const MAX_LINK = 2_000;
/** Characters of a typed sentence. */
export const MAX_SENTENCE = 400;

/** What a page shows as a link of the workspace; null: no sentence. @param {string} link */
export function workLink(link) {
  const { search } = new URL(link, "http://room");
  const query = new URLSearchParams(search).get("shows") ?? search.slice(1);
  const work = `/?${new URLSearchParams(query)}`;
  return new URLSearchParams(query).get("source")?.trim() && work.length <= MAX_LINK ? work : null;
}

/** The question's own figure with another sentence. @param {Question} question @param {string} sentence */
export function withSentence({ link }, sentence) {
  const query = new URLSearchParams(link);
  query.set("source", sentence);
  for (const name of ["target", "query", "key"]) query.delete(name);
  return `/?${query}`;
}

/** The sentence of a question or of a work. @param {{link: string}} of */
export const originalOf = ({ link }) => mergeStates(DEFAULTS, parse(link.replace("/?", ""))).source;

/** What is asked, below its heading, which says the goal if the teacher has not written another. @param {Translate} t @param {Question} question */
export function goalList(t, question) {
  const sentences = [wordsOf(question) && goalWords(t, question), ...ruleSentences(t, question)].filter(Boolean);
  return el("ul", { key: "goal", className: "goal", hidden: !sentences.length }, sentences.map((sentence, i) => el("li", { key: i }, sentence)));
}
