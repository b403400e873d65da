/** "Why this token rather than that one?": whether the view contrasts, and with which token. */

import { el } from "../../lib/render.js";
import { quoted } from "../../core/draw/token.js";
import { contrastMenu } from "../../core/figure/contrast-menu.js";
import { RUNNER_UP, isItself, recorded, rivals } from "../../core/compute/contrast.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/** @typedef {{value: string, piece: import("../../core/compute/contrast.js").Piece}} Choice */

/**
 * @param {Context} context
 * @param {Trace} trace
 * @param {number} row
 * @param {import("../../core/wire/tokens.js").Label} written
 * @param {string} lang  of the tokens
 * @returns {import("../../lib/render.js").Described | null}  null: there is nothing to choose
 */
export function contrastChoice({ store, t, say }, trace, row, written, lang) {
  const page = store.get();
  const chosen = page.link.options.contrast;
  const tokens = choices(page, trace, row);
  if (!tokens.length) return null;
  // The question is about one row: pinned, it stays when the pointer leaves.
  const choose = (/** @type {string | null} */ contrast) =>
    store.batch(() => {
      if (contrast !== null && store.get().link.query === null) store.go({ query: row }, "pinned");
      store.choose({ contrast }, "chosen");
    });
  const value = tokens.some((one) => one.value === chosen) ? chosen : tokens[0].value;
  const box = el("input", { type: "checkbox", checked: chosen !== null, onchange: (/** @type {Event} */ { target }) => choose(/** @type {HTMLInputElement} */ (target).checked ? value : null) });
  return el(
    "div",
    { className: "contrast-choice" },
    el("span", {}, say(t("Why {token}"), { token: quoted(written) })),
    el("label", { className: "toggle" }, box, " ", el("span", {}, t("rather than"))),
    contrastMenu(t, lang, { value, tokens, onChoice: choose }),
    chosen !== null && isItself(page.model, trace, page.link, row) && el("p", { className: "note" }, t("This row writes the same token. Choose another one to contrast it with.")),
  );
}

/**
 * The runner-up first; without a model, as in a share whose model is gone, only what was recorded.
 * @param {import("../../core/store/store.js").Page} page
 * @param {Trace} trace
 * @param {number} row
 * @returns {Choice[]}
 */
function choices(page, trace, row) {
  const { contrast } = page.link.options;
  const all = rivals(page.model, trace, row).map((piece, n) => ({ value: n || contrast === String(piece.id) ? String(piece.id) : RUNNER_UP, piece }));
  const known = page.live ? null : recorded(trace);
  const other = known?.[0] ?? contrast;
  const id = Number(other);
  // A token of another row's is kept in the list, as it is in the link.
  const missing = other === null || other === undefined || other === RUNNER_UP || all.some(({ value }) => value === other) ? [] : [{ value: other, piece: { id, ...(trace.pieces?.[id] ?? { text: `#${id}`, special: false }) } }];
  return [...all, ...missing].filter(({ value }) => !known || known.includes(value));
}
