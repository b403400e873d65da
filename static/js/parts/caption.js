/** The one sentence that says what is seen; its words follow from the numbers of the lit row. */

import { render } from "../lib/render.js";
import { compose } from "./row-wording.js";
import { four } from "../lib/numbers.js";
import { pairIn, reading } from "../state/heatmap-data.js";
import { plainStep } from "../data/tokens.js";

/** @typedef {import("../state/types.js").Context} Context */
/** @typedef {import("../compute/row-summary.js").Finding} Finding */

/**
 * @param {Context} context
 * @param {HTMLElement} line
 * @param {(page: import("../state/store.js").Page) => boolean} speaks  whether it is the row's sentence that stands there
 * @param {() => boolean} tells  whether the pinned cell is told here, and not by the view itself
 * @returns {() => void}  stops it
 */
export function bindCaption(context, line, speaks, tells) {
  const { store } = context;
  const show = () => {
    const page = store.get();
    const said = speaks(page) && compose(context, page, store.hovered());
    if (said) render(line, said);
  };
  const deaf = [
    store.subscribe(({ link, trace, model }) => [link, trace, model], show),
    store.subscribe(({ link }) => link, ({ link }) => link.query !== null && tells() && announce(context)),
    store.watch(show),
  ];
  return () => deaf.forEach((end) => end());
}

/**
 * Tells a screen reader the pinned cell. What the pointer passes over is not announced.
 * @param {Context} context
 */
function announce({ store, t, announce }) {
  const page = store.get();
  const read = reading(page);
  const at = read && pairIn(page, null, read);
  if (!read || !at) return;
  const { matrix, rows, cols } = read;
  const value = matrix.values[at.row * matrix.cols + at.col];
  announce(
    t("query {query}, key {key}: {weight}", {
      query: plainStep(rows.steps[at.row]),
      key: plainStep(cols.steps[at.col]),
      weight: Number.isNaN(value) ? t("masked") : four(value),
    }),
  );
}
