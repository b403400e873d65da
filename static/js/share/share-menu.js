/** Share the workspace; and describe an open share. */

import { shownPart } from "../core/store/model-part-names.js";
import { isLong } from "../core/wire/long-texts.js";
import { exportWait, livingModels } from "../core/page/disclosure.js";
import { find } from "../lib/dom.js";
import { megabytes } from "../lib/numbers.js";
import { additionalContents, isDeparted, stateOf } from "../core/store/share-contents.js";
import { currentUrl } from "../core/store/address.js";
import { OPTIONS, view } from "../views/index.js";
import { KINDS, offeredKinds } from "../ask/question-kinds.js";
import { bindSharePanel, dateText, senderText } from "./share-panel.js";

/** @import { PageServices } from "../workspace/main-figure.js" */
/** @import { Made } from "./share-panel.js" */

/** @param {PageServices} context */
export function bindShare(context) {
  const { store, t, api } = context;
  bindSharePanel({
    t,
    api,
    make: (about) => make(context, about),
    title: () => store.get().link.source,
    lang: store.get().link.lang,
    kinds() {
      const { trace, link, model } = store.get();
      const kinds = isLong(trace) ? [] : offeredKinds(link, model).filter((kind) => KINDS[kind].shareable);
      return kinds.map((kind) => ({ id: kind, name: KINDS[kind].name(t) }));
    },
  });
  store.subscribe(({ share, link }) => [share, link], () => frozen(context));
  window.addEventListener("pageshow", () => frozen(context));  // back from the page that runs
}

/**
 * Create a short link to what is on the screen. A share whose model is gone already has one.
 * @param {PageServices} context
 * @param {import("../core/wire/schemas.d.ts").About} [about]
 * @returns {Promise<Made>}
 */
async function make({ store, api, figure }, about) {
  const page = store.get();
  if (page.share && !page.live) return { url: currentUrl(window) };
  const extras = isLong(page.trace) ? { tiles: figure.shown().tiles?.() ?? [] } : additionalContents(page, view(page.link.view));
  return api.share({ state: stateOf(page, OPTIONS), ...extras, about });
}

/** @param {PageServices} context */
function frozen(context) {
  const { store, t, format } = context;
  const page = store.get();
  const { share, link } = page;
  find("#frozen").hidden = !share;
  document.documentElement.toggleAttribute("data-shared", share !== null);
  if (!share) return;
  const line = find("#frozen-says");
  const date = dateText(share.created);
  const saved = isDeparted(page) ? t("Saved {when}.", { when: date }) : t("Saved {when}, exactly as its author saw it.", { when: date });
  line.textContent = [t("A share: {what}.", { what: shownPart(share.model, share.state, t) }), senderText(t, share), saved].filter(Boolean).join(" ");
  line.title = t("Model {model}, digest {digest}", {
    model: share.model.name,
    digest: share.model.digest.slice(0, 12),
  });
  const live = /** @type {HTMLAnchorElement} */ (find("#open-live"));
  live.href = "/?" + format(link);
  live.hidden = !page.live;  // it would open in another model
  offerToRun(context, page, share);
}

/**
 * A share whose model is not served any more can bring that model into the reader's page.
 * @param {PageServices} context
 * @param {import("../core/store/store.js").Page} page
 * @param {import("../core/wire/api.js").Share} share
 */
function offerToRun({ t, format }, { link, live }, { id, model }) {
  const run = /** @type {HTMLAnchorElement} */ (find("#run-here"));
  const running = livingModels()[model.digest];
  run.hidden = live || !running;
  const wait = find("#run-here-says");
  wait.textContent = exportWait(t, running);
  wait.hidden = run.hidden || running.exported;
  if (run.hidden) return;
  const { theme } = document.documentElement.dataset;
  run.textContent = t("Run the model in this page ({size} MB)", { size: megabytes(running.bytes) });
  run.href = `/s/${id}/runs?${new URLSearchParams({ lang: link.lang, ...(theme && { theme }) })}#${format(link)}`;
  run.onclick = () => void (run.textContent = running.exported ? t("The model is being loaded.") : t("The server prepares the model …"));
}
