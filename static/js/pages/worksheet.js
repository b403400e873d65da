/** A worksheet: which tasks are printed, with the answer key or without. */

import { goalList, headingOf } from "../ask/own-questions.js";
import { COLLECTION_ADDRESS, collectionKeys } from "../core/page/own-collections.js";
import { openPage } from "../core/page/served-page.js";
import { el, find, h, render } from "../lib/dom.js";
import { asTyped } from "../lib/numbers.js";
import { bindApartFromRoom } from "../room/bar-on-other-pages.js";

/** @import { PreparedQuestion } from "../core/wire/schemas.d.ts" */
/** @import { Described } from "../lib/dom.js" */
/** @import { Translate } from "../lib/i18n.js" */

// The questions that a collection's owner prepared, as tasks of its worksheet. A reader's worksheet has
// none: only a browser with the edit key gets them.

/** Lines to write on. */
const [SHORT, LONG] = [1, 3];
/** Rows and columns of a figure that have room on paper. */
const MAX_SIDE = 18;
const isChinese = () => document.documentElement.lang.startsWith("zh");

/** @param {PreparedQuestion["ask"]} ask @returns {string[]} */
function optionsOf({ options, translations }) {
  const translated = translations?.[isChinese() ? "zh" : "en"]?.options ?? [];
  return (options ?? []).map(({ text }, i) => translated[i] || text);
}

/** @param {number} count */
const writing = (count) => el("div", { key: "lines", className: "writing", "aria-hidden": "true" }, Array.from({ length: count }, (_, i) => el("span", { key: i })));

/** An empty matrix, in which the right cells have a tick on the key. @param {NonNullable<PreparedQuestion["ask"]["axes"]>} axes @param {string[]} right */
const matrix = ({ rows, columns }, right) =>
  el(
    "table",
    { key: "matrix", className: "numbers upright" },
    el("thead", {}, el("tr", {}, el("td", {}), columns.map((label, j) => el("th", { key: j, scope: "col" }, el("bdi", {}, label))))),
    el("tbody", {}, rows.map((label, i) => el("tr", { key: i }, el("th", { scope: "row" }, el("bdi", {}, label)), columns.map((_, j) => el("td", { key: j, className: "blank" }, right.includes(`${i} ${j}`) ? "✓" : ""))))),
  );

/** @param {PreparedQuestion["ask"]} ask */
const fits = ({ axes }) => Boolean(axes && axes.rows.length <= MAX_SIDE && axes.columns.length <= MAX_SIDE);

/**
 * A question with room for its answer.
 * @param {Translate} t
 * @param {PreparedQuestion} question
 * @returns {(Described | false)[]}
 */
export function task(t, { entry, ask }) {
  const options = optionsOf(ask);
  const boxed = entry === "choice" || entry === "order";
  return [
    el("p", { key: "asks", className: "asks" }, headingOf(t, ask) || t("Question")),
    entry === "work" && goalList(t, ask),
    entry === "order" && el("p", { key: "how" }, t("Number them in order.")),
    boxed && options.length > 0 && el("ul", { key: "boxes", className: "boxes" }, options.map((text, i) => el("li", { key: i }, el("bdi", {}, text)))),
    entry === "cell" && ask.axes && fits(ask) ? matrix(ask.axes, []) : !(boxed && options.length) && writing(entry === "text" ? LONG : SHORT),
  ];
}

/**
 * What is right, and what the other choices stand for.
 * @param {Translate} t
 * @param {PreparedQuestion} question
 * @returns {(Described | false)[]}
 */
function solution(t, { entry, ask }) {
  const options = optionsOf(ask);
  const right = ask.right ?? [];
  if (entry === "cell" && ask.cells?.length && ask.axes && fits(ask)) return [matrix(ask.axes, ask.cells)];
  const cell = (/** @type {string} */ id) => id.split(" ").map((place, i) => (i ? ask.axes?.columns : ask.axes?.rows)?.[Number(place)] ?? place).join(" → ");
  const answers = entry === "cell" ? (ask.cells ?? []).map(cell) : right.map((i) => options[i]);
  const number = typeof ask.value === "number" ? asTyped(ask.value) + (ask.within ? ` ± ${asTyped(ask.within)}` : "") : "";
  const words = answers.join(entry === "order" ? " → " : " / ") || number;
  const notes = (ask.options ?? []).flatMap(({ note }, i) => (note && !right.includes(i) ? [el("p", { key: i }, el("bdi", {}, options[i]), ": ", note)] : []));
  return [el("p", { key: "right" }, words ? el("b", {}, el("bdi", {}, words)) : t("Answers differ.")), ...notes];
}

// The page: which tasks are printed.

const root = find("#learn");
const { catalog = "", link = "" } = root.dataset;

/**
 * Add the questions that this browser's owner of the collection prepared.
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("../lib/i18n.js").Translate} t
 */
async function addPrepared(api, t) {
  const [, id = ""] = link.match(COLLECTION_ADDRESS) ?? [];
  const [tasks, answers] = ["#sheet > .tasks", "#key > .tasks"].map((name) => document.querySelector(name));
  if (!collectionKeys.keyOf(id) || !tasks || !answers) return;
  const collection = await api.readCollection(id, collectionKeys.keyOf(id)).catch(() => null);
  for (const { title, questions = [] } of collection?.items ?? [])
    for (const [i, question] of questions.entries()) {
      const number = String(tasks.children.length + 1);
      const body = h("div", {});
      render(body, task(t, question));
      const printed = h("label", { className: "choice" }, h("input", { type: "checkbox", checked: true }), ` ${t("print")}`);
      tasks.append(h("li", { className: "task", "data-task": number }, ...(title && i === 0 ? [h("h3", {}, title)] : []), printed, body));
      const key = h("li", { "data-answers": number });
      render(key, solution(t, question));
      answers.append(key);
    }
  root.toggleAttribute("data-empty", !tasks.children.length);
}

async function start() {
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  const { api, page } = opened;
  document.querySelector("#print")?.addEventListener("click", () => window.print());
  const withKey = /** @type {HTMLInputElement | null} */ (document.querySelector("#with-key"));
  withKey?.addEventListener("change", () => root.toggleAttribute("data-no-key", !withKey.checked));
  await addPrepared(api, page.t);
  for (const listed of document.querySelectorAll("[data-task]")) {
    const printed = /** @type {HTMLInputElement} */ (find(".choice input", listed));
    const answers = find(`[data-answers="${listed.getAttribute("data-task")}"]`);
    const follow = () => [listed, answers].forEach((element) => element.toggleAttribute("data-off", !printed.checked));
    printed.addEventListener("change", follow);
    follow(); // a reloaded page keeps its ticks
  }
}

void start();
