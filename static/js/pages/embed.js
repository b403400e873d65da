/** A share in a frame of another page: only its view and its caption. */

import { createApi } from "../core/wire/api.js";
import { bindStage, createPageServices } from "../workspace/main-figure.js";
import { find } from "../lib/dom.js";
import { bindChanges } from "../workspace/interventions.js";
import { bindShareChanges, bindShareQuestion } from "../share/opened-share.js";
import { bindKinds, bindSteppers } from "../workspace/model-map.js";
import { frozen } from "../core/store/data-sources.js";
import { read } from "../core/store/address.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

const { lang = "en", share = "", plotly = "", catalog = "" } = find("#workspace").dataset;

async function start() {
  const api = createApi();
  const messages = await api.catalog(catalog);
  const initial = linkTo({ lang });
  const store = storeOf(initial);
  const source = frozen(api, { id: share, initial, requested: read(window, OPTIONS), options: OPTIONS });
  const status = { root: document.documentElement, busy: find("#stage"), says: find("#embed-says") };
  const services = createPageServices({ store, source, status }, api, { messages, plotly });
  bindChanges(services);
  bindShareChanges(services);
  bindShareQuestion(services);
  bindStage(services);
  bindSteppers(services);
  bindKinds(services);
  bindOrigin(services);
  await services.figure.run();
}

/**
 * The link to the share opens what the reader selected.
 * @param {import("../workspace/main-figure.js").PageServices} services
 */
function bindOrigin({ store }) {
  const origin = /** @type {HTMLAnchorElement} */ (find("#origin"));
  store.subscribe(({ link }) => [link.block, link.layer, link.head], ({ link: { block, layer, head } }, _, from) => {
    if (from !== "moved") return;
    origin.search = String(new URLSearchParams({ lang, block, layer: String(layer), head: String(head) }));
  });
}

void start();
