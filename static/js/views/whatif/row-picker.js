/** Choose one written token, or all of them. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { token } from "../../core/draw/token.js";
import { continuesAt, counted, outputKind } from "../../core/wire/reply.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { whole } from "./wording.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Trace } from "../../core/wire/wire.js" */

/** @param {Trace} trace  What it writes. */
export const writes = ({ output, direction }) => labels(output.tokens, languages(direction)[1]);

/** @param {Context} context */
export function rowPicker({ store, t }) {
  const element = h("div", { className: "sweep-rows", role: "group", "aria-label": t("Written token") });

  return {
    element,
    /** @param {Trace} trace @param {number | null} row @param {boolean} all  whether all of them can be chosen */
    show(trace, row, all) {
      const kind = outputKind(store.get().model);
      const from = continuesAt(store.get().model, trace.output);
      const names = writes(trace);
      const choice = (/** @type {import("../../lib/render.js").Child} */ name, /** @type {number | null} */ written) =>
        el("button", { type: "button", className: `chip${Number(written) >= from ? " continued" : ""}`, "aria-pressed": written === row, title: written === null ? whole(t, kind) : Number(written) >= from ? t("written by the model") : "", onclick: () => store.choose({ written, against: null }) }, name);
      render(element, all && choice(t("all"), null), counted(trace.output).map((index) => choice(token(names[index]), index)));
    },
  };
}
