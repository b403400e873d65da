/** Score the reader's own translation, token by token. */

import { shareBar } from "../../core/draw/colour-scales.js";
import { token } from "../../core/draw/token.js";
import { bindTyping } from "../../core/figure/controls.js";
import { isFixed } from "../../core/store/share-contents.js";
import { outputKind } from "../../core/wire/reply.js";
import { labels } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { four, grouped, oneDecimal, tiny, two } from "../../lib/numbers.js";
import { continues } from "./current-step.js";
import { measure, divergence } from "./decoding-steps.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Scene } from "./current-step.js" */

/** @typedef {import("../../core/wire/safetensors.js").Trace["output"] & {ranks?: number[]}} Output */

/** @param {Context} context @param {{go: (step: number) => void}} actions */
export function createScoring({ store, t, uniqueId }, { go }) {
  const box = h("input", { type: "text", id: uniqueId("own-translation"), autocomplete: "off", spellcheck: false });
  const submit = h("button", { type: "submit", className: "button" }, t("Score it"));
  const form = h("form", { className: "together" }, box, submit);
  const label = h(
    "label",
    { className: "ask", for: uniqueId("own-translation") },
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
  const submitText = () => store.go({ target: box.value.trim() || null, query: null, key: null }, "chosen");
  bindTyping(box, { submit: submitText, submitOn: "enter" });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submitText();
  });
  let announced = "";

  /** @param {Scene} scene */
  function show({ page, lang, unforcedOutput, output, stepIndex }) {
    const { link } = page;
    const translates = outputKind(page.model) === "translation";
    label.hidden = form.hidden = continues(page);
    label.textContent = translates ? t("Type a translation of your own, and see how the model would score it") : t("Type an output of your own, and see how the model would score it");
    box.readOnly = submit.disabled = isFixed(page);
    box.lang = lang;
    if ((link.target ?? "") !== announced) announced = box.value = link.target ?? "";
    if (!output) return;
    const open = link.target !== null;
    const mine = open ? (translates ? t("Your translation") : t("Your output")) : t("What is written now");
    render(
      ledgers,
      ledger(t, mine, output, { lang, open, stepIndex, go }),
      open && unforcedOutput && ledger(t, t("The model’s own"), unforcedOutput, { lang, open, stepIndex: null, go }),
    );
  }

  return { element, show };
}

/**
 * @param {Context["t"]} t
 * @param {string} title
 * @param {Output} output
 * @param {{lang: string, open: boolean, stepIndex: number | null, go: (step: number) => void}} how  at:
 *   the current step; null: its rows are not steps of the page
 */
function ledger(t, title, output, { lang, open, stepIndex, go }) {
  const { logprob, entropy, perplexity } = measure(output.logprobs);
  const names = [t("token"), t("probability"), t("ln p"), t("rank")];
  const rows = labels(output.tokens, lang).map((label, step) => {
    const p = Math.exp(output.logprobs[step]);
    const name = token(label);
    return el(
      "tr",
      { className: step === stepIndex ? "here" : "" },
      el("th", { scope: "row" }, stepIndex === null ? name : el("button", { type: "button", className: "to-step", onclick: () => go(step) }, name)),
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
      n: perplexity < 10 ? oneDecimal(perplexity) : Math.round(perplexity),
    });
  return t("The model would almost never write this.");
}

// Two translations with the point at which they diverge: the chosen or typed one, and the model's
// own.

/** @param {Context} context @param {{undo: () => void}} actions */
export function createVersus({ t }, { undo }) {
  const element = h("section", { className: "versus" });

  /** @param {Scene} scene */
  function show({ page, lang, unforcedOutput, output: ours, stepIndex }) {
    const { link } = page;
    const text = continues(page);
    element.hidden = !ours || !unforcedOutput;
    if (!ours || !unforcedOutput) return;
    element.setAttribute("aria-label", text ? t("Beside the model’s own continuation") : t("Beside the model’s own output"));
    const from = divergence(ours.tokens, unforcedOutput.tokens);
    const name = link.target === null ? t("your choice") : t("your own");
    const heads = ["", "", t("ln P"), t("score"), t("perplexity")].map((head) => el("span", {}, head));
    render(
      element,
      el(
        "div",
        { className: "rows" },
        el("div", { className: "heads" }, heads),
        line(t("the model’s own"), "theirs", unforcedOutput, pieces(unforcedOutput, lang, from)),
        line(name, "yours", ours, pieces(ours, lang, from, stepIndex)),
      ),
      el(
        "div",
        { className: "say" },
        el("p", { className: "verdict", role: "status" }, verdict(t, ours, unforcedOutput, from, text)),
        el("button", { type: "button", className: "button", hidden: isFixed(page), onclick: undo }, t("Back to the model’s own")),
      ),
    );
  }

  return { element, show };
}

/**
 * The tokens, with those after the divergence grouped.
 * @param {Output} output
 * @param {string} lang
 * @param {number} from  index at which they diverge
 * @param {number} [stepIndex]  the current step
 */
function pieces({ tokens }, lang, from, stepIndex) {
  const all = labels(tokens, lang).map((label, i) =>
    el("span", { className: `piece ${i < from ? "common" : "apart"} ${i === stepIndex ? "now" : ""}`.trim() }, token(label)),
  );
  return [...all.slice(0, from), el("span", { className: "part" }, all.slice(from))];
}

/** @param {string} name @param {string} kind @param {Output} output @param {import("../../lib/dom.js").Child[]} tokens */
function line(name, kind, output, tokens) {
  const { logprob, perplexity } = measure(output.logprobs);
  const numbers = Object.entries({ logprob, score: output.score, perplexity });
  return el(
    "div",
    { className: `run ${kind}` },
    el("span", { className: "name" }, name),
    el("span", { className: "tokens" }, tokens),
    numbers.map(([of, value]) => el("span", { className: "number", "data-of": of }, two(value))),
  );
}

/**
 * Say how many times more probable one is than the other.
 * @param {Context["t"]} t
 * @param {Output} ours
 * @param {Output} theirs
 * @param {number} from
 * @param {boolean} text  whether they continue a text
 */
function verdict(t, ours, theirs, from, text) {
  if (from === ours.tokens.length && from === theirs.tokens.length)
    return text ? t("This is also the model’s own continuation.") : t("This is also the model’s own output.");
  const gap = measure(theirs.logprobs).logprob - measure(ours.logprobs).logprob;
  const times = Math.exp(Math.abs(gap));
  const factor =
    times < 10 ? oneDecimal(times) : times < 1e6 ? grouped(Math.round(times)) : tiny(times);
  const divergence = t("They diverge at step {n}.", { n: from + 1 });
  if (times < 1.05) return prose([divergence, t("The model gives both about the same probability.")]);
  return gap > 0
    ? prose([divergence, t("The model gives its own {factor} times the probability.", { factor })])
    : prose([
        divergence,
        t("The model gives yours {factor} times the probability: its search did not find it.", { factor }),
      ]);
}
