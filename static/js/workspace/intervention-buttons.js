/** Buttons for the most common changes, in the inspector; and marks on changed parts. */

import { blockOf, place, typed } from "../core/wire/attentions.js";
import { changes, found, touches } from "../core/store/interventions.js";
import { find } from "../lib/dom.js";
import { pairIn, reading, tokenAt } from "../core/store/heatmap-data.js";
import { view } from "../views/index.js";
import { editModel } from "../core/store/set-interventions.js";

/** @import { Desk } from "./types.js" */
/** @import { Change } from "../core/store/interventions.js" */
/** @typedef {"head" | "edge" | "token"} Which */

/** @param {Desk} context */
export function bindChangeButtons(context) {
  const { store } = context;
  const { on, toggle, fixed } = editModel(context);
  const group = find("#switches");
  const buttons = /** @type {Which[]} */ (["head", "edge", "token"]).map((which) => {
    const button = /** @type {HTMLButtonElement} */ (find(`#switch-${which}`));
    button.addEventListener("click", () => {
      const change = meant(context)[which];
      if (change) toggle(change);
    });
    return { which, button };
  });
  find("#switch-more").addEventListener("click", () => store.go({ view: "whatif" }, "chosen"));

  function show() {
    group.hidden = fixed();
    find("#switch-more").hidden = !context.figure.offer().includes(view("whatif"));
    const wanted = meant(context);
    for (const { which, button } of buttons) {
      const change = wanted[which];
      button.disabled = !change;
      button.setAttribute("aria-pressed", String(change !== null && on(change)));
    }
    mark();
  }

  function mark() {
    const { link, model } = store.get();
    if (!model) return;
    const list = changes(link);
    document.querySelectorAll("#heads label").forEach((label, head) =>
      label.classList.toggle("changed", touches(list, place(model, link), head)),
    );
    document.querySelectorAll("#source-tokens .chip").forEach((chip, token) =>
      chip.classList.toggle("unseen", found(list, { at: typed(model), do: { mask: token } }) !== null),
    );
  }

  store.subscribe(({ share, live, link, trace, model }) => [share, live, link, trace, model], show);
}

/**
 * What the three buttons do at the pinned pair or, without a pin, the explained one; null if it is
 * not a single head, a single edge, or a token of the sentence.
 * @param {Desk} context
 * @returns {Record<Which, Change | null>}
 */
function meant({ store }) {
  const page = store.get();
  const read = reading(page);
  const at = read && pairIn(page, null, read);
  if (!read || !at) return { head: null, edge: null, token: null };
  const { model, link } = page;
  const where = { at: place(model, link), head: link.head };
  const [query, key] = [tokenAt(read.rows, at.row), tokenAt(read.cols, at.col)];
  const alone = [read.rows.axis.groups[at.row], read.cols.axis.groups[at.col]].every((group) => group.length === 1);
  const open = !Number.isNaN(read.matrix.values[at.row * read.matrix.cols + at.col]);
  const one = read.choice.pool === "one";
  const { key: text } = blockOf(model, link.block);
  const mask = { at: text, do: { mask: key } };
  return {
    head: one ? { ...where, do: "zero" } : null,
    // A masked or cut edge has no weight to remove.
    edge: one && alone && open ? { ...where, do: { cut: [query, key] } } : null,
    token: text === typed(model) && read.cols.axis.groups[at.col].length === 1 ? mask : null,
  };
}
