/** One head over many sentences: examples at each tenth of a ranking, and a search for rows. */

import { openRequestingPage } from "../core/page/served-page.js";
import { onReturn, pushQuery, readQuery } from "../core/store/address.js";
import { served } from "../core/store/data-sources.js";
import { format } from "../core/store/link.js";
import { placeOf } from "../core/wire/model-description.js";
import { bcp47 } from "../core/wire/tokens.js";
import { el, find, h, render } from "../lib/dom.js";
import { two } from "../lib/numbers.js";
import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { createFigure, linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

/** @import { IndexedSentence } from "../core/wire/schemas.d.ts" */
/** @import { Translate } from "../lib/i18n.js" */

// The sentences of a ranking or a search, and the head's attention in the chosen one.

/** @typedef {{query: number, key: number}} Cell */
/** @typedef {{sentence: IndexedSentence, value: number, pair?: [string, string], cell: Cell | null}} Item */

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {(item: Item | null) => void} onShow  null: nothing was found
 */
function createExampleList({ t }, onShow) {
  const root = find("#found");
  const words = find("#found-says");
  /** @type {Item[]} */
  let items = [];
  let chosen = 0;

  root.addEventListener("click", ({ target }) => {
    const button = /** @type {Element} */ (target).closest("button");
    if (button) choose(Number(button.dataset.item));
  });

  /** @param {number} next */
  function choose(next) {
    chosen = next;
    draw();
    onShow(items[chosen]);
  }

  function draw() {
    render(
      root,
      items.map(({ sentence, value, pair }, i) =>
        el(
          "li",
          { key: i },
          el(
            "button",
            { type: "button", "data-item": String(i), "aria-pressed": String(i === chosen) },
            el("span", { className: "value" }, two(value)),
            el("span", {}, pair ? arrow(t, pair) : "", el("span", { lang: langOf(sentence.source) }, sentence.source)),
          ),
        ),
      ),
    );
  }

  return {
    /** @param {{says: string, items: Item[]}} result */
    show(result) {
      items = result.items;
      render(words, result.says);
      if (items.length) return choose(0);
      render(root);
      onShow(null);
    },
  };
}

/** @param {Translate} t @param {[string, string]} pair */
const arrow = (t, [from, to]) => el("span", {}, el("b", { className: "from", lang: langOf(from) }, from.trim()), " → ", el("b", { className: "to", lang: langOf(to) }, to.trim()), t(": "));

/** @param {string} text */
const langOf = (text) => (/\p{Script=Han}/u.test(text) ? bcp47("zh") : "en");

/** @param {Translate} t @param {import("../core/wire/schemas.d.ts").HeadExamplesReply} found */
const rankingResult = (t, { examples }) => ({
  says: t("From the top of the ranking to the bottom, a sentence at each tenth."),
  items: examples.map(({ sentence, value }) => ({ sentence, value, cell: null })),
});

/** @param {Translate} t @param {import("../core/wire/schemas.d.ts").FoundRowsReply} reply */
const searchResult = (t, { rows, sentences, of, found: foundRows }) => ({
  says: summary(t, rows, sentences, of),
  items: foundRows.map(({ sentence, query, key, weight }) => ({
    sentence,
    value: weight,
    pair: /** @type {[string, string]} */ ([query.text, key.text]),
    cell: { query: query.index, key: key.index },
  })),
});

/** @param {Translate} t @param {number} rows @param {number} sentences @param {number} of */
function summary(t, rows, sentences, of) {
  if (!rows) return t("No row of this head matches.");
  if (rows === 1) return t("1 row in 1 of {of} sentences.", { of });
  return t("{rows} rows in {sentences} of {of} sentences; the largest weights first.", { rows, sentences, of });
}

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/store/data-sources.js").Source} source
 * @param {import("../core/wire/model-description.js").ModelInfo} info
 * @param {{model: string, place: string, head: number, lang: string}} at
 */
function exampleFigure(page, source, info, { model, place, head, lang }) {
  const headPlace = { model, ...(placeOf(info, place) ?? { block: "", layer: 0 }), head };
  const store = storeOf(linkTo({ ...headPlace, lang, view: "attention" }));
  const open = /** @type {HTMLAnchorElement} */ (find("#open"));
  store.subscribe(({ link }) => link, ({ link }) => (open.href = `/?${format(link, OPTIONS)}`));
  const [root, panel] = [find("#figure"), find("#shown")];
  const message = h("span", {});
  const retry = h("button", { type: "button", className: "button" }, page.t("Try again"));
  const line = h("p", { className: "problem", role: "alert", hidden: true }, message, " ", retry);
  root.before(line);
  /** @type {ReturnType<typeof createFigure> | null} */
  let figure = null;
  return {
    /** @param {Item | null} item  null: none, and no earlier one is left standing */
    show(item) {
      panel.hidden = !item;
      if (!item) return;
      const { sentence, cell } = item;
      const { source: text, direction, target } = sentence;
      const pinned = cell ?? { query: null, key: null };
      store.go({ source: text, direction, target, ...headPlace, ...pinned });
      open.hidden = false;
      if (figure) return;
      figure = createFigure({ root, store, source, page, caption: find("#caption"), status: { root, message, line, retry } });
      void figure.run();
    },
  };
}

const { lang = "en", model = "", corpus = "", place = "", head = "0", plotly = "", catalog = "" } = find("#head").dataset;
const headPlace = { model, place, head: Number(head), corpus };
/** Parts of the address that are the search's, as the API names them. */
const SEARCHED = ["query", "key", "distance", "weight", "pattern"];

async function start() {
  const opened = await openRequestingPage({ plotly, catalog });
  bindApartFromRoom(opened);
  if (!document.querySelector("#examples")) return;
  await opened.ask(
    () => opened.api.models(),
    (infos) => {
      const info = infos.find(({ id }) => id === model);
      if (info) bindExamples(opened, info);
    },
  );
}

/**
 * @param {import("../core/page/served-page.js").RequestingPage} opened
 * @param {import("../core/wire/model-description.js").ModelInfo} info
 */
function bindExamples({ api, page, ask }, info) {
  const { t } = page;
  const ranking = /** @type {HTMLFormElement} */ (find("#ranking"));
  const search = /** @type {HTMLFormElement} */ (find("#search"));
  ranking.hidden = search.hidden = false;
  const figure = exampleFigure(page, served(api), info, { ...headPlace, lang });
  const list = createExampleList(page, figure.show);

  const rank = () => {
    const by = String(new FormData(ranking).get("by"));
    return ask((signal) => api.headExamples(headPlace, by, signal), (reply) => list.show(rankingResult(t, reply)));
  };
  /** @param {Record<string, string>} filters */
  const searchRows = (filters) => ask((signal) => api.headRows(headPlace, filters, signal), (reply) => list.show(searchResult(t, reply)));

  ranking.addEventListener("change", () => {
    search.reset();
    keep({});
    void rank();
  });
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    const entries = [...new FormData(search)].map(([name, value]) => [name, String(value).trim()]);
    const filters = Object.fromEntries(entries.filter(([, value]) => value));
    keep(filters);
    void searchRows(filters);
  });
  onReturn(window, restore);
  restore();

  /** Show what the address asks for. The server checks the values, and says which is wrong. */
  function restore() {
    const filters = searched(readQuery(window));
    search.reset();
    for (const [name, value] of Object.entries(filters)) {
      const field = search.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
    }
    list.show({ says: "", items: [] });
    showOtherLanguage(filters);
    void (Object.keys(filters).length ? searchRows(filters) : rank());
  }
}

/** The search in a query string. @param {string} query @returns {Record<string, string>} */
function searched(query) {
  const params = new URLSearchParams(query);
  return Object.fromEntries(SEARCHED.flatMap((name) => (params.get(name) ? [[name, params.get(name) ?? ""]] : [])));
}

/**
 * The query string with another search in it.
 * @param {Record<string, string>} filters
 * @param {Record<string, string>} [extra]
 */
function queryOf(filters, extra = {}) {
  const otherParameters = [...new URLSearchParams(readQuery(window))].filter(([name]) => !SEARCHED.includes(name));
  return String(new URLSearchParams({ ...Object.fromEntries(otherParameters), ...filters, ...extra }));
}

/** Put a search into the address, if it is not there. @param {Record<string, string>} filters */
function keep(filters) {
  const query = queryOf(filters);
  if (query !== queryOf(searched(readQuery(window)))) pushQuery(window, query);
  showOtherLanguage(filters);
}

/** The other language shows the same search. @param {Record<string, string>} filters */
function showOtherLanguage(filters) {
  const link = /** @type {HTMLAnchorElement} */ (find("#language"));
  link.href = `?${queryOf(filters, { lang: link.hreflang })}`;
}

void start();
