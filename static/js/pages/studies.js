/** The studies that this browser created, and a new one. */

import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { createApi } from "../core/wire/api.js";
import { Problem, failure } from "../core/wire/problem.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { studyKeys } from "../study/kept-studies.js";
import { createStudyMaker } from "../study/new-study.js";

const { lang = "en", catalog = "", lessons = "[]" } = find("#learn").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  createStudyMaker({ page, api, lang, root: find("#maker"), lessons: JSON.parse(lessons) });
  await showOwn(page, api);
}

/**
 * Those that were deleted elsewhere are no longer listed.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 */
async function showOwn({ t }, api) {
  const item = (/** @type {{id: string, title: string}} */ { id, title }) =>
    el("li", { key: id }, el("a", { className: "name", href: `/study/${id}?lang=${lang}#results` }, title || id), el("a", { className: "button quiet", href: `/study/${id}?lang=${lang}` }, t("As participants see it")));
  const draw = () => {
    const studies = studyKeys.all();
    find("#mine").hidden = !studies.length;
    render(find("#mine-list"), studies.map(item));
  };
  draw();
  for (const { id } of studyKeys.all()) {
    const reply = await api.readStudy(id).catch(failure);
    if (reply instanceof Problem && reply.kind === "unknown-study") studyKeys.forget(id);
  }
  draw();
}

void start();
