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
import { bindSession, openShare } from "../state/session.js";
import { createStore } from "../state/store.js";
import { initials } from "../state/options.js";
import { thumbnails } from "../state/questions.js";
import { DEFAULTS, bind, merge, read, write } from "../state/link.js";
import { OPTIONS, view } from "../views/index.js";

/**
 * @typedef {object} Context  what every part and view may use
 * @property {import("../state/store.js").Store} store
 * @property {import("../data/api.js").Api} api
 * @property {{run: () => void}} session
 * @property {import("../views/index.js").View[]} views  that are offered
 * @property {import("../draw/chart.js").Plotter} plotter
 * @property {import("../lib/i18n.js").Translate} t
 * @property {import("../lib/i18n.js").Say} say
 * @property {() => import("../draw/theme.js").Theme} theme
 * @property {() => void} restyle  after the page's colours or sizes have changed
 * @property {(listener: () => void) => void} onTheme
 * @property {(listener: () => void) => void} onResize
 * @property {() => {width: number, height: number, wide: boolean}} room  for the view
 * @property {(link: import("../state/link.js").State) => string} format  a link as a query string
 * @property {(text: string) => void} announce  to a screen reader
 * @property {() => import("../views/index.js").Mounted} shown  the view that is open
 */

const { lang = "en", share, plotly = "", catalog = "" } = find("#workspace").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const messages = await api.catalog(catalog);
  const initial = { ...DEFAULTS, ...opening(lang), lang, options: initials(OPTIONS) };
  const asked = read(window, OPTIONS);
  const store = createStore(merge(initial, share ? {} : asked, { lang }));
  const free = asked.layer === undefined && asked.head === undefined;
  const session = bindSession(store, api, { needs, asks }, { free });
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
  if (share) await openShare(store, api, share, initial, asked, OPTIONS);
  else {
    write(window, store.get().link, OPTIONS);
    session.run();
  }
}

/**
 * The tensors that the caption, the inspector and the view show.
 * @param {import("../state/store.js").Page} page
 */
function needs(page) {
  const { frame, needs } = view(page.link.view);
  const names = frame.inspector ? ["weights", "mask", "q", "k"] : ["weights", "mask"];
  return [...names.map((name) => place(page.link, name)), ...needs(page)];
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
