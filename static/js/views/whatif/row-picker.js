/** Which written token is asked about: all of them, or one. */

import { h } from "../../lib/dom.js";
import { token } from "../../draw/token.js";
import { labels, languages } from "../../data/tokens.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../data/wire.js").Trace} Trace */

/** @param {Trace} trace  What it writes. */
export const writes = ({ output, direction }) => labels(output.tokens, languages(direction)[1]);

/** @param {Context} context */
export function rowPicker({ store, t }) {
  const element = h("div", { className: "sweep-rows", role: "group", "aria-label": t("Written token") });
  let of = "";

  /** @param {Node | string} name @param {number | null} written */
  function choice(name, written) {
    const button = h("button", { type: "button", className: "chip" }, name);
    button.addEventListener("click", () => store.choose({ written }));
    return button;
  }

  return {
    element,
    /** @param {Trace} trace @param {number | null} row */
    show(trace, row) {
      if (of !== trace.id) {
        of = trace.id;
        element.replaceChildren(choice(t("whole translation"), null), ...writes(trace).map((label, i) => choice(token(label), i)));
      }
      [...element.children].forEach((button, i) => button.setAttribute("aria-pressed", String((i ? i - 1 : null) === row)));
    },
  };
}
