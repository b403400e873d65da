/**
 * Two translations with the point at which they diverge: the chosen or typed one, and the model's
 * own.
 */

import { isFixed } from "../../core/store/share-contents.js";
import { prose } from "../../lib/i18n.js";
import { grouped, one, tiny, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { token } from "../../core/draw/token.js";
import { measure, parting } from "./decoding-steps.js";
import { continues } from "./continued-run.js";
import { labels } from "../../core/wire/tokens.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Scene } from "./current-step.js" */
/** @import { Output } from "./own-translation.js" */

/**
 * @param {Context} context
 * @param {{undo: () => void}} actions
 */
export function createVersus({ t }, { undo }) {
  const element = h("section", { className: "versus" });

  /** @param {Scene} scene */
  function show({ page, lang, other, output: ours, at }) {
    const { link } = page;
    const text = continues(page);
    element.hidden = !ours || !other;
    if (!ours || !other) return;
    element.setAttribute("aria-label", text ? t("Beside the model’s own continuation") : t("Beside the model’s own output"));
    const from = parting(ours.tokens, other.tokens);
    const name = link.target === null ? t("your choice") : t("your own");
    const heads = ["", "", t("ln P"), t("score"), t("perplexity")].map((head) => el("span", {}, head));
    render(
      element,
      el(
        "div",
        { className: "rows" },
        el("div", { className: "heads" }, heads),
        line(t("the model’s own"), "theirs", other, pieces(other, lang, from)),
        line(name, "yours", ours, pieces(ours, lang, from, at)),
      ),
      el(
        "div",
        { className: "say" },
        el("p", { className: "verdict", role: "status" }, verdict(t, ours, other, from, text)),
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
 * @param {number} [at]  the current step
 */
function pieces({ tokens }, lang, from, at) {
  const all = labels(tokens, lang).map((label, i) =>
    el("span", { className: `piece ${i < from ? "common" : "apart"} ${i === at ? "now" : ""}`.trim() }, token(label)),
  );
  return [...all.slice(0, from), el("span", { className: "part" }, all.slice(from))];
}

/** @param {string} name @param {string} kind @param {Output} output @param {import("../../lib/render.js").Child[]} tokens */
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
 * @param {Output} other
 * @param {number} from
 * @param {boolean} text  whether they continue a text
 */
function verdict(t, ours, other, from, text) {
  if (from === ours.tokens.length && from === other.tokens.length)
    return text ? t("This is also the model’s own continuation.") : t("This is also the model’s own output.");
  const gap = measure(other.logprobs).logprob - measure(ours.logprobs).logprob;
  const times = Math.exp(Math.abs(gap));
  const factor =
    times < 10 ? one(times) : times < 1e6 ? grouped(Math.round(times)) : tiny(times);
  const at = t("They diverge at step {n}.", { n: from + 1 });
  if (times < 1.05) return prose([at, t("The model gives both about the same probability.")]);
  return gap > 0
    ? prose([at, t("The model gives its own {factor} times the probability.", { factor })])
    : prose([
        at,
        t("The model gives yours {factor} times the probability: its search did not find it.", { factor }),
      ]);
}
