/** The workspace without a server: the model runs in a worker of the page (docs/site.md). */

import { createApi } from "../core/wire/api.js";
import { completed } from "../core/wire/model.js";
import { createPageServices, bindStage } from "../workspace/main-figure.js";
import { find } from "../lib/dom.js";
import { translator } from "../lib/i18n.js";
import { opening } from "../core/store/examples.js";
import { bindAnnouncer } from "../workspace/display-modes.js";
import { bindChangeButtons, bindChanges } from "../workspace/interventions.js";
import { effectQuestions } from "../workspace/change-effect.js";
import { bindCertainty } from "../workspace/certainty.js";
import { bindChips } from "../workspace/token-chips.js";
import { bindProblems, notices } from "../workspace/page-header.js";
import { bindExport } from "../workspace/export-menu.js";
import { bindDisclosure } from "../core/page/disclosure.js";
import { bindGlossary } from "../core/page/glossary.js";
import { bindHelp } from "../workspace/shortcuts.js";
import { bindInspector, surroundingNeeds } from "../workspace/inspector.js";
import { bindPickers } from "../workspace/head-pickers.js";
import { bindNarrowPanels, bindOptions } from "../workspace/narrow-screen.js";
import { bindSentence } from "../workspace/sentence-box.js";
import { local } from "../core/store/data-sources.js";
import { certaintyNeeds } from "../core/store/certainty.js";
import { mergeStates } from "../core/store/link.js";
import { bind, read, write } from "../core/store/address.js";
import { createWorkerModel } from "../local/worker-model.js";
import { bindLoading } from "../local/loading.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

/** @import { Page } from "../core/store/store.js" */

/** The longest wait for the files to be kept, in milliseconds. */
const PATIENCE = 3000;

const { lang = "en", catalog = "", model: folder = "" } = find("#workspace").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const [messages, description] = await Promise.all([api.catalog(catalog), fetch(`${folder}model.json`).then((response) => response.json())]);
  const onLoading = bindLoading(find("#runs-here"), translator(messages).t);
  await keptFiles();
  const model = createWorkerModel(new Worker("model-worker.js", { type: "module" }), folder, completed(description), onLoading);
  const source = local(model);
  const requested = read(window, OPTIONS);
  const initial = linkTo({ ...opening(lang), lang });
  const store = storeOf(mergeStates(initial, requested, { lang }));
  const free = requested.layer === undefined && requested.head === undefined;
  const needs = (/** @type {Page} */ page) => [...surroundingNeeds.needs(page), ...certaintyNeeds(page.model)];
  const asks = (/** @type {Page} */ page) => [...effectQuestions(page), ...surroundingNeeds.asks(page)];
  const plan = { store, source, free, beside: { needs, asks }, status: notices() };
  const services = createPageServices(plan, { ...api, trace: model.trace }, { messages });

  bind(window, store, initial, OPTIONS);
  for (const part of [bindSentence, bindChips, bindCertainty, bindChanges, bindStage, bindPickers, bindNarrowPanels, bindOptions, bindChangeButtons, bindAnnouncer, bindInspector, bindProblems, bindHelp, bindGlossary]) part(services);
  bindExport(services, ["png", "svg", "pdf", "csv"]);
  bindLanguage(services);
  bindDisclosure(find("#examples-open"), find("#examples-panel"));
  write(window, store.get().link, OPTIONS);
  await services.figure.run();
}

/**
 * Wait until what is loaded is also kept, so that nothing is loaded twice; not for long, since the
 * page does without.
 */
async function keptFiles() {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return;  // not over plain http
  const controlled = new Promise((resolve) => serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
  const isRegistered = await serviceWorker.register("offline.js").then(() => true, () => false);
  if (isRegistered && !serviceWorker.controller) await Promise.race([controlled, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}

/** The other language's page shows the same. @param {import("../workspace/main-figure.js").PageServices} services */
function bindLanguage({ store, format }) {
  const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));
  const page = otherLanguage.getAttribute("href") ?? "";
  const show = () => (otherLanguage.href = `${page}?${format({ ...store.get().link, lang: otherLanguage.hreflang })}`);
  store.subscribe(({ link }) => link, show);
  show();
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
}

void start();
