/** One head over many sentences: examples at each tenth of a ranking, and a search for rows. */

import { openPage } from "../core/page/page-context.js";
import { createApi } from "../core/wire/api.js";
import { find } from "../lib/dom.js";
import { onReturn, pushQuery, readQuery } from "../core/store/address.js";
import { served } from "../core/store/data-sources.js";
import { exampleFigure } from "../heads/example-figure.js";
import { createList, ofRanking, ofRows } from "../heads/found-list.js";

const { lang = "en", model = "", corpus = "", place = "", head = "0", plotly = "", catalog = "" } = find("#head").dataset;
const at = { model, place, head: Number(head), corpus };
/** Parts of the address that are the search's, as the API names them. */
const SEARCHED = ["query", "key", "distance", "weight", "pattern"];

async function start() {
  const api = createApi((...request) => fetch(...request));
  const opened = await openPage(window, api, { plotly, catalog });
  if (!document.querySelector("#examples")) return;
  await opened.ask(
    () => api.models(),
    (infos) => {
      const info = infos.find(({ id }) => id === model);
      if (info) bindExamples(opened, api, info);
    },
  );
}

/**
 * @param {import("../core/page/page-context.js").RequestingPage} opened
 * @param {import("../core/wire/api.js").Api} api
 * @param {import("../core/wire/model.js").ModelInfo} info
 */
function bindExamples({ page, ask }, api, info) {
  const { t } = page;
  const ranking = /** @type {HTMLFormElement} */ (find("#ranking"));
  const search = /** @type {HTMLFormElement} */ (find("#search"));
  ranking.hidden = search.hidden = false;
  const figure = exampleFigure(page, served(api), info, { ...at, lang });
  const list = createList(page, figure.show);

  const rank = () => {
    const by = String(new FormData(ranking).get("by"));
    return ask((signal) => api.headExamples(at, by, signal), (found) => list.show(ofRanking(t, found)));
  };
  /** @param {Record<string, string>} wanted */
  const look = (wanted) => ask((signal) => api.headRows(at, wanted, signal), (found) => list.show(ofRows(t, found)));

  ranking.addEventListener("change", () => {
    search.reset();
    keep({});
    void rank();
  });
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = [...new FormData(search)].map(([name, value]) => [name, String(value).trim()]);
    const wanted = Object.fromEntries(said.filter(([, value]) => value));
    keep(wanted);
    void look(wanted);
  });
  onReturn(window, restore);
  restore();

  /** Show what the address asks for. The server checks the values, and says which is wrong. */
  function restore() {
    const wanted = searched(readQuery(window));
    search.reset();
    for (const [name, value] of Object.entries(wanted)) {
      const field = search.elements.namedItem(name);
      if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
    }
    list.show({ says: "", items: [] });
    other(wanted);
    void (Object.keys(wanted).length ? look(wanted) : rank());
  }
}

/** The search in a query string. @param {string} query @returns {Record<string, string>} */
function searched(query) {
  const said = new URLSearchParams(query);
  return Object.fromEntries(SEARCHED.flatMap((name) => (said.get(name) ? [[name, said.get(name) ?? ""]] : [])));
}

/**
 * The query string with another search in it.
 * @param {Record<string, string>} wanted
 * @param {Record<string, string>} [more]
 */
function queryOf(wanted, more = {}) {
  const rest = [...new URLSearchParams(readQuery(window))].filter(([name]) => !SEARCHED.includes(name));
  return String(new URLSearchParams({ ...Object.fromEntries(rest), ...wanted, ...more }));
}

/** Put a search into the address, if it is not there. @param {Record<string, string>} wanted */
function keep(wanted) {
  const query = queryOf(wanted);
  if (query !== queryOf(searched(readQuery(window)))) pushQuery(window, query);
  other(wanted);
}

/** The other language shows the same search. @param {Record<string, string>} wanted */
function other(wanted) {
  const link = /** @type {HTMLAnchorElement} */ (find("#language"));
  link.href = `?${queryOf(wanted, { lang: link.hreflang })}`;
}

void start();
