/** Puts the page together: the link becomes the state, the parts hear of it, the first trace is asked for. */

import { createApi } from "../data/api.js";
import { place } from "../data/blocks.js";
import { createContext } from "./context.js";
import { find } from "../lib/dom.js";
import { opening } from "../data/examples.js";
import { bindAnnouncer } from "../chrome/announcer.js";
import { bindCaption } from "../chrome/caption.js";
import { bindChanges } from "../chrome/model-changes.js";
import { bindChips } from "../chrome/token-chips.js";
import { bindChrome } from "../chrome/shell.js";
import { bindExport } from "../chrome/export-menu.js";
import { bindHelp } from "../chrome/help.js";
import { bindInspector } from "../chrome/inspector.js";
import { bindKeys } from "../chrome/shortcuts.js";
import { bindPickers } from "../chrome/head-pickers.js";
import { bindProblems } from "../chrome/problem-notices.js";
import { bindProjector } from "../chrome/projector.js";
import { bindSentence } from "../chrome/sentence-box.js";
import { bindShare } from "../chrome/share-menu.js";
import { bindStage } from "../chrome/stage.js";
import { bindSwitches } from "../chrome/quick-changes.js";
import { bindSession } from "../state/session.js";
import { settler } from "../state/settled.js";
import { createStore } from "../state/store.js";
import { initials } from "../state/options.js";
import { thumbnails } from "../state/questions.js";
import { DEFAULTS, merge } from "../state/link.js";
import { bind, read, write } from "../state/address.js";
import { OPTIONS, view } from "../views/index.js";

const { lang = "en", share, plotly = "", catalog = "" } = find("#workspace").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const messages = await api.catalog(catalog);
  const initial = { ...DEFAULTS, ...opening(lang), lang, options: initials(OPTIONS) };
  const asked = read(window, OPTIONS);
  const store = createStore(merge(initial, share ? {} : asked, { lang }), settler(view));
  const free = asked.layer === undefined && asked.head === undefined;
  const frozen = share ? { id: share, initial, asked, options: OPTIONS } : null;
  const session = bindSession(store, api, { needs, asks, viewOf: view }, { free, frozen });
  const context = createContext(store, api, session, messages, plotly);

  bind(window, store, initial, OPTIONS);
  for (const part of [
    bindProjector,
    bindSentence,
    bindChips,
    bindChanges,
    bindStage,
    bindPickers,
    bindSwitches,
    bindCaption,
    bindAnnouncer,
    bindInspector,
    bindProblems,
    bindShare,
    bindExport,
    bindChrome,
    bindHelp,
    bindKeys,
  ]) {
    part(context);
  }
  if (!share) write(window, store.get().link, OPTIONS);
  await session.run();
}

/**
 * The tensors that the caption, the inspector and the view show.
 * @param {import("../state/store.js").Page} page
 */
function needs(page) {
  const { frame, needs } = view(page.link.view);
  const names = frame.inspector ? ["weights", "mask", "q", "k"] : ["weights", "mask"];
  return [...names.map((name) => place(page.model, page.link, name)), ...needs(page)];
}

/**
 * What the pickers and the view show of other runs, layers and tables.
 * @param {import("../state/store.js").Page} page
 */
function asks(page) {
  const { frame, asks } = view(page.link.view);
  const pictures = frame.rail !== "none" && !page.share ? [thumbnails(page)] : [];
  return [...pictures, ...(asks?.(page) ?? [])];
}

void start();
