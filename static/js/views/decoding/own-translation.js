/** Score the reader's own translation, token by token. */

import { isFixed } from "../../core/store/share-contents.js";
import { four, one, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { bindTyping } from "../../core/figure/text-input.js";
import { shareBar } from "../../core/draw/proportion-bar.js";
import { token } from "../../core/draw/token.js";
import { measure } from "./decoding-steps.js";
import { outputKind } from "../../core/wire/output.js";
import { continues } from "./continued-run.js";
import { labels } from "../../core/wire/tokens.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Scene } from "./current-step.js" */
/** @typedef {import("../../core/wire/wire.js").Trace["output"] & {ranks?: number[]}} Output */

/**
 * @param {Context} context
 * @param {{go: (step: number) => void}} actions
 */
export function createScoring({ store, t, own }, { go }) {
  const box = h("input", { type: "text", id: own("own-translation"), autocomplete: "off", spellcheck: false });
  const submit = h("button", { type: "submit", className: "button" }, t("Score it"));
  const form = h("form", { className: "together" }, box, submit);
  const label = h(
    "label",
    { className: "ask", for: own("own-translation") },
  );
  const ledgers = h("div", { className: "ledgers" });
  const element = h(
    "section",
    { className: "scoring" },
    h("h3", {}, t("How probable is it?")),
    label,
    form,
    ledgers,
  );
  const say = () => store.go({ target: box.value.trim() || null, query: null, key: null }, "chosen");
  bindTyping(box, { say, when: "enter" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    say();
  });
  let said = "";

  /** @param {Scene} scene */
  function show({ page, lang, other, output, at }) {
    const { link } = page;
    const translates = outputKind(page.model) === "translation";
    label.hidden = form.hidden = continues(page);
    label.textContent = translates ? t("Type a translation of your own, and see how the model would score it") : t("Type an output of your own, and see how the model would score it");
    box.readOnly = submit.disabled = isFixed(page);
    box.lang = lang;
    if ((link.target ?? "") !== said) said = box.value = link.target ?? "";
    if (!output) return;
    const open = link.target !== null;
    const mine = open ? (translates ? t("Your translation") : t("Your output")) : t("What is written now");
    render(
      ledgers,
      ledger(t, mine, output, { lang, open, at, go }),
      open && other && ledger(t, t("The model’s own"), other, { lang, open, at: null, go }),
    );
  }

  return { element, show };
}

/**
 * @param {Context["t"]} t
 * @param {string} title
 * @param {Output} output
 * @param {{lang: string, open: boolean, at: number | null, go: (step: number) => void}} how  at:
 *   the current step; null: its rows are not steps of the page
 */
function ledger(t, title, output, { lang, open, at, go }) {
  const { logprob, entropy, perplexity } = measure(output.logprobs);
  const names = [t("token"), t("probability"), t("ln p"), t("rank")];
  const rows = labels(output.tokens, lang).map((label, step) => {
    const p = Math.exp(output.logprobs[step]);
    const name = token(label);
    return el(
      "tr",
      { className: step === at ? "here" : "" },
      el("th", { scope: "row" }, at === null ? name : el("button", { type: "button", className: "to-step", onclick: () => go(step) }, name)),
      el("td", { className: "with-bar" }, shareBar(p), four(p)),
      el("td", {}, two(output.logprobs[step])),
      el("td", {}, output.ranks ? String(output.ranks[step]) : "–"),
    );
  });
  const table = el("table", {}, el("thead", {}, el("tr", {}, names.map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows));
  return el(
    "div",
    { className: "ledger" },
    el("h4", {}, title),
    el("p", { className: "plainly" }, plainly(t, perplexity)),
    el(
      "dl",
      {},
      pair(t("cross-entropy"), t("{nats} nats per token", { nats: two(entropy) }), "entropy"),
      pair(t("perplexity"), two(perplexity), "perplexity"),
      pair(t("ln P"), two(logprob), "logprob"),
    ),
    el("details", { open }, el("summary", {}, t("Token by token")), table),
  );
}

/** @param {string} name @param {string} value @param {string} of */
const pair = (name, value, of) => el("div", {}, el("dt", {}, name), el("dd", { "data-of": of }, value));

/** @param {Context["t"]} t @param {number} perplexity */
function plainly(t, perplexity) {
  if (perplexity < 1.1) return t("The model was nearly certain of each token.");
  if (perplexity < 1e4)
    return t("Per token, the model was as uncertain as a uniform choice among {n} tokens.", {
      n: perplexity < 10 ? one(perplexity) : Math.round(perplexity),
    });
  return t("The model would almost never write this.");
}
