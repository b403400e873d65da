/** The API reference: Swagger UI from a Python package, so that it works offline. */

import { bindApartFromRoom } from "../room/bar-on-other-pages.js";
import { openPage } from "../core/page/served-page.js";
import { find } from "../lib/dom.js";

const reference = find("#reference");
const { catalog = "", url } = reference.dataset;

function showTheme() {
  const { classList, dataset } = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  classList.toggle("dark-mode", (dataset.theme ?? system) === "dark");
}

async function start() {
  showTheme();
  /** @type {any} */ (globalThis).SwaggerUIBundle({ url, domNode: reference, deepLinking: true, validatorUrl: null });
  const opened = await openPage({ catalog });
  bindApartFromRoom(opened);
  opened.page.onTheme(showTheme);
}

void start();
