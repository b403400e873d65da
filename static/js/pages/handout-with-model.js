/**
 * A handout in which the model runs (docs/exports.md): its figure from a run that lies in the file, and
 * the workspace, whose model lies in the file too and runs in a worker.
 */

import { createApi } from "../core/wire/api.js";
import { Problem } from "../core/wire/reply.js";
import { createPageServices, bindStage } from "../workspace/main-figure.js";
import { find } from "../lib/dom.js";
import { translator } from "../lib/i18n.js";
import { opening } from "../core/store/examples-and-tasks.js";
import { bindAnnouncer } from "../workspace/display-modes.js";
import { bindChangeButtons, bindChanges } from "../workspace/interventions.js";
import { effectQuestions } from "../workspace/what-changes-did.js";
import { bindCertainty, bindChips } from "../workspace/token-chips.js";
import { bindProblems, notices } from "../workspace/page-header.js";
import { bindExport } from "../workspace/export-menu.js";
import { bindDisclosure } from "../core/page/disclosure.js";
import { bindGlossary } from "../core/page/glossary.js";
import { bindHelp } from "../workspace/shortcuts.js";
import { bindInspector, surroundingNeeds } from "../workspace/inspector.js";
import { bindPickers } from "../workspace/model-map.js";
import { bindNarrowPanels, bindOptions } from "../workspace/narrow-screen.js";
import { bindSentence } from "../workspace/sentence-box.js";
import { certaintyNeeds } from "../core/store/certainty.js";
import { mergeStates, stateOfShare } from "../core/store/link.js";
import { isFixed, viewsInShare } from "../core/store/share-contents.js";
import { IN_FRAGMENT, bind, read } from "../core/store/address.js";
import { bindLoading } from "../local/site-page.js";
import { filesOf, readerOf, startPackedWorker } from "../local/model-files.js";
import { OPENING, createSiteModel, hasSimd } from "../local/site-model.js";
import { fetchFromHandout } from "../share/share-in-handout.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS, offered } from "../views/index.js";

/** @import { Page } from "../core/store/store.js" */
/** @import { PageServices } from "../workspace/main-figure.js" */

const { lang = "en", home = "", created = "", glossary = "" } = find("#workspace").dataset;
const WORKER = "model-worker.js";

async function start() {
  const files = filesOf(document);
  const inFile = readerOf(files);
  const run = fetchFromHandout("trace");
  const api = createApi((path) => (path === glossary ? inFile(glossary) : run(path)));
  const share = await api.readShare(OPENING);
  const initial = mergeStates(linkTo({ ...opening(lang), lang }), stateOfShare(share.state, OPTIONS), { lang });
  const isPlaced = share.state.layer !== undefined || share.state.head !== undefined;
  const requested = { ...(isPlaced && { layer: initial.layer, head: initial.head }), ...read(window, OPTIONS, IN_FRAGMENT) };
  const { t } = translator({});
  const loading = bindLoading(find("#runs-here"), t, () => window.location.reload(), t("You see a run that was computed beforehand; other sentences need the model."));
  /** @type {(worker: Worker) => void} */
  let begin = () => {};
  const started = new Promise((/** @type {typeof begin} */ resolve) => (begin = resolve));
  const model = createSiteModel(api, { folder: "model/", description: share.model, initial, requested, started, onLoading: loading.show });
  const able = hasSimd();
  const source = able ? model.source : model.without;
  const store = storeOf(mergeStates(initial, able ? requested : { options: requested.options }, { lang }), offer);
  const asks = (/** @type {Page} */ page) => [...effectQuestions(page), ...surroundingNeeds.asks(page)];
  const services = createPageServices({ store, source, offer, beside: { needs, asks }, status: notices() }, { ...api, trace: source.trace });

  bind(window, store, initial, OPTIONS, IN_FRAGMENT);
  for (const part of [bindSentence, bindChips, bindCertainty, bindChanges, bindStage, bindPickers, bindNarrowPanels, bindOptions, bindChangeButtons, bindAnnouncer, bindInspector, bindProblems, bindHelp, bindGlossary, bindFrame]) part(services);
  bindExport(services, ["png", "svg", "pdf", "csv"]);
  bindDisclosure(find("#examples-open"), find("#examples-panel"));
  const first = services.figure.run();
  if (model.isOpening || !able) await first;  // drawn before the model is opened
  if (!able) return withoutModel(new Problem("no-simd"));
  model.opened.then(loading.done, withoutModel);
  await startPackedWorker(files, WORKER).then(begin, (error) => withoutModel(new Problem("unexpected", { detail: String(error) })));

  /** What stays is the run in the file. @param {Problem} problem */
  async function withoutModel(problem) {
    const { share: frozenShare = null, link } = (await model.without.open?.(initial)) ?? {};
    loading.fail(problem);
    document.documentElement.toggleAttribute("data-without-model", true);
    store.set({ share: frozenShare, live: false, ...(model.isOpening || !link ? {} : { link }) });
  }
}

/** @param {Page} page */
const offer = (page) => (isFixed(page) ? viewsInShare(page, offered(page)) : offered(page));

/** @param {Page} page */
const needs = (page) => [...surroundingNeeds.needs(page), ...certaintyNeeds(page.model)];

/** The date and the link to the live page. @param {PageServices} services */
function bindFrame({ store, t, format }) {
  const live = /** @type {HTMLAnchorElement} */ (find("#open-live"));
  const date = new Date(created).toLocaleDateString(document.documentElement.lang, { dateStyle: "long" });
  find("#made").textContent = t("A handout of {when}.", { when: date });
  find(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    find("#stage").focus();
  });
  live.hidden = !home;
  const show = () => (live.href = `${home}/?${format(store.get().link)}`);
  if (home) store.subscribe(({ link }) => link, show);
  if (home) show();
}

void start();
