/** The caption: one sentence computed from the numbers of the highlighted row. */

import { render } from "../../lib/render.js";
import { compose } from "./row-wording.js";
import { four } from "../../lib/numbers.js";
import { pairIn, reading } from "../store/heatmap-data.js";
import { plainStep } from "../wire/tokens.js";

/** @import { Context } from "./types.js" */

/**
 * @param {Context} context
 * @param {HTMLElement} line
 * @param {(page: import("../store/store.js").Page) => boolean} speaks  whether the caption
 *   describes the row
 * @param {() => boolean} tells  whether the pinned cell is announced here, not by the view itself
 * @returns {() => void}  unsubscribes
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
 * Announce the pinned cell to screen readers. Hovered cells are not announced.
 * @param {Context} context
 */
function announce({ store, t, announce }) {
  const page = store.get();
  const read = reading(page);
  const at = read && pairIn(page, null, read);
  if (!read || !at) return;
  const { matrix, rows, cols, sinks, sunk } = read;
  const value = matrix.values[at.row * matrix.cols + at.col];
  const names = { query: plainStep(rows.steps[at.row]), key: plainStep(cols.steps[at.col]), weight: Number.isNaN(value) ? t("masked") : four(value) };
  announce(
    sunk
      ? t("query {query}, key {key}: {weight}; attention sink: {sink}", { ...names, sink: four(sinks[at.row]) })
      : t("query {query}, key {key}: {weight}", names),
  );
}
