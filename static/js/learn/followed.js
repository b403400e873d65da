/**
 * The model's map beside a figure: a click goes to another attention, where the same word of each
 * text stays selected.
 */

import { bindMap } from "../workspace/model-map.js";
import { blockOf } from "../core/wire/attentions.js";
import { h } from "../lib/dom.js";

let made = 0;

/**
 * @param {Pick<import("../core/figure/types.js").Context, "store" | "t">} context  of the figure
 * @param {number[]} rows  the row to select, by text in the order of the model's
 */
export function createFollowedMap({ store, t }, rows) {
  const map = h("fieldset", { className: "map" }, h("legend", { className: "hidden" }, t("Place in the model")));
  bindMap({ store, t }, () => {}, map, `place-${++made}`);
  store.subscribe(
    ({ link, model }) => [link.block, model],
    ({ link, model }) => {
      const row = model ? rows[model.texts.indexOf(blockOf(model, link.block).query)] : undefined;
      if (row !== undefined && link.query === null) store.go({ query: row }, "answer");
    },
  );
  return map;
}
