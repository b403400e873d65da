/** The assignments that this browser created, and a new one, from the questions of links. */

import { createApi } from "../core/wire/api.js";
import { Problem, failure } from "../core/wire/problem.js";
import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { find } from "../lib/dom.js";
import { el, render } from "../lib/render.js";
import { readQuery } from "../core/store/address.js";
import { forgetAssignment, ownAssignments } from "../assignment/kept-assignments.js";
import { keptCollections } from "../core/store/kept-collections.js";
import { createMaker } from "../assignment/new-assignment.js";

const { lang = "en", catalog = "" } = find("#learn").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  const maker = createMaker({ page, api, lang, root: find("#maker"), menu: find("#taken"), collections: keptCollections() });
  const of = new URLSearchParams(readQuery(window)).get("of");
  if (of) void maker.take(of);
  await showOwn(page, api);
}

/**
 * Those that were deleted elsewhere are no longer listed.
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {import("../core/wire/api.js").Api} api
 */
async function showOwn({ t }, api) {
  const item = (/** @type {import("../assignment/kept-assignments.js").OwnAssignment} */ { id, title }) =>
    el("li", { key: id }, el("a", { className: "name", href: `/a/${id}?lang=${lang}#answers` }, title || id), el("a", { className: "button quiet", href: `/a/${id}?lang=${lang}` }, t("As students see it")));
  const draw = () => {
    const assignments = ownAssignments();
    find("#mine").hidden = !assignments.length;
    render(find("#mine-list"), assignments.map(item));
  };
  draw();
  for (const { id } of ownAssignments()) {
    const reply = await api.readAssignment(id).catch(failure);
    if (reply instanceof Problem && reply.kind === "unknown-assignment") forgetAssignment(id);
  }
  draw();
}

void start();
