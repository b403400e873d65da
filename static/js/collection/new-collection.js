/** Make a collection of one's own, new or as a copy, and open it. */

import { wording } from "../core/figure/problem-wording.js";
import { collectionKeys } from "../core/store/kept-collections.js";
import { Problem, failure } from "../core/wire/reply.js";
import { whileBusy } from "../lib/timing.js";

/** @import { CollectionCreated } from "../core/wire/schemas.d.ts" */

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {string} lang
 * @param {HTMLElement} problem  where a failure is shown
 */
export const createCollectionMaker = ({ t }, lang, problem) =>
  /** @param {() => Promise<CollectionCreated>} request @param {string} title @param {HTMLButtonElement} button */
  async function make(request, title, button) {
    const reply = await whileBusy(() => request().catch(failure), button);
    const failed = reply instanceof Problem ? reply : null;
    problem.hidden = !failed;
    problem.textContent = failed ? wording(t, failed) : "";
    if (reply instanceof Problem) return;
    collectionKeys.remember({ id: reply.id, title, key: reply.edit_key });
    window.location.assign(`/c/${reply.id}?lang=${lang}#edit`);
  };
