/**
 * A page in one file: it contains the trace, and the page's modules draw it. There is no server,
 * and the address bar is not used.
 */

import { createApi } from "../data/api.js";
import { blocks, place } from "../data/attentions.js";
import { opener } from "../state/highlight.js";
import { createDesk } from "./main-figure.js";
import { find } from "../lib/dom.js";
import { joined, unpacked } from "../lib/packed.js";
import { opening } from "../data/examples.js";
import { held } from "../state/share-contents.js";
import { bindChanges } from "../chrome/intervention-chips.js";
import { bindChips } from "../chrome/token-chips.js";
import { bindExport } from "../chrome/export-menu.js";
import { bindInspector } from "../chrome/inspector.js";
import { bindPickers } from "../chrome/head-pickers.js";
import { bindOptions } from "../chrome/options-panel.js";
import { bindSheets } from "../chrome/sheets.js";
import { bindStage } from "../chrome/view-tabs.js";
import { nearest } from "../state/reconcile-link.js";
import { frozen } from "../state/data-sources.js";
import { lacking } from "../state/tensor-cache.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS, VIEWS } from "../views/index.js";

/** @typedef {import("../chrome/types.js").Desk} Desk */
/** @typedef {import("../state/store.js").Page} Page */
/** @typedef {Page & {trace: NonNullable<Page["trace"]>, model: NonNullable<Page["model"]>, share: NonNullable<Page["share"]>}} Opened */

const root = find("#workspace");
const { lang = "en", home = "" } = root.dataset;

async function start() {
  const header = await unpacked(find("#trace")).arrayBuffer();
  const file = new Blob([header, joined(await unpacked(find("#trace-planes")).arrayBuffer())]);
  // An API object whose only reply is the one in the file.
  const api = createApi(async (path) =>
    String(path).startsWith("/api/shares/") ? new Response(file) : Promise.reject(new TypeError()),
  );
  const initial = linkTo({ ...opening(lang), lang });
  const source = frozen(api, { id: "handout", initial, options: OPTIONS });
  const opened = /** @type {Opened} */ (await source.open?.(initial));
  const { trace, model, share } = opened;
  const there = nearest(initial, model);
  const views = enough({ ...opened, link: there });
  const offer = () => views;
  const store = storeOf(initial, offer);
  const messages = await unpacked(find("#messages")).json();
  const status = { root: document.documentElement, busy: find("#stage") };
  const plan = { store, source: { ...source, open: async () => opened }, offer, status };
  const desk = createDesk(plan, api, { messages });
  root.classList.toggle("few", !trace.tensors[place(model, there, "q")]);
  for (const part of [bindChips, bindChanges, bindStage, bindPickers, bindSheets, bindOptions, bindInspector, bindFrame]) part(desk);
  bindExport(desk, ["png", "svg", "pdf", "csv"]);
  await desk.figure.run();
  if (share.state.layer === undefined && share.state.head === undefined)
    store.go(opener(trace, model, store.get().link));
}

/**
 * The views for which the file is sufficient: those that need no other tensors or requests.
 * @param {Page} page
 */
function enough(page) {
  return VIEWS.filter(
    ({ needs, asks, live, blocks: suits = () => true }) =>
      !live &&
      blocks(page.model).some(suits) &&
      !lacking(page.trace, needs(page)).length &&
      (asks?.(page) ?? []).every((question) => held(page, question)),
  );
}

/**
 * The model and date, the link to the live page, and printing.
 * @param {Desk} desk
 */
function bindFrame({ store, t, format: query }) {
  const live = /** @type {HTMLAnchorElement} */ (find("#open-live"));
  find("#print").addEventListener("click", () => window.print());
  onPaper(/** @type {HTMLButtonElement} */ (find("#theme")));
  const part = (/** @type {Page} */ { share, link }) => [share, link];
  store.subscribe(part, ({ share, link }) => {
    if (!share) return;
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
 * Print in the light theme.
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
