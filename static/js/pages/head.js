/** One head over many sentences: examples at each tenth of a ranking, and a search for rows. */

import { openPage } from "../chrome/requesting-page.js";
import { createApi } from "../data/api.js";
import { find } from "../lib/dom.js";
import { served } from "../state/data-sources.js";
import { exampleFigure } from "./head/example-figure.js";
import { createList, ofRanking, ofRows } from "./head/found-list.js";

const { lang = "en", model = "", corpus = "", place = "", head = "0", plotly = "", catalog = "" } = find("#head").dataset;
const at = { model, place, head: Number(head), corpus };

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
 * @param {import("../chrome/requesting-page.js").RequestingPage} opened
 * @param {import("../data/api.js").Api} api
 * @param {import("../data/api.js").ModelInfo} info
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
  ranking.addEventListener("change", () => void rank());
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    const said = [...new FormData(search)].map(([name, value]) => [name, String(value).trim()]);
    const wanted = Object.fromEntries(said.filter(([, value]) => value));
    void ask((signal) => api.headRows(at, wanted, signal), (found) => list.show(ofRows(t, found)));
  });
  void rank();
}

void start();
