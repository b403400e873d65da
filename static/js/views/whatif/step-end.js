/** One end of a step between two runs: a token of a sentence. */

import { typed } from "../../core/wire/attentions.js";
import { Problem } from "../../core/wire/problem.js";
import { createAsker } from "../../core/wire/connection.js";
import { labels, languages, plain } from "../../core/wire/tokens.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { bindTyping } from "../../core/figure/text-input.js";
import { traced } from "../../core/store/view-requests.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Label } from "../../core/wire/tokens.js" */

/**
 * @param {Context} context
 * @param {{word: string, token: string, sentence: string}} names  before both fields, and of each
 * @param {(end: {source?: string, row: number | null}) => void} chosen
 * @param {() => void} told  called when the tokens have arrived
 */
export function stepEnd({ store, source }, names, chosen, told) {
  const asker = createAsker();
  const select = h("select", { "aria-label": names.token });
  const box = h("input", { type: "text", autocomplete: "off", spellcheck: false, "aria-label": names.sentence });
  const element = h("div", { className: "step-end", role: "group", "aria-label": names.word }, h("span", {}, names.word), select, box);
  /** @type {Label[]} */
  let tokens = [];
  /** @type {Problem | null} */
  let problem = null;
  let known = "";
  select.addEventListener("change", () => chosen({ row: Number(select.value) }));
  bindTyping(box, { say: () => box.value.trim() && chosen({ source: box.value.trim(), row: null }), when: "leave" });

  /** @param {string} text */
  async function look(text) {
    const page = store.get();
    const { trace: request } = /** @type {{trace: object}} */ (traced(page, { source: text, target: null, interventions: null, pad_to: null, select: [] }));
    const key = JSON.stringify(request);
    if (key === known) return;
    known = key;
    const reply = await asker.ask((signal) => source.trace(request, signal));
    if (reply === null) return;
    problem = reply instanceof Problem ? reply : null;
    tokens = reply instanceof Problem ? [] : labels(reply.tokens[typed(page.model)] ?? [], languages(reply.direction)[0]);
    told();
  }

  return {
    element,
    tokens: () => tokens,
    problem: () => problem,
    /** Ask again for tokens that could not be had. */
    retry() {
      if (problem) known = "";
    },
    /** @param {string} text @param {number} row @param {boolean} still */
    show(text, row, still) {
      if (!still) void look(text);
      if (document.activeElement !== box) box.value = text;
      render(select, tokens.map((label, i) => el("option", { value: String(i) }, `${i + 1} ${plain(label)}`)));
      select.value = String(row);
      select.disabled = box.disabled = still;
    },
  };
}
