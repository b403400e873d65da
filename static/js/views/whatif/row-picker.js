/** Choose one written token, or all of them. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { token } from "../../draw/token.js";
import { labels, languages } from "../../data/tokens.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../data/wire.js").Trace} Trace */

/** @param {Trace} trace  What it writes. */
export const writes = ({ output, direction }) => labels(output.tokens, languages(direction)[1]);

/** @param {Context} context */
export function rowPicker({ store, t }) {
  const element = h("div", { className: "sweep-rows", role: "group", "aria-label": t("Written token") });

  return {
    element,
    /** @param {Trace} trace @param {number | null} row */
    show(trace, row) {
      const choice = (/** @type {import("../../lib/dom.js").Child} */ name, /** @type {number | null} */ written) =>
        el("button", { type: "button", className: "chip", "aria-pressed": written === row, title: written === null ? t("whole translation") : "", onclick: () => store.choose({ written }) }, name);
      render(element, choice(t("all"), null), writes(trace).map((label, i) => choice(token(label), i)));
    },
  };
}
