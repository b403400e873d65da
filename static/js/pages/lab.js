/** Attention by hand: the lab's figure, its link, and formulas for numbers of the reader's own. */

import { createApi } from "../data/api.js";
import { bindTheme } from "../draw/theme.js";
import { find } from "../lib/dom.js";
import { createLabFigure } from "../parts/lab/lab-figure.js";
import { createPageContext } from "../parts/page-context.js";
import { readQuery, writeQuery } from "../state/address.js";
import { format, parse } from "../state/lab-link.js";
import { preset } from "../state/lab-presets.js";
import { bindFormulas } from "./lab/formulas.js";

const { lang = "en", catalog = "" } = find("#lab").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  const other = /** @type {HTMLAnchorElement} */ (find("#language"));
  createLabFigure({
    root: find("#figure"),
    page,
    lab: parse(readQuery(window), preset("identity")),
    compute: api.lab,
    onChange(lab) {
      const link = format(lab);
      writeQuery(window, `${link}&lang=${lang}`);
      other.href = `?${link}&lang=${other.hreflang}`;
    },
  });
  bindTheme(window, /** @type {HTMLButtonElement} */ (find("#theme")), page.restyle);
  bindFormulas(page);
}

void start();
