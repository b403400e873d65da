/**
 * Where a teacher writes a question: a choice, an order, a number, an answer in words or a point on
 * the figure; in a second language if wanted. What is typed is kept until the question is taken.
 */

import { number } from "../lib/csv.js";
import { el, h, render } from "../lib/dom.js";
import { emptyGoal, goalFields, goalOf } from "./own-questions.js";
import { Problem, failure } from "../core/wire/reply.js";
import { wording } from "../core/figure/problem-wording.js";
import { axesOf, cellPicker, cellsOf } from "./cells.js";
import { answerSources, ask } from "./question.js";

/** @import { Entry } from "../core/wire/requests-by-subject.js" */
/** @import { Question } from "./question.js" */
/** @import { Translate } from "../lib/i18n.js" */

/** @typedef {{text: string, second: string, note: string, right: boolean}} DraftOption */
/**
 * @typedef {object} QuestionDraft  as typed
 * @property {"choice" | "order" | "number" | "open" | "point" | "does"} kind
 * @property {string} words
 * @property {string} secondWords  in the other language
 * @property {boolean} twoLanguages
 * @property {DraftOption[]} options
 * @property {string} value
 * @property {string} within
 * @property {import("./own-questions.js").GoalDraft} [goal]
 * @property {{link: string, cells: string[]}} [point]  the right cells of a figure
 */
/** @typedef {{entry: Entry, ask: Question}} PreparedQuestion */
/** @typedef {"words" | "options" | "value" | "within" | "second" | "figure" | "word" | "least"} MissingPart */

const [MAX_WORDS, MAX_OPTION, MAX_NOTE, MAX_OPTIONS] = [500, 200, 300, 12];

/** @returns {DraftOption} */
const emptyOption = () => ({ text: "", second: "", note: "", right: false });

/** @returns {QuestionDraft} */
export const emptyDraft = () => ({ kind: "choice", words: "", secondWords: "", twoLanguages: false, options: [emptyOption(), emptyOption()], value: "", within: "" });

/**
 * The question that was typed, or what is missing.
 * @param {QuestionDraft} draft
 * @param {"en" | "zh"} lang  of the author's page
 * @param {<T>(items: T[]) => T[]} shuffle
 * @param {PointedFigure | null} [figure]  that the class would point at
 * @param {string} [beside]  what is beside the question, as a query string: a goal is about it
 * @returns {PreparedQuestion | {missing: MissingPart}}
 */
export function questionOf(draft, lang, shuffle, figure = null, beside = "") {
  const { kind, twoLanguages } = draft;
  const [words, secondWords] = [draft.words.trim(), draft.secondWords.trim()];
  const written = draft.options.filter(({ text }) => text.trim());
  const hasOptions = kind === "choice" || kind === "order";
  const goal = kind === "does" ? goalOf(draft.goal ?? emptyGoal()) : null;
  if (!words && (!goal || ("kind" in goal && goal.kind === "any"))) return { missing: "words" }; // the page words a goal
  if (goal && "missing" in goal) return goal;
  if (hasOptions && written.length < 2) return { missing: "options" };
  if (twoLanguages && (!secondWords || (hasOptions && written.some(({ second }) => !second.trim())))) return { missing: "second" };
  const ordered = kind === "order" ? shuffle(written.map((_, i) => i)) : written.map((_, i) => i);
  const options = ordered.map((i) => written[i]);
  const secondLanguage = lang === "zh" ? "en" : "zh";
  const translated = { words: secondWords, options: hasOptions ? options.map(({ second }) => second.trim()) : [] };
  const about = { link: "", words, ...(twoLanguages ? { translations: { [secondLanguage]: translated } } : {}) };
  if (kind === "number") {
    const [value, within] = [draft.value, draft.within].map((text) => number(text).value);
    if (value === null) return { missing: "value" };
    if (draft.within.trim() && (within === null || within < 0)) return { missing: "within" };
    return { entry: "numbers", ask: { kind, ...about, value, ...(within === null ? {} : { within }) } };
  }
  if (goal) return { entry: "work", ask: { kind, ...about, link: beside, goal } };
  if (kind === "point") {
    if (!figure) return { missing: "figure" };
    const cells = cellsIn(draft, figure.link);
    return { entry: "cell", ask: { kind, ...about, ...figure, ...(cells.length ? { cells } : {}) } };
  }
  if (kind === "open") return { entry: "text", ask: { kind, ...about } };
  const texts = options.map(({ text, note }) => ({ text: text.trim(), ...(kind === "choice" && note.trim() ? { note: note.trim() } : {}) }));
  const right = kind === "order" ? written.map((_, place) => ordered.indexOf(place)) : options.flatMap((option, i) => (option.right ? [i] : []));
  const entry = kind === "order" ? kind : "choice";
  return { entry, ask: { kind, ...about, options: texts, ...(right.length ? { right } : {}) } };
}

/** In another order than they are in, if there is one. @template T @param {T[]} items @returns {T[]} */
export function shuffled(items) {
  const mixed = [...items];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return items.length > 1 && mixed.every((item, i) => item === items[i]) ? [...mixed.slice(1), mixed[0]] : mixed;
}

/** The right cells that were marked in a figure; those of another one do not count. @param {QuestionDraft} draft @param {string | null} link */
const cellsIn = ({ point }, link) => (point?.link === link ? point.cells : []);

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {object} of
 * @param {string} of.submit  the words of its button
 * @param {() => QuestionDraft | null} of.read  what was typed and not taken yet
 * @param {(draft: QuestionDraft | null) => void} of.keep
 * @param {(question: PreparedQuestion) => void} of.take
 * @param {() => string | null} of.figure  the query string of the figure that the question is beside
 * @param {() => string | null} [of.share]  whose numbers the figure shows; null: those of the model
 * @param {() => string} [of.place]  the head that a goal would be about, in words; "": there is none
 */
export function createOwnQuestionForm(page, api, { submit, read, keep, take, figure, share = () => null, place = () => "" }) {
  const { t } = page;
  const picker = createPointPicker(page, api, () => draw(), share);
  const form = h("form", { className: "own-question" });
  const lang = document.documentElement.lang.startsWith("zh") ? "zh" : "en";
  let draft = read() ?? emptyDraft();
  let missing = "";

  /** @param {Partial<QuestionDraft>} part */
  function change(part) {
    draft = { ...draft, ...part };
    missing = "";
    keep(draft);
    draw();
  }

  /** @param {number} i @param {Partial<DraftOption>} part */
  const changeOption = (i, part) => change({ options: draft.options.map((option, n) => (n === i ? { ...option, ...part } : option)) });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const question = questionOf(draft, lang, shuffled, picker.figure(), figure() ?? "");
    if ("missing" in question) {
      missing = missingWords(t, question.missing);
      return draw();
    }
    draft = { ...emptyDraft(), kind: draft.kind, twoLanguages: draft.twoLanguages };
    keep(null);
    draw();
    take(question);
  });

  function draw() {
    const link = figure();
    const pointing = draft.kind === "point" && picker.view(link, cellsIn(draft, link), (cells) => change({ point: { link: link ?? "", cells } }));
    render(form, ...formFields(t, lang, draft, place(), change, changeOption), pointing, el("p", { key: "wrong", className: "wrong", role: "alert" }, missing), el("button", { key: "submit", type: "submit", className: "button strong" }, submit));
  }

  draw();
  return {
    element: form,
    /** Another figure is beside it. */
    draw,
  };
}

/** @param {Translate} t @param {MissingPart} missing */
function missingWords(t, missing) {
  if (missing === "words") return t("Write the question.");
  if (missing === "options") return t("Write at least two answers.");
  if (missing === "figure") return t("Open a figure with attention first: the class points at its cells.");
  if (missing === "second") return t("Write the question and its answers in the second language too, or leave it out.");
  if (missing === "word") return t("Write the word that it is about.");
  if (missing === "least") return t("Write a share from 0 to 1, such as 0.5.");
  return t("Not a number. Write 0.5, −2 or 1/3.");
}

/**
 * @param {Translate} t
 * @param {"en" | "zh"} lang
 * @param {QuestionDraft} draft
 * @param {string} place
 * @param {(part: Partial<QuestionDraft>) => void} change
 * @param {(i: number, part: Partial<DraftOption>) => void} changeOption
 */
function formFields(t, lang, draft, place, change, changeOption) {
  const { kind, twoLanguages, options } = draft;
  const kinds = /** @type {[QuestionDraft["kind"], string][]} */ ([["choice", t("Multiple choice")], ["number", t("A number")], ["open", t("An answer in words")], ["order", t("Put in order")], ["point", t("A point on the figure")], ...(place ? [["does", t("A challenge")]] : [])]);
  const second = lang === "zh" ? t("In English") : t("In Chinese");
  const typed = (/** @type {(text: string) => void} */ take) => (/** @type {any} */ { target }) => take(target.value);
  const field = (/** @type {string} */ key, /** @type {string} */ label, /** @type {string} */ value, /** @type {(text: string) => void} */ take, /** @type {object} */ attributes = {}) =>
    el("input", { key, type: "text", autocomplete: "off", "aria-label": label, placeholder: label, value, oninput: typed(take), ...attributes });
  const option = (/** @type {DraftOption} */ { text, second: translated, note, right }, /** @type {number} */ i) =>
    el(
      "li",
      { key: i },
      kind === "choice" ? el("label", { key: "right", className: "check", title: t("This answer is right") }, el("input", { type: "checkbox", checked: right, "aria-label": t("Answer {n} is right", { n: i + 1 }), onchange: (/** @type {any} */ { target }) => changeOption(i, { right: target.checked }) })) : el("span", { key: "place", className: "place" }, `${i + 1}.`),
      field("text", t("Answer {n}", { n: i + 1 }), text, (value) => changeOption(i, { text: value }), { maxLength: MAX_OPTION }),
      twoLanguages && field("second", second, translated, (value) => changeOption(i, { second: value }), { maxLength: MAX_OPTION, className: "second" }),
      kind === "choice" && !right && field("note", t("What it stands for (optional)"), note, (value) => changeOption(i, { note: value }), { maxLength: MAX_NOTE, className: "note-of" }),
    );
  return [
    el("div", { key: "kinds", className: "kinds", role: "group", "aria-label": t("Kind of answer") }, kinds.map(([id, name]) => el("button", { key: id, type: "button", className: "button quiet", "aria-pressed": String(kind === id), onclick: () => change({ kind: id }) }, name))),
    el("textarea", { key: "words", rows: 2, maxLength: MAX_WORDS, "aria-label": t("Your question"), placeholder: t("Your question"), value: draft.words, oninput: typed((words) => change({ words })) }),
    twoLanguages && el("textarea", { key: "second", rows: 2, maxLength: MAX_WORDS, "aria-label": `${t("Your question")} · ${second}`, placeholder: second, value: draft.secondWords, oninput: typed((secondWords) => change({ secondWords })) }),
    ...(kind === "does" ? goalFields(t, draft.goal ?? emptyGoal(), place, (part) => change({ goal: { ...(draft.goal ?? emptyGoal()), ...part } })) : []),
    kind === "number" && el("p", { key: "number", className: "together" }, field("value", t("Right number"), draft.value, (value) => change({ value }), { inputMode: "decimal" }), field("within", t("May be off by"), draft.within, (within) => change({ within }), { inputMode: "decimal" })),
    (kind === "choice" || kind === "order") && el("ol", { key: "options", className: "options" }, options.map(option)),
    kind === "choice" && el("p", { key: "hint", className: "hint" }, t("Tick those that are right; tick none to ask for opinions.")),
    kind === "order" && el("p", { key: "hint", className: "hint" }, t("Write them in the right order; students see them mixed.")),
    el(
      "p",
      { key: "more", className: "together" },
      (kind === "choice" || kind === "order") && options.length < MAX_OPTIONS && el("button", { key: "add", type: "button", className: "button quiet", onclick: () => change({ options: [...options, emptyOption()] }) }, t("Add an answer")),
      el("label", { key: "two", className: "check" }, el("input", { type: "checkbox", checked: twoLanguages, onchange: (/** @type {any} */ { target }) => change({ twoLanguages: target.checked }) }), el("span", {}, lang === "zh" ? t("In English as well") : t("In Chinese as well"))),
    ),
  ];
}

/** @typedef {{link: string, axes: import("../core/wire/schemas.d.ts").Axes, share?: string}} PointedFigure  share: whose numbers it shows */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 * @param {() => void} drawn  called when the figure has arrived
 * @param {() => string | null} share  whose numbers the figure shows; null: those of the model
 */
function createPointPicker(page, api, drawn, share) {
  const { t } = page;
  let link = "";
  /** @type {import("./cells.js").CellChoice[] | null} */
  let choices = null;
  /** @type {Problem | null} */
  let problem = null;

  /** @param {string} query */
  async function read(query) {
    [link, choices, problem] = [query, null, null];
    const reply = await cellsOf(ask(page, answerSources(api, share()), { kind: "point", link: query, page: "workspace", words: "" })).catch(failure);
    if (link !== query) return;
    if (reply instanceof Problem) problem = reply;
    else choices = reply;
    drawn();
  }

  /** @param {string | null} figureLink */
  function status(figureLink) {
    if (!figureLink) return t("Open a figure with attention first: the class points at its cells.");
    if (problem) return wording(t, problem);
    if (!choices) return t("Loading…");
    return choices.length ? t("Tap the cells that are right; none to ask for opinions.") : t("This figure cannot be pointed at here.");
  }

  return {
    /** The figure, once it has arrived. @returns {PointedFigure | null} */
    figure: () => (choices?.length ? { link, axes: axesOf(choices), ...(share() ? { share: share() ?? "" } : {}) } : null),
    /**
     * @param {string | null} figureLink  what is on the screen, as a query string; null: no figure
     * @param {string[]} cells  that are right
     * @param {(cells: string[]) => void} change
     */
    view(figureLink, cells, change) {
      if (figureLink && figureLink !== link) void read(figureLink);
      const toggle = (/** @type {string} */ id) => change(cells.includes(id) ? cells.filter((cell) => cell !== id) : [...cells, id]);
      return el("div", { key: "point", className: "pointing" },
        el("p", { key: "status", className: "hint", role: "status" }, status(figureLink)),
        figureLink === link && choices !== null && choices.length > 0 && cellPicker(t, choices, { chosen: cells, fixed: false, choose: toggle }));
    },
  };
}
