/** What every part and view is given to work with, on the page and in a handout alike. */

import { createPlotter } from "../draw/plotly.js";
import { find } from "../lib/dom.js";
import { translator } from "../lib/i18n.js";
import { bindTheme, theme } from "../draw/theme.js";
import { format } from "../state/link.js";
import { OPTIONS, VIEWS } from "../views/index.js";

/** @typedef {import("../state/contract.js").Context} Context */

/**
 * @param {import("../state/store.js").Store} store
 * @param {import("../data/api.js").Api} api
 * @param {Context["session"]} session
 * @param {import("../lib/i18n.js").Messages} messages
 * @param {string} [plotly]  where plotly.js is; absent: nowhere
 * @returns {Context}
 */
export function createContext(store, api, session, messages, plotly) {
  /** @type {(() => void)[]} */
  const themed = [];
  /** @type {(() => void)[]} */
  const resized = [];
  /** @type {import("../draw/theme.js").Theme | null} */
  let present = null;
  const restyle = () => {
    present = null;
    themed.forEach((listener) => listener());
  };
  bindTheme(window, find("#theme"), restyle);
  // Asking where something lies makes the browser lay the page out at once: asked once a change.
  let now = room();
  const look = () => {
    const { width } = now;
    now = room();
    if (now.width !== width) resized.forEach((listener) => listener());
  };
  const observer = new ResizeObserver(look);
  document.querySelectorAll("#view, .band").forEach((place) => observer.observe(place));
  window.addEventListener("resize", look);
  // Of another view the stage asks for it, when all that stands around the view has changed.
  store.subscribe(({ trace, link }) => [trace, link.options], () => void (now = room()));
  return {
    store,
    api,
    session,
    views: VIEWS,
    plotter: plotly ? createPlotter(document, plotly) : null,
    ...translator(messages),
    theme: () => (present ??= theme(window)),
    restyle,
    onTheme: (listener) => themed.push(listener),
    onResize: (listener) => resized.push(listener),
    room: () => now,
    measure: () => void (now = room()),
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
