/**
 * Lessons: figures that are created when they come into view, and questions that a model answers.
 */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { explainTerms } from "../core/page/glossary.js";
import { takeHandover } from "../room/bar.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";
import { served } from "../core/store/data-sources.js";
import { bindFigures, bindSymbols, linkedFigure } from "../learn/figures.js";
import { answeredEarlier, bindLessonRoom, bindQuestions, bindVeils, showProgress } from "../learn/questions.js";
import { bindProjector } from "../learn/presentation-scenes.js";

/**
 * @typedef {object} LessonServices
 * @property {import("../core/figure/types.js").PageContext} page
 * @property {import("../core/wire/api.js").Api} api
 * @property {import("../core/store/data-sources.js").Source} source
 * @property {string} lang
 * @property {string} lesson  its name; "": none is open
 */

const { lang = "en", plotly = "", catalog = "", glossary = "", lesson = "" } = find("#learn").dataset;

async function start() {
  if (takeHandover(find("#learn").dataset)) return;
  const veils = lesson ? veilFigures() : null; // before anything is awaited
  const { api, page } = await openPage({ plotly, catalog });
  explainTerms(find("#learn"), () => api.glossary(glossary), lang);
  if (!veils) return void (bindApartFromRoom({ page, api }), showProgress(page));
  const services = { page, api, source: served(api), lang, lesson };
  const figures = bindFigures(services);
  const questions = bindQuestions(services, veils);
  bindSymbols(find("#lesson"));
  bindProjector(page);
  bindLessonRoom(services, figures, veils, questions);
}

/** In a room nothing counts as answered before. */
function veilFigures() {
  const answered = find("#learn").dataset.room ? [] : answeredEarlier(lesson);
  return bindVeils(find("#lesson"), { answered, linked: linkedFigure(window) });
}

void start();
