/** Lessons of a page without a server (docs/site.md): their figures and answers are computed in the page. */

import { explainTerms } from "../core/page/glossary.js";
import { openPage } from "../core/page/served-page.js";
import { local } from "../core/store/data-sources.js";
import { createApi } from "../core/wire/api.js";
import { completed } from "../core/wire/model-description.js";
import { Problem } from "../core/wire/reply.js";
import { bindFigures, bindSymbols, linkedFigure } from "../learn/figures.js";
import { answeredEarlier, bindQuestions, bindVeils, showProgress } from "../learn/questions.js";
import { find } from "../lib/dom.js";
import { bindLoading, keptFiles } from "../local/site-page.js";
import { fetchFromSite, folderOf, hasSimd, loadedWhenChosen } from "../local/site-model.js";
import { createSiteLab, createWorkerModel, startWorker } from "../local/worker-model.js";

/** @import { PageContext } from "../core/figure/types.js" */

const { lang = "en", catalog = "", glossary = "", lesson = "" } = find("#learn").dataset;

async function start() {
  const veils = lesson ? bindVeils(find("#lesson"), { answered: answeredEarlier(lesson), linked: linkedFigure(window) }) : null; // before anything is awaited
  const { api, page } = await openPage({ catalog }, createApi(fetchFromSite((...request) => fetch(...request))));
  explainTerms(find("#learn"), () => api.glossary(glossary), lang);
  await keptFiles();
  if (!veils) return showProgress(page);
  const services = { page, api: { ...api, lab: hasSimd() ? createSiteLab() : withoutModel }, source: await openSource(page, api), lang, lesson, isServed: false };
  bindFigures(services);
  bindQuestions(services, veils);
  bindSymbols(find("#lesson"));
}

/** The models of the page; the first says how much of it has come. @param {PageContext} page @param {import("../core/wire/api.js").Api} api */
async function openSource({ t }, { learning }) {
  const [description, ...zooModels] = await fetch("models.json").then((response) => response.json()).then((models) => models.map(completed));
  const loading = bindLoading(find("#runs-here"), t, () => window.location.reload(), t("Figures and answers of this lesson need the model."));
  if (!hasSimd()) {
    loading.fail(new Problem("no-simd"));
    return local(...[description, ...zooModels].map((lacking) => ({ description: lacking, learning, trace: withoutModel, async *lines() { await withoutModel(); } })));
  }
  const model = createWorkerModel(startWorker(), folderOf(description), description, loading.show);
  model.opened.then(loading.done, loading.fail);
  return local({ ...model, learning }, ...zooModels.map(loadedWhenChosen));
}

/** @returns {Promise<never>} */
const withoutModel = async () => {
  throw new Problem("no-simd");
};

void start();
