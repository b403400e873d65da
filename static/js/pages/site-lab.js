/** Attention by hand on a page without a server (docs/site.md): its steps are computed in a worker. */

import { bindTheme, createPageContext } from "../core/page/page-context.js";
import { IN_FRAGMENT, writeFragment } from "../core/store/address.js";
import { createApi } from "../core/wire/api.js";
import { bindExports, bindFormulas, bindLabProjector, labShape } from "../lab/page.js";
import { createLabFigure } from "../lab/figure/lab-figure.js";
import { format, parse, preset } from "../lab/lab-link.js";
import { find } from "../lib/dom.js";
import { bindCopying, keptFiles } from "../local/site-page.js";
import { createSiteLab } from "../local/worker-model.js";

const { lang = "en", catalog = "" } = find("#lab").dataset;

async function start() {
  const api = createApi((...request) => fetch(...request));
  const page = createPageContext(window, { messages: await api.catalog(catalog), live: find("#announce") });
  bindTheme(window, find("#theme"), page.restyle);
  await keptFiles();
  const root = find("#lab");
  const otherLanguage = /** @type {HTMLAnchorElement} */ (find("#language"));
  const translated = otherLanguage.getAttribute("href") ?? "";
  const parameters = new URLSearchParams(IN_FRAGMENT.of(window.location));
  /** @type {ReturnType<typeof createLabFigure> | null} */
  let figure = null;
  const again = () => figure?.again();
  const jumps = /** @type {HTMLAnchorElement[]} */ ([...root.querySelectorAll(".jumps a")]);
  const formulas = bindFormulas(page, api, parameters, again, jumps.map(({ dataset }) => dataset.to ?? ""));
  const projector = bindLabProjector(page, { startsOn: parameters.get("projector") === "1", subject: () => JSON.stringify([formulas.shown(), labShape(figure?.lab())]), changed: again });

  /** @param {import("../lab/matrices.js").Lab} lab */
  function onChange(lab) {
    const link = `${format(lab)}${formulas.query()}${projector.on() ? "&projector=1" : ""}`;
    writeFragment(window, link);
    otherLanguage.href = `${translated}#${link}`;
    root.toggleAttribute("data-formula", formulas.shown() !== "");
    projector.follow();
    for (const jump of jumps) jump.dataset.to === formulas.shown() ? jump.setAttribute("aria-current", "true") : jump.removeAttribute("aria-current");
  }

  formulas.go(parameters.get("show") ?? "");
  const lab = parse(String(parameters), preset("identity"));
  figure = createLabFigure({ root: find("#figure"), page, lab, compute: createSiteLab(), beside: { label: page.t("Formulas"), ...formulas }, onChange });
  for (const jump of jumps)
    jump.addEventListener("click", (event) => {
      event.preventDefault();
      formulas.go(jump.dataset.to ?? "");
    });
  bindExports(page, figure, lang);
  bindCopying(page);
}

void start();
