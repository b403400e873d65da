/** What a page has around a model that runs in it: how much of it has come, the kept files, the link to what is shown. */

import { currentUrl } from "../core/store/address.js";
import { copyText } from "../lib/browser.js";
import { find, h } from "../lib/dom.js";
import { megabytes } from "../lib/numbers.js";

/** @import { Problem } from "../core/wire/reply.js" */
/** @import { Translate } from "../lib/i18n.js" */
/** @import { Loading } from "./local-model.js" */

// Says where the model runs, how much of it has come, and why it does not run.

/**
 * @param {HTMLElement} line
 * @param {Translate} t
 * @param {() => void} reload
 * @param {string} consequence  what the page lacks without the model, in a sentence
 */
export function bindLoading(line, t, reload, consequence) {
  line.textContent = t("The model is being loaded.");
  return {
    /** @param {Loading | null} loading  null: everything has come */
    show(loading) {
      line.toggleAttribute("data-loading", loading !== null);
      if (!loading) return;
      line.style.setProperty("--loaded", String(loading.loaded / loading.of));
      line.textContent = t("The model is being loaded: {loaded} of {of} MB.", { loaded: megabytes(loading.loaded), of: megabytes(loading.of) });
    },

    done() {
      line.textContent = t("The model runs in this page: what you type is sent nowhere.");
    },

    /** @param {Problem} problem */
    fail({ kind, detail }) {
      const why = kind === "no-simd" ? t("This browser cannot run the model: it lacks WebAssembly SIMD.") : t("The model could not be opened in this browser ({detail}).", { detail: detail || kind });
      const again = h("button", { type: "button", className: "button quiet", hidden: kind === "no-simd", onclick: reload }, t("Try again"));
      line.replaceChildren(`${why} ${consequence} `, again);
    },
  };
}

// The service worker that keeps a site's files.

/** The longest wait for it, in milliseconds. */
const PATIENCE = 3000;

/**
 * Wait until what is loaded is also kept, so that nothing is loaded twice; not for long, since the
 * page does without.
 */
export async function keptFiles() {
  const { serviceWorker } = navigator;
  if (!serviceWorker) return;  // not over plain http
  const controlled = new Promise((resolve) => serviceWorker.addEventListener("controllerchange", resolve, { once: true }));
  const isRegistered = await serviceWorker.register("offline.js").then(() => true, () => false);
  if (isRegistered && !serviceWorker.controller) await Promise.race([controlled, new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
}

// Copies the link to what is on the screen.

/** How long the button says that the link is copied, in milliseconds. */
const COPIED_MS = 2000;

/** @param {Pick<import("../core/figure/types.js").PageContext, "t" | "announce">} page */
export function bindCopying({ t, announce }) {
  const button = find("#copy-link");
  const name = button.textContent;

  button.addEventListener("click", async () => {
    const isCopied = await copyText(currentUrl(window));
    const words = isCopied ? t("Copied.") : t("The link is in the address bar.");
    button.textContent = words;
    announce(words);
    setTimeout(() => (button.textContent = name), COPIED_MS);
  });
}
