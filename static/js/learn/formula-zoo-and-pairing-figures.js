/** Figures of other kinds: a formula to try, models of the zoo on inputs of growing length, a sentence with its translation word by word. */

import { plot } from "../core/draw/line-chart.js";
import { problemLine } from "../core/figure/figure-status.js";
import { createPointing, within } from "../core/figure/pointing.js";
import { changedName, comparedByPart, unitName } from "../core/store/examples-and-tasks.js";
import { format, mergeStates, parse } from "../core/store/link.js";
import { createAsker } from "../core/wire/connection.js";
import { Problem } from "../core/wire/reply.js";
import { request } from "../core/wire/request.js";
import { createFormula } from "../lab/formulas/formula.js";
import { el, find, h, render } from "../lib/dom.js";
import { attentionSentence, createPairing, openingNeeds, openingOf } from "../opening/word-pairing.js";
import { linkTo } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";
import { lengthCurves, measuredLengths, percent } from "../zoo/charts.js";
import { format as formatZoo, parse as parseZoo, zooWithModels } from "../zoo/zoo-link.js";
import { createSentence, linkOfState, liveQuery } from "./figure-controls.js";
import { openAddress } from "./lesson-address.js";

/** @import { ZooModel } from "../zoo/zoo-link.js" */

/** @typedef {{example: import("../core/wire/schemas.d.ts").ZooExampleReply, answers: string[]}} Answered */

const SEED = 1;
const SEEDS = /^\d{1,9}$/;

/**
 * @param {Pick<import("../pages/learn.js").LessonServices, "page" | "api" | "source">} services
 * @param {HTMLElement} root
 * @param {string} link  of the zoo's page; "length" is the first length, "seed" its example
 * @param {{changed: () => void, answered: (link: string) => void}} listener  changed: called when
 *   the reader changes what is shown; answered: with the link to an example on the zoo's page
 * @throws {Problem}  if its first answers cannot be loaded
 */
async function createZooFigure({ page, api, source }, root, link, { changed, answered: onAnswer }) {
  const { t } = page;
  const zoo = zooWithModels(await api.zoo(), await source.models());
  const state = parseZoo(link, zoo);
  const models = comparedByPart(zoo.models.filter(({ name, task }) => task === state.task && state.models.includes(name)));
  const lengths = measuredLengths(models);
  const unit = zoo.tasks.find(({ id }) => id === state.task)?.unit ?? "";
  const longest = Math.max(...models.map(({ trained }) => trained[1]));
  const parameters = new URLSearchParams(link);
  const firstLength = Number(parameters.get("length") ?? longest);
  let index = within(lengths.indexOf(firstLength), lengths.length);
  let seed = SEEDS.test(parameters.get("seed") ?? "") ? Number(parameters.get("seed")) : SEED;
  const asker = createAsker();
  const failed = problemLine(page, () => void ask());
  const slider = h("input", { type: "range", min: "0", max: String(lengths.length - 1), step: "1", value: String(index), "aria-label": unitName(t, unit) });
  const output = h("output", {});
  const drawButton = h("button", { type: "button", className: "button" }, t("Draw an example"));
  const [answers, chart] = [h("div", { className: "scrolled" }), h("div", { className: "zoo-curves" })];
  root.append(
    h("div", { className: "figure-bar" }, h("label", { className: "option slider" }, h("span", {}, unitName(t, unit)), slider, output), drawButton),
    failed.element,
    answers,
    chart,
  );
  slider.addEventListener("input", () => show(Number(slider.value), seed));
  drawButton.addEventListener("click", () => show(index, seed + 1));

  /** @param {number} nextAt @param {number} nextSeed */
  function show(nextAt, nextSeed) {
    [index, seed] = [nextAt, nextSeed];
    slider.value = String(index);
    changed();
    void ask();
  }

  /** @returns {Promise<Answered>} */
  async function answered() {
    const example = await api.zooExample(state.task, { length: lengths[index], seed });
    const runs = await Promise.all(models.map(({ info }) => source.trace(request(info, linkTo({ model: info.id, source: example.source }), []))));
    return { example, answers: runs.map(({ output }) => output.text) };
  }

  /** @returns {Promise<Problem | null>}  why it failed */
  async function ask() {
    const length = lengths[index];
    const long = length > longest ? t("{n} (longer than trained)", { n: length }) : String(length);
    output.textContent = long;
    slider.setAttribute("aria-valuetext", long);
    draw();
    const reply = await asker.ask(answered, failed.show);
    if (reply === null) return null;
    failed.show(reply instanceof Problem ? reply : null);
    if (reply instanceof Problem) return reply;
    render(answers, table(t, models, reply, length));
    onAnswer(formatZoo({ ...state, source: reply.example.source }));
    return null;
  }

  function draw() {
    const theme = page.theme();
    if (chart.clientWidth) chart.replaceChildren(plot(lengthCurves(models, unit, chart.clientWidth, theme, t, lengths[index]), theme));
  }
  const problem = await ask();
  if (problem) throw problem;
  new ResizeObserver(draw).observe(chart);
  page.onTheme(draw);

  /** @param {string} length @param {string} seed */
  const query = (length, seed) => `${formatZoo({ ...state, source: "" })}&${new URLSearchParams({ length, seed })}`;
  return {
    /** The tested length and the seed of its example, with the models. */
    state: () => query(String(lengths[index]), String(seed)),
    /** @param {string} stateText  such a state @returns {boolean}  false: it is not one of these models */
    go(stateText) {
      const parameters = new URLSearchParams(stateText);
      const next = lengths.findIndex((length) => String(length) === parameters.get("length"));
      const drawn = parameters.get("seed") ?? "";
      if (next < 0 || !SEEDS.test(drawn) || stateText !== query(String(lengths[next]), drawn)) return false;
      show(next, Number(drawn));
      return true;
    },
  };
}

/**
 * The input, the right answer, and the answer of each model with its mistakes marked.
 * @param {import("../lib/i18n.js").Translate} t
 * @param {ZooModel[]} models
 * @param {Answered} found
 * @param {number} length
 */
function table(t, models, { example, answers }, length) {
  const line = (/** @type {string} */ name, /** @type {string} */ text) =>
    el("tr", { key: name }, el("th", { scope: "row" }, name), el("td", { lang: "en" }, text), el("td", {}), el("td", {}));
  const measured = t("right, %");
  return el(
    "table",
    { className: "zoo-answers" },
    el("thead", {}, el("tr", {}, el("td", {}), el("td", {}), el("td", {}), el("th", { scope: "col" }, measured))),
    el(
      "tbody",
      {},
      line(t("Input"), example.source),
      line(t("Right answer:"), example.target),
      models.map((model, i) => {
        const correct = answers[i] === example.target;
        return el(
          "tr",
          { key: model.name, "data-right": String(correct) },
          el("th", { scope: "row" }, changedName(t, model.changed)),
          el("td", { lang: "en" }, marked(answers[i], example.target)),
          el("td", { className: "verdict", title: correct ? t("correct") : t("wrong") }, correct ? "✓" : "✗", el("span", { className: "hidden" }, correct ? t("correct") : t("wrong"))),
          el("td", {}, percent(model, length)),
        );
      }),
    ),
  );
}

/** @param {string} answer @param {string} target */
function marked(answer, target) {
  const targetTokens = target.split(" ");
  return (answer || "–").split(" ").flatMap((token, i) => [i ? " " : "", token === targetTokens[i] ? el("span", { key: i }, token) : el("mark", { key: i }, token)]);
}

/** @typedef {Parameters<typeof import("./figures.js").openFigure>[0]} OfFigure */
/** @typedef {ReturnType<typeof liveQuery>} LiveQuery */

/** @param {OfFigure["page"]["t"]} t */
export const unfitMessage = (t) => t("The link does not fit this figure, which is shown in its initial state.");

/** @param {OfFigure} services @param {HTMLElement} element @returns {Promise<LiveQuery>} */
export async function formulaFigure(services, element) {
  const { page, api, lang } = services;
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const root = h("div", { className: "coming" });
  stand.append(root);
  const parameters = new URLSearchParams(element.dataset.link);
  const id = parameters.get("show") ?? "";
  const formula = createFormula({ root, page, api, id, onChange: changed });
  const query = () => new URLSearchParams([["show", id], ...formula.query()]);
  // The link is that of the lesson, or of a collection, which has a figure in some state.
  if (!formula.go(parameters)) {
    element.prepend(h("p", { className: "problem", role: "alert" }, unfitMessage(page.t)));
    formula.draw();
  }
  const live = liveQuery({
    pointing: formula.pointing,
    state: () => String(query()),
    go(link) {
      const next = new URLSearchParams(link);
      if (next.get("show") !== id || !formula.go(next)) return false;
      changed();
      return true;
    },
  });

  function changed() {
    open.href = openAddress("lab", `${query()}&lang=${lang}`);
    live.changed();
  }

  linkBelow(root, linkOfState(services, element, live.shows));
  replaceStill(stand, root);
  return live;
}

/** @param {OfFigure} services @param {HTMLElement} element @returns {Promise<LiveQuery>} */
export async function zooFigure(services, element) {
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  const root = h("div", { className: "coming" });
  stand.append(root);
  /** @type {LiveQuery | null} */
  let live = null;
  const figure = await createZooFigure(services, root, element.dataset.link ?? "", {
    changed: () => live?.changed(),
    answered: (link) => (open.href = openAddress("zoo", `${link}&lang=${services.lang}`)),
  });
  live = liveQuery(figure);
  linkBelow(root, linkOfState(services, element, live.shows));
  replaceStill(stand, root);
  return live;
}

/**
 * The controls of a figure's link in a line of their own; null: it has none.
 * @param {HTMLElement} root  of the figure
 * @param {ReturnType<typeof linkOfState>} link
 */
function linkBelow(root, link) {
  if (link) root.append(h("p", { className: "figure-bar" }, link.button), link.panel);
}

/** Replace the still image. @param {HTMLElement} stand @param {HTMLElement} place */
export function replaceStill(stand, place) {
  stand.querySelectorAll(".still, .start").forEach((element) => element.remove());
  place.classList.remove("coming");
  stand.dataset.live = "yes";
}

// A sentence and its translation word by word with glosses, for a link with `opening=1`.

/** The place of a word in a state. */
const WORD = /^\d{1,3}$/;
/** The side of a word of the translation that is pointed at. */
const WRITTEN = "written";

/**
 * Its state is the sentence and the word that was clicked.
 * @param {Parameters<typeof import("./figures.js").openFigure>[0]} services
 * @param {HTMLElement} element
 * @returns {Promise<import("./figures.js").LessonFigure>}
 */
export async function pairingFigure(services, element) {
  const { page, source, lang } = services;
  const stand = find(".stand", element);
  const open = /** @type {HTMLAnchorElement} */ (find(".open", element));
  let state = mergeStates(linkTo(), parse(element.dataset.link ?? "", OPTIONS), { lang });
  const opened = new URLSearchParams(element.dataset.link).get("word");
  /** The written word that was clicked. */
  let word = opened && WORD.test(opened) ? Number(opened) : null;
  const asker = createAsker();
  const failed = problemLine(page, () => void ask());
  /** @type {import("../opening/word-pairing.js").Opening | null} */
  let opening = null;
  const { form, field } = createSentence(page, state.source, (typed) => {
    read(typed, null);
    live.changed();
  });
  const caption = h("p", { className: "caption" });
  const { move, pointing } = createPointing({
    light: (/** @type {number | null} */ wordIndex) => wordIndex !== null && light(wordIndex),
    write: (wordIndex) => ({ query: { side: WRITTEN, index: wordIndex }, key: null }),
    read: ({ query }) => (query?.side === WRITTEN && opening && query.index < opening.written.length ? query.index : null),
  });
  const picture = createPairing(page, (wordIndex, clicked) => {
    move(wordIndex);
    light(wordIndex);
    if (!clicked) return;
    word = wordIndex;
    live.changed();
  });
  const root = h("div", { className: "coming" }, h("div", { className: "figure-bar" }, form), failed.element, h("div", { className: "saying" }, caption), picture.element);
  stand.append(root);

  const live = liveQuery({
    pointing,
    state: () => String(new URLSearchParams([["opening", "1"], ["source", state.source], ...(word === null ? [] : [["word", String(word)]])])),
    go(query) {
      const parameters = new URLSearchParams(query);
      const [typed, wordText] = [parameters.get("source") ?? "", parameters.get("word")];
      if (parameters.get("opening") !== "1" || !typed.trim() || (wordText && !WORD.test(wordText))) return false;
      read(typed, wordText ? Number(wordText) : null);
      return true;
    },
  });

  /** @param {string} typed @param {number | null} wordIndex */
  function read(typed, wordIndex) {
    const isOther = typed !== state.source;
    state = mergeStates(state, { source: typed });
    field.value = typed;
    word = wordIndex;
    open.href = openAddress("workspace", format(state, OPTIONS));
    if (isOther) void ask();
    else relight();
  }

  async function run() {
    const [model] = await source.models();
    return { model, trace: await source.trace(request(model, state, openingNeeds(model))) };
  }

  /** @returns {Promise<Problem | null>}  why it failed */
  async function ask() {
    const reply = await asker.ask(run, failed.show);
    if (reply === null) return null;
    failed.show(reply instanceof Problem ? reply : null);
    if (reply instanceof Problem) return reply;
    opening = openingOf(reply);
    relight();
    return null;
  }

  /** Highlight the word that was clicked, or the first to be looked at. */
  function relight() {
    if (opening?.written.length) light(word !== null && word < opening.written.length ? word : opening.first);
  }

  /** @param {number} wordIndex */
  function light(wordIndex) {
    if (!opening) return;
    render(caption, attentionSentence(page, opening, wordIndex, true));
    picture.draw(opening, wordIndex, true);
  }

  const problem = await ask();
  if (problem) throw problem;
  linkBelow(root, linkOfState(services, element, live.shows));
  replaceStill(stand, root);
  return live;
}
