/** Puts the page together: the link becomes the state, the parts hear of it, the first trace is asked for. */

import { createApi } from "./api.js";
import { place } from "./blocks.js";
import { createContext } from "./context.js";
import { find } from "./dom.js";
import { opening } from "./examples.js";
import { bindAnnouncer } from "./parts/announcer.js";
import { bindCaption } from "./parts/caption.js";
import { bindChanges } from "./parts/changes.js";
import { bindChips } from "./parts/chips.js";
import { bindChrome } from "./parts/chrome.js";
import { bindExport } from "./parts/export.js";
import { bindHelp } from "./parts/help.js";
import { bindInspector } from "./parts/inspector.js";
import { bindKeys } from "./parts/keys.js";
import { bindPickers } from "./parts/pickers.js";
import { bindProblems } from "./parts/problems.js";
import { bindProjector } from "./parts/projector.js";
import { bindSentence } from "./parts/sentence.js";
import { bindShare } from "./parts/share.js";
import { bindStage } from "./parts/stage.js";
import { bindSwitches } from "./parts/switches.js";
import { bindSession, openShare } from "./session.js";
import { createStore } from "./store.js";
import { initials } from "./options.js";
import { thumbnails } from "./questions.js";
import { DEFAULTS, bind, merge, read, write } from "./url.js";
import { OPTIONS, view } from "./views/index.js";

/**
 * @typedef {object} Context  what every part and view may use
 * @property {import("./store.js").Store} store
 * @property {import("./api.js").Api} api
 * @property {{run: () => void}} session
 * @property {import("./views/index.js").View[]} views  that are offered
 * @property {import("./chart.js").Plotter} plotter
 * @property {import("./i18n.js").Translate} t
 * @property {import("./i18n.js").Say} say
 * @property {() => import("./theme.js").Theme} theme
 * @property {() => void} restyle  after the page's colours or sizes have changed
 * @property {(listener: () => void) => void} onTheme
 * @property {(listener: () => void) => void} onResize
 * @property {() => {width: number, height: number, wide: boolean}} room  for the view
 * @property {(link: import("./url.js").State) => string} format  a link as a query string
 * @property {(text: string) => void} announce  to a screen reader
 * @property {() => import("./views/index.js").Mounted} shown  the view that is open
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
 * @param {import("./store.js").Page} page
 */
function needs(page) {
  const { frame, needs } = view(page.link.view);
  const names = frame.inspector ? ["weights", "mask", "q", "k"] : ["weights", "mask"];
  return [...names.map((name) => place(page.link, name)), ...needs(page)];
}

/**
 * What the pickers and the view show of other runs, layers and tables.
 * @param {import("./store.js").Page} page
 */
function asks(page) {
  const { frame, asks } = view(page.link.view);
  const pictures = frame.rail !== "none" && !page.share ? [thumbnails(page)] : [];
  return [...pictures, ...(asks?.(page) ?? [])];
}

void start();
