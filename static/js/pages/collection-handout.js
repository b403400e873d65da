/** A collection in one file: every item's numbers are in it, and its figures draw them. */

import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { find, h } from "../lib/dom.js";
import { unpacked } from "../lib/unpack-bytes.js";
import { createApi } from "../core/wire/api.js";
import { createLabFigure } from "../lab/figure/lab-figure.js";
import { frozen } from "../core/store/data-sources.js";
import { labOfShare } from "../lab/lab-link.js";
import { fetchFromHandout } from "../share/share-in-handout.js";
import { viewsInShare } from "../core/store/share-contents.js";
import { createFigure, linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS, VIEWS } from "../views/index.js";
import { isOff } from "../core/store/interventions.js";
import { extent } from "../core/wire/model-description.js";
import { languages } from "../core/wire/tokens.js";

/** @import { Page } from "../core/store/store.js" */

const { lang = "en" } = find("#learn").dataset;

async function start() {
  const page = createPageContext(window, { live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  find("#print").addEventListener("click", () => window.print());
  for (const element of document.querySelectorAll("figure.live")) {
    const { page: kind, item = "", about = "" } = /** @type {HTMLElement} */ (element).dataset;
    const stand = find(".stand", element);
    if (kind === "lab") createLabFigure({ root: stand, page, ...labOfShare(await unpacked(find(`#item-${item}-data`)).json()), compute: null, choices: false, about: about.split(" ").filter(Boolean) });
    else await ofTrace(page, stand, item);
  }
}

/** @param {import("../core/figure/types.js").PageContext} page @param {HTMLElement} stand @param {string} item */
async function ofTrace(page, stand, item) {
  const initial = linkTo({ lang });
  const source = frozen(createApi(fetchFromHandout(`item-${item}-data`)), { id: `item-${item}`, initial, options: OPTIONS });
  const frozenPage = /** @type {Page} */ (await source.open?.(initial));
  const views = viewsInShare(frozenPage, VIEWS);
  const store = storeOf(initial, () => views);
  const { trace, link } = frozenPage;
  // Set by the server if the figure is another one.
  const serverRemark = stand.closest(".item")?.querySelector(".remark");
  const lost = !serverRemark && !views.some(({ id }) => id === link.view);
  const [from, to] = languages(trace?.direction ?? "");
  const caption = h("p", { className: "caption" });
  const legend = h("div", { className: "scale" });
  const root = h("div", {});
  const texts = h("p", { className: "sentence-of" }, h("span", { lang: from }, link.source), trace?.output?.text ? h("span", { lang: to }, ` → ${trace.output.text}`) : "");
  const remark = h("p", { className: "remark", hidden: !lost }, page.t("In this file the figure is a matrix of the attention weights. Open it live to see it as in the lesson."));
  stand.replaceChildren(remark, texts, h("div", { className: "saying" }, caption, legend), root);
  const figure = createFigure({ root, store, source: { ...source, open: async () => frozenPage }, offer: () => views, page, caption, legend });
  await figure.run();
  // A head that is off would be an empty matrix.
  const { model, link: drawn } = store.get();
  if (!model || !isOff({ model, link: drawn })) return;
  const { heads } = extent(model, drawn.block);
  const head = Array.from({ length: heads }, (_, number) => number).find((number) => !isOff({ model, link: drawn }, { ...drawn, head: number }));
  if (head !== undefined) store.go({ head });
}

void start();
