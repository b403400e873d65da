/** A translation of the reader's own, and how probable the model holds it to be, token by token. */

import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { bindTyping } from "../../parts/text-input.js";
import { token } from "../../draw/token.js";
import { measure } from "../../compute/decoding-steps.js";
import { labels } from "../../data/tokens.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("./current-step.js").Scene} Scene */
/** @typedef {import("../../data/wire.js").Trace["output"] & {ranks?: number[]}} Output */

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
    t("Type a translation of your own, and see how the model would score it"),
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
  let opened = false;
  ledgers.addEventListener(
    "toggle",
    ({ target }) => (opened = /** @type {HTMLDetailsElement} */ (target).open),
    { capture: true },
  );

  /** @param {Scene} scene */
  function show(scene) {
    const { page, lang, other, at } = scene;
    const { link, trace, share } = page;
    box.readOnly = submit.disabled = share !== null;
    box.lang = lang;
    if ((link.target ?? "") !== said) said = box.value = link.target ?? "";
    if (!trace) return;
    const apart = link.target !== null && other;
    const mine = link.target === null ? t("What is written now") : t("Your translation");
    ledgers.replaceChildren(
      ledger(mine, trace.output, lang, at),
      ...(apart ? [ledger(t("The model’s own"), other, lang, null)] : []),
    );
  }

  /** @param {string} title @param {Output} output @param {string} lang @param {number | null} at */
  function ledger(title, output, lang, at) {
    const { logprob, entropy, perplexity } = measure(output.logprobs);
    const names = [t("token"), t("probability"), t("ln p"), t("rank")];
    const rows = labels(output.tokens, lang).map((label, step) => {
      const p = Math.exp(output.logprobs[step]);
      const bar = h("span", { className: "bar" });
      bar.style.width = `${p * 100}%`;
      const name =
        at === null ? token(label) : h("button", { type: "button", className: "to-step" }, token(label));
      if (at !== null) name.addEventListener("click", () => go(step));
      return h(
        "tr",
        { className: step === at ? "here" : "" },
        h("th", { scope: "row" }, name),
        h("td", { className: "with-bar" }, h("span", { className: "track" }, bar), four(p)),
        h("td", {}, two(output.logprobs[step])),
        h("td", {}, output.ranks ? String(output.ranks[step]) : "–"),
      );
    });
    return h(
      "div",
      { className: "ledger" },
      h("h4", {}, title),
      h("p", { className: "plainly" }, plainly(t, perplexity)),
      h(
        "dl",
        {},
        pair(t("cross-entropy"), t("{nats} nats a token", { nats: two(entropy) }), "entropy"),
        pair(t("perplexity"), two(perplexity), "perplexity"),
        pair(t("ln P"), two(logprob), "logprob"),
      ),
      h(
        "details",
        { open: store.get().link.target !== null || opened },
        h("summary", {}, t("Token by token")),
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, ...rows),
        ),
      ),
    );
  }

  /** @param {string} name @param {string} value @param {string} of */
  const pair = (name, value, of) => h("div", {}, h("dt", {}, name), h("dd", { "data-of": of }, value));

  return { element, show };
}

/** @param {Context["t"]} t @param {number} perplexity */
function plainly(t, perplexity) {
  if (perplexity < 1.1) return t("Token by token the model was nearly sure of it.");
  if (perplexity < 1e4)
    return t("Token by token the model was as unsure as one who picks blindly among {n} tokens.", {
      n: perplexity < 10 ? perplexity.toFixed(1) : Math.round(perplexity),
    });
  return t("The model would hardly ever have written this.");
}
