/** The questions of a lesson. */

import { createPrediction } from "../../chrome/predict/predict.js";
import { find } from "../../lib/dom.js";
import { inSight } from "./in-sight.js";
import { answered } from "./progress.js";

/** @param {import("../learn.js").Desk} desk */
export function bindQuestions({ page, api, source, lesson }) {
  const ways = { source, compute: (/** @type {object} */ body) => api.lab(body) };
  inSight(document.querySelectorAll("#lesson .predict"), async (element) => {
    const { kind = "", link = "", page: of = "workspace", row = "", step } = element.dataset;
    createPrediction({
      root: find(".choosing", element),
      page,
      ways,
      question: { kind, link, page: of, row: row ? Number(row) : undefined, step: step || undefined },
      labelledby: find(".asks", element).id,
      onReveal() {
        find(".why", element).hidden = false;
        answered(lesson, Number(element.id.split("-")[1]));
      },
    });
  });
}
