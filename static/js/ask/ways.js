/** Where the answers to a question come from: the stored numbers of a share, or the models served. */

import { frozen, served } from "../core/store/data-sources.js";
import { OPTIONS } from "../views/index.js";
import { linkTo } from "../views/create-figure.js";

/**
 * @param {import("../core/wire/api.js").Api} api
 * @param {string} [share]  its id
 * @returns {import("./question.js").Ways}
 */
export function waysTo(api, share) {
  const compute = (/** @type {object} */ body) => api.lab(body);
  if (!share) return { source: served(api), compute };
  const source = frozen(api, { id: share, initial: linkTo(), options: OPTIONS });
  /** @type {Promise<import("../core/store/data-sources.js").Opened> | null} */
  let opening = null;
  const open = /** @type {NonNullable<typeof source.open>} */ (source.open);
  const opened = () =>
    (opening ??= open(linkTo()).catch((error) => {
      opening = null; // it can be tried again
      throw error;
    }));
  return {
    compute,
    source: {
      ...source,
      open: opened,
      // The share's own model, which may no longer be served.
      models: async () => [/** @type {import("../core/wire/model.js").ModelInfo} */ ((await opened()).model)],
      trace: async (request, signal) => (await opened(), source.trace(request, signal)),
    },
  };
}
