/** Assemble the page: read the link into the state, bind the parts, and request the first trace. */

import { createApi } from "../data/api.js";
import { attentionAt, place } from "../data/attentions.js";
import { thumbnails } from "../data/glimpses.js";
import { createDesk } from "./main-figure.js";
import { find } from "../lib/dom.js";
import { examplesOf, opening } from "../data/examples.js";
import { bindAnnouncer } from "../chrome/screen-reader.js";
import { bindChanges } from "../chrome/intervention-chips.js";
import { bindChips } from "../chrome/token-chips.js";
import { bindTour } from "../chrome/tour/tour.js";
import { bindTitleAndLanguage } from "../chrome/title-and-language.js";
import { bindExport } from "../chrome/export-menu.js";
import { bindDisclosure } from "../chrome/disclosure.js";
import { bindGlossary } from "../chrome/glossary.js";
import { bindHelp } from "../chrome/help.js";
import { asksOf, bindInspector } from "../chrome/inspector.js";
import { bindLongText } from "../chrome/long-text.js";
import { bindPassProgress } from "../chrome/pass-progress.js";
import { bindKeys } from "../chrome/shortcuts.js";
import { bindModelMenu } from "../chrome/model-menu.js";
import { bindPredictions } from "../chrome/predictions.js";
import { bindPickers } from "../chrome/head-pickers.js";
import { bindProblems, notices } from "../chrome/problem-notices.js";
import { bindOpening } from "../chrome/opening/opening.js";
import { bindOptions } from "../chrome/options-panel.js";
import { bindProjector } from "../chrome/projector-mode.js";
import { takeSeat } from "../chrome/room/seat.js";
import { bindWorkspaceRoom } from "../chrome/room/workspace.js";
import { bindSentence } from "../chrome/sentence-box.js";
import { bindShareChanges } from "../chrome/share-changes.js";
import { bindShareQuestion } from "../chrome/share-question.js";
import { bindShare } from "../chrome/share-menu.js";
import { bindSheets } from "../chrome/sheets.js";
import { bindStage } from "../chrome/view-tabs.js";
import { bindChangeButtons } from "../chrome/intervention-buttons.js";
import { frozen, served } from "../state/data-sources.js";
import { isExploring } from "../data/room-storage.js";
import { predictions } from "../data/predictions.js";
import { merge, parse } from "../state/link.js";
import { openingNeeds } from "../state/opening.js";
import { apart } from "../state/options.js";
import { bind, read, write } from "../state/address.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS, view } from "../views/index.js";

const { lang = "en", share, plotly = "", catalog = "", room, roomLink = "", screen } = find("#workspace").dataset;

async function start() {
  if (takeSeat(find("#workspace").dataset)) return;
  const api = createApi((...request) => fetch(...request));
  const messages = await api.catalog(catalog);
  const asked = room && !isExploring(room) ? presented() : read(window, OPTIONS);
  const initial = linkTo({ ...(await first(api, asked)), lang });
  const greeted = !share && document.documentElement.dataset.opening !== undefined;
  const greeting = greeted ? [{ options: { opening: true } }] : [];
  const store = storeOf(merge(initial, share ? {} : asked, ...greeting, { lang }));
  const free = asked.layer === undefined && asked.head === undefined;
  const source = share ? frozen(api, { id: share, initial, asked, options: OPTIONS }) : served(api);
  const beside = { needs, asks: (/** @type {import("../state/store.js").Page} */ page) => (view(page.link.view).frame.inspector ? asksOf(page) : []) };
  const desk = createDesk({ store, source, free, beside, status: notices() }, api, { messages, plotly });

  bind(window, store, initial, OPTIONS);
  for (const part of [
    bindProjector,
    bindSentence,
    bindChips,
    bindPredictions,
    bindChanges,
    bindStage,
    bindPickers,
    bindSheets,
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
    bindMenus,
    bindGlossary,
  ]) {
    part(desk);
  }
  if (share) for (const part of [bindShareChanges, bindShareQuestion]) part(desk);
  bindModelMenu(desk, () => api.models());
  if (!share) for (const part of [bindOpening, bindTour]) part(desk);
  if (!share) write(window, store.get().link, OPTIONS);
  await desk.figure.run();
  bindWorkspaceRoom(desk, initial);
}

/** What the room presents, with the reader's own options; a screen is in projector mode. */
function presented() {
  const { search, hash } = new URL(roomLink, window.location.origin);
  const { options, ...said } = parse(search + hash, OPTIONS);
  const [own] = apart(read(window, OPTIONS).options ?? {});
  return { ...said, options: { ...options, ...own, ...(screen === "yes" && { projector: true }) } };
}

/** Menus of the page's buttons; a choice closes them. */
function bindMenus() {
  for (const name of ["more", "examples"]) {
    const panel = find(`#${name}-panel`);
    const button = find(name === "more" ? "#more" : `#${name}-open`);
    const menu = bindDisclosure(button, panel);
    panel.addEventListener("click", () => {
      if (panel.contains(document.activeElement)) button.focus();
      menu.close();
    });
  }
}

/**
 * The initial state: if the link names a model but no text, one of the model's examples.
 * @param {ReturnType<typeof createApi>} api
 * @param {Partial<import("../state/link.js").State>} asked
 */
async function first(api, asked) {
  const usual = opening(lang);
  if (!asked.model || asked.source !== undefined) return usual;
  const models = await api.models().catch(() => []);
  const [example] = examplesOf(models.find(({ id }) => id === asked.model) ?? null, lang);
  return { ...usual, source: example?.text ?? usual.source };
}

/**
 * The tensors for the caption, the inspector, and the thumbnails of layers and heads.
 * @param {import("../state/store.js").Page} page
 */
function needs({ model, link }) {
  if (link.options.opening) return openingNeeds(model);
  const vectors = view(link.view).frame.inspector && attentionAt(model, place(model, link))?.qk !== false;
  const names = vectors ? ["weights", "mask", "q", "k"] : ["weights", "mask"];
  return [...names.map((name) => place(model, link, name)), ...thumbnails(model, link.block), ...predictions(model)];
}

void start();
