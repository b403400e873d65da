/** One head over many sentences: examples at each tenth of a ranking, and a search for rows. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { openRequestingPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";
import { onReturn, pushQuery, readQuery } from "../core/store/address.js";
import { served } from "../core/store/data-sources.js";
import { createExampleList, exampleFigure, rankingResult, searchResult } from "../heads/example-sentences.js";

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
 * @param {import("../core/wire/model.js").ModelInfo} info
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
