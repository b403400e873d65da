/**
 * The page without a server (docs/site.md): the opening from a run that came with it, and the
 * workspace, whose model runs in a worker of the page.
 */

import { createApi } from "../core/wire/api.js";
import { completed } from "../core/wire/model-description.js";
import { Problem } from "../core/wire/reply.js";
import { createPageServices, bindStage } from "../workspace/main-figure.js";
import { find } from "../lib/dom.js";
import { translator } from "../lib/i18n.js";
import { opening } from "../core/store/examples-and-tasks.js";
import { bindAnnouncer } from "../workspace/display-modes.js";
import { bindChangeButtons, bindChanges } from "../workspace/interventions.js";
import { effectQuestions } from "../workspace/what-changes-did.js";
import { bindCertainty, bindChips } from "../workspace/token-chips.js";
import { bindModelMenu, bindProblems, notices } from "../workspace/page-header.js";
import { bindExport } from "../workspace/export-menu.js";
import { bindDisclosure } from "../core/page/disclosure.js";
import { bindGlossary } from "../core/page/glossary.js";
import { bindHelp } from "../workspace/shortcuts.js";
import { bindInspector, surroundingNeeds } from "../workspace/inspector.js";
import { bindPickers } from "../workspace/model-map.js";
import { bindNarrowPanels, bindOptions } from "../workspace/narrow-screen.js";
import { bindSentence } from "../workspace/sentence-box.js";
import { certaintyNeeds } from "../core/store/certainty.js";
import { modelLabel } from "../core/store/model-part-names.js";
import { mergeStates } from "../core/store/link.js";
import { isFixed, viewsInShare } from "../core/store/share-contents.js";
import { IN_FRAGMENT, bind, read, write } from "../core/store/address.js";
import { bindOpening } from "../opening/opening.js";
import { openingNeeds } from "../opening/word-pairing.js";
import { bindCopying, bindLoading, keptFiles } from "../local/site-page.js";
import { createSiteModel, fetchFromSite, folderOf, hasSimd, loadedWhenChosen } from "../local/site-model.js";
import { startWorker } from "../local/worker-model.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS, offered } from "../views/index.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { PageServices } from "../workspace/main-figure.js" */

const { lang = "en", catalog = "", run = "" } = find("#workspace").dataset;

async function start() {
  const api = createApi(fetchFromSite((...request) => fetch(...request), run));
  const [messages, [description, ...zooModels]] = await Promise.all([api.catalog(catalog), fetch("models.json").then((response) => response.json()).then((models) => models.map(completed))]);
  const { t } = translator(messages);
  const loading = bindLoading(find("#runs-here"), t, () => window.location.reload(), t("You see a run that was computed beforehand; other sentences need the model."));
  const greeting = document.documentElement.dataset.opening === undefined ? {} : { opening: true };
  const address = read(window, OPTIONS, IN_FRAGMENT);
  const requested = { ...address, options: { ...address.options, ...greeting } };
  const initial = linkTo({ ...opening(lang), lang });
  /** @type {(worker: Worker) => void} */
  let begin = () => {};
  const started = new Promise((/** @type {typeof begin} */ resolve) => (begin = resolve));
  const model = createSiteModel(api, { folder: folderOf(description), description, smallModels: zooModels.map(loadedWhenChosen), initial, requested, started, onLoading: loading.show });
  const able = hasSimd();
  const source = able ? model.source : model.without;
  const store = storeOf(mergeStates(initial, able ? requested : { options: requested.options }, { lang }), offer);
  const free = able && !model.isOpening && requested.layer === undefined && requested.head === undefined;
  const asks = (/** @type {Page} */ page) => [...effectQuestions(page), ...surroundingNeeds.asks(page)];
  const services = createPageServices({ store, source, offer, free, beside: { needs, asks }, status: notices() }, { ...api, trace: source.trace }, { messages });

  bind(window, store, initial, OPTIONS, IN_FRAGMENT);
  for (const part of [bindSentence, bindChips, bindCertainty, bindChanges, bindStage, bindPickers, bindNarrowPanels, bindOptions, bindChangeButtons, bindAnnouncer, bindInspector, bindProblems, bindHelp, bindGlossary, bindOpening, bindCopying, bindModelInUse]) part(services);
  bindExport(services, ["png", "svg", "pdf", "csv"]);
  if (able) bindModelMenu(services, model.source.models);
  bindLanguage(services);
  bindDisclosure(find("#examples-open"), find("#examples-panel"));
  write(window, store.get().link, OPTIONS, IN_FRAGMENT);
  const first = services.figure.run();
  if (!able) return withoutModel(new Problem("no-simd"));
  model.opened.then(loading.done, withoutModel);
  if (model.isOpening) await first;  // drawn before the weights take the network
  await keptFiles();
  begin(startWorker());

  /** What stays is the opening's run. @param {Problem} problem */
  async function withoutModel(problem) {
    const { share = null, link } = (await model.without.open?.(initial)) ?? {};
    loading.fail(problem);
    document.documentElement.toggleAttribute("data-without-model", true);
    store.set({ share, live: false, ...(model.isOpening || !link ? {} : { link }) });
  }
}

/** @param {Page} page */
const offer = (page) => (isFixed(page) ? viewsInShare(page, offered(page)) : offered(page));

/** @param {Page} page  Of the opening, only its own. */
const needs = (page) => (page.link.options.opening ? openingNeeds(page.model) : [...surroundingNeeds.needs(page), ...certaintyNeeds(page.model)]);

/** The other language's page shows the same. @param {PageServices} services */
function bindLanguage({ store, format }) {
  const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));
  const page = otherLanguage.getAttribute("href") ?? "";
  const show = () => (otherLanguage.href = `${page}#${format({ ...store.get().link, lang: otherLanguage.hreflang })}`);
  store.subscribe(({ link }) => link, show);
  show();
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
}

/** The foot names the model of what is on the screen. Small ones have no card. @param {PageServices} services */
function bindModelInUse({ store, t }) {
  const [name, digest, card] = ["#model-name", "#model-digest", "#model-card"].map((id) => find(id));
  store.subscribe(({ model }) => model, () => {
    const { model } = store.get();
    if (!model) return;
    name.textContent = modelLabel(t, model);
    digest.textContent = model.digest.slice(0, 12);
    card.hidden = Boolean(model.zoo);
  });
}

void start();
