/**
 * A page in one file: it contains the trace, and the page's modules draw it. There is no server,
 * and the address bar is not used. In a notebook a kernel may run its model again (notebook-kernel.js).
 */

import { place } from "../core/wire/model-description.js";
import { openingHead } from "../core/store/highlight.js";
import { bindStage, createPageServices } from "../workspace/main-figure.js";
import { find } from "../lib/dom.js";
import { opening } from "../core/store/examples-and-tasks.js";
import { viewsInShare } from "../core/store/share-contents.js";
import { isLong } from "../core/wire/long-texts.js";
import { bindChangeButtons, bindChanges } from "../workspace/interventions.js";
import { bindCertainty, bindChips } from "../workspace/token-chips.js";
import { bindExport } from "../workspace/export-menu.js";
import { bindInspector, surroundingNeeds } from "../workspace/inspector.js";
import { bindPickers } from "../workspace/model-map.js";
import { bindNarrowPanels, bindOptions } from "../workspace/narrow-screen.js";
import { fittedLink } from "../core/store/link.js";
import { frozen } from "../core/store/data-sources.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS, VIEWS, offered } from "../views/index.js";

/** @import { PageServices } from "../workspace/main-figure.js" */
/** @import { Page } from "../core/store/store.js" */
/** @typedef {Page & {trace: NonNullable<Page["trace"]>, model: NonNullable<Page["model"]>, share: NonNullable<Page["share"]>}} Opened */

/**
 * Draw what the page contains.
 * @param {import("../core/wire/api.js").Api} api
 * @returns {Promise<PageServices>}
 */
export async function openHandout(api) {
  const root = find("#workspace");
  const { lang = "en" } = root.dataset;
  const initial = linkTo({ ...opening(lang), lang });
  const source = frozen(api, { id: "handout", initial, options: OPTIONS });
  const opened = /** @type {Opened} */ (await source.open?.(initial));
  const { trace, model, share } = opened;
  const nearestLink = fittedLink(initial, model);
  const drawnPage = { ...opened, link: nearestLink };
  const views = isLong(trace) ? offered(drawnPage) : viewsInShare(drawnPage, VIEWS);
  const offer = opened.live ? offered : () => views;
  const store = storeOf(initial, offer);
  const status = { root: document.documentElement, busy: find("#stage") };
  const beside = opened.live ? surroundingNeeds : undefined;
  const plan = { store, source: { ...source, open: async () => opened }, offer, beside, status };
  const services = createPageServices(plan, api);
  document.documentElement.toggleAttribute("data-long", isLong(trace));
  root.classList.toggle("few", !trace.tensors[place(model, nearestLink, "q")]);
  for (const part of [bindChips, bindCertainty, bindChanges, bindStage, bindPickers, bindNarrowPanels, bindOptions, bindInspector, bindFrame]) part(services);
  if (opened.live) {
    bindChangeButtons(services);
    document.querySelector("#rounding")?.remove(); // the kernel has all weights as they are
  }
  bindExport(services, ["png", "svg", "pdf", "csv"]);
  await services.figure.run();
  if (share.state.layer === undefined && share.state.head === undefined)
    store.go(openingHead(trace, model, store.get().link));
  return services;
}

/**
 * The model and date, the link to the live page, and printing.
 * @param {PageServices} services
 */
function bindFrame({ store, t, format: query }) {
  const { home = "" } = find("#workspace").dataset;
  const live = /** @type {HTMLAnchorElement} */ (find("#open-live"));
  find("#print").addEventListener("click", () => window.print());
  const part = (/** @type {Page} */ { share, link }) => [share, link];
  store.subscribe(part, ({ share, link }) => {
    if (!share) return;
    find("#source").textContent = [link.source, link.pair].filter(Boolean).join(" · ");
    const date = new Date(share.created).toLocaleDateString(document.documentElement.lang, {
      dateStyle: "long",
    });
    find("#frozen-says").textContent = t("{when}, as {model} ({digest}) saw it.", {
      when: date,
      model: share.model.name,
      digest: share.model.digest.slice(0, 12),
    });
    live.hidden = !home;
    if (home) live.href = `${home}/?${query(link)}`;
  });
}
