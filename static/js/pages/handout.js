/**
 * A page in one file: the trace lies in it, and the page's own parts draw it. There is no server to
 * ask and no address bar to write to.
 */

import { createApi } from "../data/api.js";
import { place } from "../data/blocks.js";
import { opener } from "../state/lit.js";
import { createContext } from "./context.js";
import { find } from "../lib/dom.js";
import { opening } from "../data/examples.js";
import { held } from "../state/frozen.js";
import { initials } from "../state/options.js";
import { bindCaption } from "../chrome/caption.js";
import { bindChanges } from "../chrome/model-changes.js";
import { bindChips } from "../chrome/token-chips.js";
import { bindExport } from "../chrome/export-menu.js";
import { bindInspector } from "../chrome/inspector.js";
import { bindPickers } from "../chrome/head-pickers.js";
import { bindStage } from "../chrome/stage.js";
import { bindSession } from "../state/session.js";
import { nearest, settler } from "../state/settled.js";
import { createStore } from "../state/store.js";
import { DEFAULTS } from "../state/link.js";
import { OPTIONS, VIEWS, view } from "../views/index.js";

/** @typedef {import("../state/contract.js").Context} Context */

const root = find("#workspace");
const { lang = "en", home = "" } = root.dataset;

async function start() {
  const [file, plotly] = await Promise.all([unpack("#trace"), unpack("#plotly")]);
  // The API that the page speaks to, with one answer: the file's.
  const api = createApi(async (path) =>
    String(path).startsWith("/api/shares/") ? new Response(file) : Promise.reject(new TypeError()),
  );
  const initial = { ...DEFAULTS, ...opening(lang), lang, options: initials(OPTIONS) };
  const store = createStore(initial, settler(view));
  const wishes = {
    needs: () => [],
    asks: (/** @type {import("../state/store.js").Page} */ page) => view(page.link.view).asks?.(page) ?? [],
  };
  const frozen = { id: "handout", initial, asked: {}, options: OPTIONS };
  const session = bindSession(store, api, wishes, { frozen });
  const messages = JSON.parse(find("#messages").textContent ?? "{}");
  const script = URL.createObjectURL(new Blob([plotly], { type: "text/javascript" }));
  const context = createContext(store, api, session, messages, script);
  const share = await api.readShare("handout");
  const { trace, model, state } = share;
  root.classList.toggle("few", !trace.tensors[place(model, nearest(initial, model), "q")]);
  context.views = enough({ ...store.get(), share, trace, model, live: false });
  for (const part of [bindChips, bindChanges, bindStage, bindPickers, bindCaption, bindInspector, bindFrame])
    part(context);
  bindExport(context, ["png", "svg", "csv"]);
  await session.run();
  const { view: shown } = store.get().link;
  store.batch(() => {
    if (!context.views.includes(view(shown))) store.go({ view: initial.view });
    if (state.layer === undefined && state.head === undefined)
      store.go(opener(trace, model, store.get().link));
  });
}

/**
 * The views that the file holds enough for: those that show no other tensors and ask nothing else.
 * @param {import("../state/store.js").Page} page
 */
function enough(page) {
  return VIEWS.filter(
    ({ needs, asks, live }) =>
      !live &&
      needs(page).every((name) => page.trace?.tensors[name]) &&
      (asks?.(page) ?? []).every((question) => held(page, question)),
  );
}

/**
 * @param {string} selector  of data in base 64, compressed with gzip
 * @returns {Promise<ArrayBuffer>}
 */
function unpack(selector) {
  const bytes = Uint8Array.from(atob(find(selector).textContent ?? ""), (c) => c.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(plain).arrayBuffer();
}

/**
 * Who saw this and when, the way back to the live page, paper.
 * @param {Context} context
 */
function bindFrame({ store, t, format: query }) {
  const live = /** @type {HTMLAnchorElement} */ (find("#open-live"));
  find("#print").addEventListener("click", () => window.print());
  onPaper(/** @type {HTMLButtonElement} */ (find("#theme")));
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape") return;
    store.hover(null);
    store.go({ query: null, key: null });
  });
  const part = (/** @type {import("../state/store.js").Page} */ { share, link, status }) => [share, link, status];
  store.subscribe(part, ({ share, link, status }) => {
    document.documentElement.dataset.status = status;
    if (!share) return;
    find("#stage").setAttribute("aria-busy", "false");
    find("#source").textContent = link.source;
    const when = new Date(share.created).toLocaleDateString(document.documentElement.lang, {
      dateStyle: "long",
    });
    find("#frozen-says").textContent = t("{when}, as {model} ({digest}) saw it.", {
      when,
      model: share.model.name,
      digest: share.model.digest.slice(0, 12),
    });
    live.hidden = !home;
    if (home) live.href = `${home}/?${query(link)}`;
  });
}

/**
 * Paper is white.
 * @param {HTMLButtonElement} theme
 */
function onPaper(theme) {
  const dark = () => theme.getAttribute("aria-pressed") === "true";
  let turned = false;
  window.addEventListener("beforeprint", () => {
    turned = dark();
    if (turned) theme.click();
  });
  window.addEventListener("afterprint", () => turned && theme.click());
}

void start();
