/** A share in a frame of someone else's page: its view and its caption, and nothing around them. */

import { createApi } from "../data/api.js";
import { createDesk } from "./main-figure.js";
import { find } from "../lib/dom.js";
import { bindChanges } from "../chrome/intervention-chips.js";
import { bindStage } from "../chrome/view-tabs.js";
import { frozen } from "../state/data-sources.js";
import { read } from "../state/address.js";
import { linkTo, storeOf } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

const { lang = "en", share = "", plotly = "", catalog = "" } = find("#workspace").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const messages = await api.catalog(catalog);
  const initial = linkTo({ lang });
  const store = storeOf(initial);
  const source = frozen(api, { id: share, initial, asked: read(window, OPTIONS), options: OPTIONS });
  const status = { root: document.documentElement, busy: find("#stage"), says: find("#embed-says") };
  const desk = createDesk({ store, source, status }, api, { messages, plotly });
  bindChanges(desk);
  bindStage(desk);
  await desk.figure.run();
}

void start();
