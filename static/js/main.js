/** Puts the page together: the link becomes the state, the parts hear of it, the first trace is asked for. */

import { createApi } from "./api.js";
import { createPlotter } from "./chart.js";
import { place } from "./blocks.js";
import { find } from "./dom.js";
import { opening } from "./examples.js";
import { translator } from "./i18n.js";
import { bindCaption } from "./parts/caption.js";
import { bindChips } from "./parts/chips.js";
import { bindChrome } from "./parts/chrome.js";
import { bindInspector } from "./parts/inspector.js";
import { bindPickers } from "./parts/pickers.js";
import { bindProblems } from "./parts/problems.js";
import { bindSentence } from "./parts/sentence.js";
import { bindShare } from "./parts/share.js";
import { bindStage } from "./parts/stage.js";
import { bindSession, openShare } from "./session.js";
import { createStore } from "./store.js";
import { bindTheme, theme } from "./theme.js";
import { initials } from "./options.js";
import { thumbnails } from "./questions.js";
import { DEFAULTS, bind, format, merge, read, write } from "./url.js";
import { OPTIONS, view } from "./views/index.js";

/**
 * @typedef {object} Context  what every part and view may use
 * @property {import("./store.js").Store} store
 * @property {import("./api.js").Api} api
 * @property {{run: () => void}} session
 * @property {import("./chart.js").Plotter} plotter
 * @property {import("./i18n.js").Translate} t
 * @property {import("./i18n.js").Say} say
 * @property {() => import("./theme.js").Theme} theme
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
  const context = createContext(store, api, session, messages);

  bind(window, store, initial, OPTIONS);
  for (const part of [
    bindSentence,
    bindChips,
    bindStage,
    bindPickers,
    bindCaption,
    bindInspector,
    bindProblems,
    bindShare,
    bindChrome,
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

/**
 * @param {import("./store.js").Store} store
 * @param {import("./api.js").Api} api
 * @param {Context["session"]} session
 * @param {import("./i18n.js").Messages} messages
 * @returns {Context}
 */
function createContext(store, api, session, messages) {
  /** @type {(() => void)[]} */
  const themed = [];
  /** @type {(() => void)[]} */
  const resized = [];
  bindTheme(window, find("#theme"), () => themed.forEach((listener) => listener()));
  let width = 0;
  new ResizeObserver(() => {
    const now = room().width;
    if (now !== width) resized.forEach((listener) => listener());
    width = now;
  }).observe(find("#view"));
  return {
    store,
    api,
    session,
    plotter: createPlotter(document, plotly),
    ...translator(messages),
    theme: () => theme(window),
    onTheme: (listener) => themed.push(listener),
    onResize: (listener) => resized.push(listener),
    room,
    format: (link) => format(link, OPTIONS),
    announce: (text) => (find("#announce").textContent = text),
    shown: () => {
      throw new Error("no view is open yet");
    },
  };
}

/** Room for a view: as wide as its place, and as high as keeps all of it on the screen. */
function room() {
  const place = find("#view").getBoundingClientRect();
  const wide = window.innerWidth >= 900;
  const left = window.innerHeight - (place.top + window.scrollY) - 40;
  return {
    width: Math.floor(place.width),
    height: wide ? Math.max(360, left) : window.innerHeight * 0.7,
    wide,
  };
}

void start();
