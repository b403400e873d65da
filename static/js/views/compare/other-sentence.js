/** The second sentence, traced while typing; its errors are shown beside it. */

import { Problem } from "../../core/wire/problem.js";
import { otherRun, otherSentence } from "../../core/store/comparison.js";
import { isFixed } from "../../core/store/share-contents.js";
import { h } from "../../lib/dom.js";
import { bindTyping, grow } from "../../core/figure/text-input.js";
import { wording } from "../../core/figure/problem-wording.js";
import { answer } from "../../core/store/view-requests.js";
import { languages } from "../../core/wire/tokens.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Trace } from "../../core/wire/wire.js" */

/** @param {Context} context */
export function otherBox({ store, t, own }) {
  const box = h("textarea", {
    id: own("source-b"),
    rows: 1,
    autocomplete: "off",
    spellcheck: false,
    "aria-describedby": own("problem-b"),
  });
  const output = h("p", { className: "output-b", "aria-live": "polite" });
  const problem = h("p", { className: "problem", id: own("problem-b"), role: "alert", hidden: true });
  const element = h(
    "div",
    { className: "box-b" },
    h("div", { className: "line-b" }, h("label", { for: own("source-b") }, h("b", {}, "B"), h("span", { className: "hidden" }, " ", t("the same sentence with a word changed"))), box, output),
    problem,
  );
  let empty = false;
  bindTyping(box, {
    say() {
      empty = !box.value.trim();
      if (empty) refresh(true, new Problem("empty-text"));
      else store.choose({ b: box.value }, "typed");
    },
    onInput: () => grow(box),
  });

  /**
   * @param {boolean} wanted
   * @param {Problem | null} wrong  of B
   */
  function refresh(wanted, wrong) {
    element.hidden = !wanted;
    if (!wanted) return;
    const page = store.get();
    const said = otherSentence(page);
    box.readOnly = isFixed(page);
    if (document.activeElement !== box && box.value !== said) {
      box.value = said;
      empty = false;
    }
    grow(box);
    const question = otherRun(page);
    const found = question && /** @type {Trace | Problem | undefined} */ (answer(page, question));
    const trouble = empty ? new Problem("empty-text") : wrong;
    problem.hidden = !trouble;
    problem.textContent = trouble ? wording(t, trouble) : "";
    box.setAttribute("aria-invalid", String(trouble !== null));
    if (found && !(found instanceof Problem)) {
      const [from, to] = languages(found.direction);
      output.textContent = found.output.text;
      [box.lang, output.lang] = [from, to];
    }
  }
  return { element, refresh };
}
