/** A study: the tests of a participant or, with its key, the results. */

import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { wording } from "../core/figure/problem-wording.js";
import { readFragment, writeFragment } from "../core/store/address.js";
import { createApi } from "../core/wire/api.js";
import { Problem, failure } from "../core/wire/problem.js";
import { find, h } from "../lib/dom.js";
import { keepPart, partIn, studyKeys } from "../study/kept-studies.js";
import { showParticipant } from "../study/participant.js";
import { showStudyResults } from "../study/results.js";

const { lang = "en", catalog = "", study: id = "", title = "" } = find("#learn").dataset;
const OWNER = "results";

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  const root = find("#sheet");
  const reply = await api.readStudy(id).catch(failure);
  if (reply instanceof Problem) return root.replaceChildren(h("p", { className: "problem", role: "alert" }, wording(page.t, reply)));
  takeSecret();
  const owner = studyKeys.keyOf(id) !== "";
  const results = owner && readFragment(window) === OWNER;
  find("#owner").hidden = !owner;
  find(results ? "#owner [href='#results']" : "#owner [href='#']").setAttribute("aria-current", "page");
  const services = { page, api, root, lang };
  if (results) showStudyResults(services, reply);
  else showParticipant(services, reply);
  window.addEventListener("hashchange", () => window.location.reload());
}

/**
 * The author's link has the key in its fragment, and a participant's own link has the token; no
 * server sees either. It is kept in this browser and taken out of the address bar, so that an
 * address that is copied from there does not give it away.
 */
function takeSecret() {
  const [word, secret = ""] = readFragment(window).split("=");
  if (!secret) return;
  if (word === "key") studyKeys.remember({ id, title, key: decodeURIComponent(secret) });
  else if (word === "me" && partIn(id)?.member !== secret) keepPart(id, { member: decodeURIComponent(secret), read: false, answers: [] });
  writeFragment(window, word === "key" ? OWNER : "");
}

void start();
