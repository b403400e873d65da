/** An assignment: its questions or, with its key, what was answered. */

import { createApi } from "../core/wire/api.js";
import { Problem, failure } from "../core/wire/problem.js";
import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { find, h } from "../lib/dom.js";
import { wording } from "../core/figure/problem-wording.js";
import { readFragment, writeFragment } from "../core/store/address.js";
import { assignmentKey, rememberAssignment } from "../assignment/kept-assignments.js";
import { showResults } from "../assignment/results.js";
import { showSheet } from "../assignment/answer-sheet.js";

const { lang = "en", catalog = "", assignment: id = "", title = "" } = find("#learn").dataset;
const OWNER = "answers";

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  const root = find("#sheet");
  const reply = await api.readAssignment(id).catch(failure);
  if (reply instanceof Problem) return root.replaceChildren(h("p", { className: "problem", role: "alert" }, wording(page.t, reply)));
  takeKey();
  const services = { page, api, root, lang };
  const owner = assignmentKey(id) !== "";
  const results = owner && readFragment(window) === OWNER;
  find("#owner").hidden = !owner;
  find(results ? "#owner [href='#answers']" : "#owner [href='#']").setAttribute("aria-current", "page");
  find("#how").hidden = results;
  if (results) showResults(services, reply);
  else showSheet(services, reply);
  window.addEventListener("hashchange", () => window.location.reload());
}

/**
 * The author's link has the key in its fragment, which no server sees. It is kept in this browser
 * and taken out of the address bar, so that an address that is copied from there does not give it
 * away.
 */
function takeKey() {
  const [word, key = ""] = readFragment(window).split("=");
  if (word !== "key" || !key) return;
  rememberAssignment({ id, title, key: decodeURIComponent(key) });
  writeFragment(window, OWNER);
}

void start();
