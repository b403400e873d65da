/** A share in a frame of someone else's page: its view and its caption, and nothing around them. */

import { createApi } from "../data/api.js";
import { createContext } from "./context.js";
import { find } from "../lib/dom.js";
import { initials } from "../state/options.js";
import { bindCaption } from "../chrome/caption.js";
import { bindChanges } from "../chrome/model-changes.js";
import { wording } from "../parts/wording.js";
import { bindStage } from "../chrome/stage.js";
import { bindSession } from "../state/session.js";
import { settler } from "../state/settled.js";
import { createStore } from "../state/store.js";
import { DEFAULTS } from "../state/link.js";
import { read } from "../state/address.js";
import { OPTIONS, view } from "../views/index.js";

/** @typedef {import("../state/store.js").Page} Page */

const { lang = "en", share = "", plotly = "", catalog = "" } = find("#workspace").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const messages = await api.catalog(catalog);
  const initial = { ...DEFAULTS, lang, options: initials(OPTIONS) };
  const store = createStore(initial, settler(view));
  const wishes = {
    needs: (/** @type {Page} */ page) => view(page.link.view).needs(page),
    asks: (/** @type {Page} */ page) => view(page.link.view).asks?.(page) ?? [],
  };
  const frozen = { id: share, initial, asked: read(window, OPTIONS), options: OPTIONS };
  const session = bindSession(store, api, wishes, { frozen });
  const context = createContext(store, api, session, messages, plotly);
  for (const part of [bindChanges, bindStage, bindCaption, bindStatus, bindEscape]) part(context);
  await session.run();
}

/** @param {import("../state/contract.js").Context} context */
function bindStatus({ store, t }) {
  const says = find("#embed-says");
  const show = () => {
    const { status, problem, trace } = store.get();
    document.documentElement.dataset.status = status;
    document.documentElement.dataset.picture = trace ? "drawn" : "none";
    find("#stage").setAttribute("aria-busy", String(status === "waiting"));
    says.hidden = !problem;
    says.textContent = problem ? wording(t, problem) : "";
  };
  store.subscribe(({ status, problem, trace }) => [status, problem, trace], show);
  show();
}

/** @param {import("../state/contract.js").Context} context */
function bindEscape({ store }) {
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    store.hover(null);
    store.go({ query: null, key: null });
  });
}

void start();
