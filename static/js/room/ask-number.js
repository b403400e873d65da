/** The form of a question of the teacher's own, whose answer is a number. */

import { number } from "../lib/cells.js";
import { h } from "../lib/dom.js";

const MOST = 300;

/**
 * @param {Pick<import("../core/figure/types.js").PageContext, "t">} page
 * @param {(question: import("./types.js").Asks) => void} ask
 */
export function createNumberForm({ t }, ask) {
  const field = (/** @type {string} */ says, /** @type {object} */ props) => h("input", { type: "text", autocomplete: "off", "aria-label": says, placeholder: says, ...props });
  const words = field(t("Your question"), { maxLength: MOST, required: true });
  const right = field(t("Right number"), { inputMode: "decimal", required: true });
  const within = field(t("May be off by"), { inputMode: "decimal" });
  const wrong = h("p", { className: "wrong", role: "alert", hidden: true }, t("Not a number. Write 0.5, −2 or 1/3."));
  const form = h("form", { className: "own-number" }, words, right, within, h("button", { type: "submit", className: "button" }, t("Ask for a number")), wrong);

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const [value, off] = [right, within].map((one) => number(one.value).value);
    const bad = value === null ? right : within.value.trim() && (off === null || off < 0) ? within : null;
    wrong.hidden = !bad;
    if (bad) return bad.focus();
    ask({ kind: "number", link: "", words: words.value.trim(), value: value ?? 0, ...(off === null ? {} : { within: off }) });
  });
  return form;
}
