/** The lab in one file with its numbers. Nothing is recomputed; hidden steps can be filled in. */

import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { find } from "../lib/dom.js";
import { unpacked } from "../lib/unpack-bytes.js";
import { createLabFigure } from "../lab/figure/lab-figure.js";
import { labOfShare } from "../lab/lab-link.js";

async function start() {
  const share = await unpacked(find("#share")).json();
  const page = createPageContext(window, { live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  find("#print").addEventListener("click", () => window.print());
  createLabFigure({ root: find("#figure"), page, ...labOfShare(share), compute: null, choices: false });
}

void start();
