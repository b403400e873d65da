/** Assemble the page: read the link into the state, bind the parts, and request the first trace. */

import { createApi } from "../core/wire/api.js";
import { bindStage, createPageServices } from "../workspace/main-figure.js";
import { find } from "../lib/dom.js";
import { examplesOf, opening } from "../core/store/examples-and-tasks.js";
import { bindAnnouncer, bindProjector } from "../workspace/display-modes.js";
import { bindChangeButtons, bindChanges } from "../workspace/interventions.js";
import { effectQuestions } from "../workspace/what-changes-did.js";
import { bindCertainty, bindChips } from "../workspace/token-chips.js";
import {
  bindArrival, bindModelMenu, bindProblems, bindTitleAndLanguage, isOpenedByLink, notices,
} from "../workspace/page-header.js";
import { bindTour } from "../tour/tour.js";
import { bindExport } from "../workspace/export-menu.js";
import { bindDisclosure } from "../core/page/disclosure.js";
import { bindGlossary } from "../core/page/glossary.js";
import { bindHelp, bindKeys } from "../workspace/shortcuts.js";
import { bindInspector, surroundingNeeds } from "../workspace/inspector.js";
import { bindLongText, bindPassProgress } from "../long/long-text.js";
import { bindPredictions } from "../workspace/predictions.js";
import { bindPickers } from "../workspace/model-map.js";
import { bindOpening } from "../opening/opening.js";
import { bindNarrowPanels, bindOptions } from "../workspace/narrow-screen.js";
import { takeHandover } from "../room/bar.js";
import { bindWorkspaceRoom } from "../room/presented-workspace.js";
import { bindSentence } from "../workspace/sentence-box.js";
import { bindShareChanges, bindShareQuestion } from "../share/opened-share.js";
import { bindShare } from "../share/share-menu.js";
import { frozen, served } from "../core/store/data-sources.js";
import { isExploring } from "../room/room-storage.js";
import { certaintyNeeds } from "../core/store/certainty.js";
import { mergeStates, parse } from "../core/store/link.js";
import { openingNeeds } from "../opening/word-pairing.js";
import { splitOptions } from "../core/store/link-options.js";
import { bind, read, write } from "../core/store/address.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

const { lang = "en", share, plotly = "", catalog = "", room, roomLink = "", screen } = find("#workspace").dataset;

async function start() {
  if (takeHandover(find("#workspace").dataset)) return;
  const api = createApi();
  const messages = await api.catalog(catalog);
  const requested = room && !isExploring(room) ? presented() : read(window, OPTIONS);
  const initial = linkTo({ ...(await first(api, requested)), lang });
  const greeted = !share && document.documentElement.dataset.opening !== undefined;
  const greeting = greeted ? [{ options: { opening: true } }] : [];
  const store = storeOf(mergeStates(initial, share ? {} : requested, ...greeting, { lang }));
  const free = requested.layer === undefined && requested.head === undefined;
  const source = share ? frozen(api, { id: share, initial, requested, options: OPTIONS }) : served(api);
  const asks = (/** @type {import("../core/store/store.js").Page} */ page) => [...effectQuestions(page), ...surroundingNeeds.asks(page)];
  const services = createPageServices({ store, source, free, beside: { needs, asks }, status: notices() }, api, { messages, plotly });

  bind(window, store, initial, OPTIONS);
  for (const part of [
    bindProjector,
    bindSentence,
    bindChips,
    bindCertainty,
    bindPredictions,
    bindChanges,
    bindStage,
    bindPickers,
    bindNarrowPanels,
    bindOptions,
    bindChangeButtons,
    bindAnnouncer,
    bindInspector,
    bindProblems,
    bindLongText,
    bindPassProgress,
    bindShare,
    bindExport,
    bindTitleAndLanguage,
    bindHelp,
    bindKeys,
    bindExamples,
    bindGlossary,
  ]) {
    part(services);
  }
  if (share) bindShareChanges(services);
  const question = share ? bindShareQuestion(services) : null;
  bindModelMenu(services, () => api.models());
  bindArrival(services, !room && (Boolean(share) || isOpenedByLink(window, requested)));
  if (!share) bindOpening(services);
  if (!share) bindTour(services, requested.view !== undefined || !free);
  if (!share) write(window, store.get().link, OPTIONS);
  await services.figure.run();
  bindWorkspaceRoom(services, initial, question);
}

/** What the room presents, with the reader's own options; a screen is in projector mode. */
function presented() {
  const { search, hash } = new URL(roomLink, window.location.origin);
  const { options, ...presentedState } = parse(search + hash, OPTIONS);
  const [ownOptions] = splitOptions(read(window, OPTIONS).options ?? {});
  return { ...presentedState, options: { ...options, ...ownOptions, ...(screen === "yes" && { projector: true }) } };
}

/** The menu of examples; a choice closes it. */
function bindExamples() {
  const panel = find("#examples-panel");
  const button = find("#examples-open");
  const menu = bindDisclosure(button, panel);
  panel.addEventListener("click", () => {
    if (panel.contains(document.activeElement)) button.focus();
    menu.close();
  });
}

/**
 * The initial state: if the link names a model but no text, one of the model's examples.
 * @param {ReturnType<typeof createApi>} api
 * @param {Partial<import("../core/store/link.js").State>} requested
 */
async function first(api, requested) {
  const usual = opening(lang);
  if (!requested.model || requested.source !== undefined) return usual;
  const models = await api.models().catch(() => []);
  const [example] = examplesOf(models.find(({ id }) => id === requested.model) ?? null, lang);
  return { ...usual, source: example?.text ?? usual.source };
}

/**
 * What is shown beside the figure needs: of the opening, only its own.
 * @param {import("../core/store/store.js").Page} page
 */
const needs = (page) => (page.link.options.opening ? openingNeeds(page.model) : [...surroundingNeeds.needs(page), ...certaintyNeeds(page.model)]);

void start();
