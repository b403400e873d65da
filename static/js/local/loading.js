/** Says where the model runs, how much of it has come, and why it does not run. */

import { megabytes } from "../lib/numbers.js";
import { h } from "../lib/dom.js";

/** @import { Translate } from "../lib/i18n.js" */
/** @import { Problem } from "../core/wire/reply.js" */
/** @import { Loading } from "./local-model.js" */

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
