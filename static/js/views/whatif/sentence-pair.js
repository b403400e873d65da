/** The other sentence that parts are taken from, its tokens above those that they replace; and the contrast. */

import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { token } from "../../core/draw/token.js";
import { bcp47, labels, languages } from "../../core/wire/tokens.js";
import { typed } from "../../core/wire/attentions.js";
import { isFixed } from "../../core/store/share-contents.js";
import { otherSentence } from "../../core/store/comparison.js";
import { alignedColumns } from "./head-sweep.js";
import { contrastMenu } from "../../core/figure/controls.js";
import { bindTyping } from "../../core/figure/text-input.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/** @import { Sweep } from "./head-sweep.js" */

/** @param {Context} context */
export function sentencePair(context) {
  const { store, t } = context;
  const box = h("input", { type: "text", autocomplete: "off", spellcheck: false, id: context.own("patch-sentence") });
  bindTyping(box, { say: () => store.choose({ b: box.value.trim(), against: null, written: null }, "typed"), when: "leave" });
  const field = h("div", { className: "borrowed patched-from" }, h("label", { htmlFor: box.id }, t("Other sentence")), box);
  const pair = h("div", { className: "scroller", tabIndex: 0, role: "group", "aria-label": t("Tokens of both sentences, aligned") });
  const element = h("div", { className: "sentence-pair", hidden: true }, field, pair);

  return {
    element,

    /** @param {Sweep | null} sweep @param {Trace} run  the original one */
    show(sweep, run) {
      const page = store.get();
      const [lang] = languages(run.direction);
      element.hidden = false;
      if (document.activeElement !== box) box.value = otherSentence(page);
      box.lang = lang || bcp47("en");
      box.disabled = isFixed(page);
      render(pair, sweep?.other ? alignment(t, sweep, run, typed(page.model)) : []);
    },
  };
}

/** @param {Context["t"]} t @param {Sweep} sweep @param {Trace} run @param {string} text */
function alignment(t, { other }, run, text) {
  const [lang] = languages(run.direction);
  const [theirs, ours] = [other?.tokens[text] ?? [], run.tokens[text] ?? []];
  const [above, below] = [labels(theirs, lang), labels(ours, lang)];
  const columns = alignedColumns(theirs.length, ours.length, other?.rows[text] ?? []);
  const differs = (/** @type {typeof columns[0]} */ { theirs: a, ours: b }) => a === null || b === null || theirs[a].id !== ours[b].id;
  const line = (/** @type {string} */ name, /** @type {"theirs" | "ours"} */ side, /** @type {typeof above} */ names) =>
    el("tr", {}, el("th", { scope: "row" }, name), columns.map((column) => {
      const at = column[side];
      return el("td", { className: at === null ? "none" : differs(column) ? "differs" : "" }, at === null ? el("span", { className: "hidden" }, t("no token")) : token(names[at]));
    }));
  return el("table", { className: "aligned-tokens" }, el("tbody", {}, line(t("Other sentence"), "theirs", above), line(t("This sentence"), "ours", below)));
}

/**
 * "Why this word rather than that one", with both to choose.
 * @param {Context} context
 * @param {Sweep} sweep
 * @param {number} row
 * @param {Trace} run
 * @param {HTMLElement} rows  the written tokens, one of which is chosen
 */
export function why({ store, t, say }, sweep, row, run, rows) {
  const [, lang] = languages(run.direction);
  const against = sweep.against[row];
  const known = sweep.candidates[row];
  const all = known.some(({ id }) => id === against.id) ? known : [against, ...known];
  const tokens = all.map((piece) => ({ value: String(piece.id), piece }));
  const select = contrastMenu(t, lang, { value: String(against.id), tokens, onChoice: (value) => store.choose({ against: Number(value), written: row }, "chosen") });
  return say(t("Why {token} rather than {other}?"), { token: rows, other: select });
}
