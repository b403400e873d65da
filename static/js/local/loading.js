/** Says where the model runs, and how much of it has come. */

import { megabytes } from "../lib/numbers.js";

/** @import { Translate } from "../lib/i18n.js" */
/** @import { Loading } from "./local-model.js" */

/**
 * @param {HTMLElement} line
 * @param {Translate} t
 * @returns {(loading: Loading | null) => void}  null: everything has come
 */
export function bindLoading(line, t) {
  return (loading) => {
    line.toggleAttribute("data-loading", loading !== null);
    if (loading) {
      line.style.setProperty("--loaded", String(loading.loaded / loading.of));
      line.textContent = t("The model is being loaded: {loaded} of {of} MB.", { loaded: megabytes(loading.loaded), of: megabytes(loading.of) });
    } else line.textContent = t("The model runs in this page: what you type is sent nowhere.");
  };
}
