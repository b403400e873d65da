/** Two translations, aligned to where they part: what was chosen or typed, and the model's own. */

import { prose } from "../../lib/i18n.js";
import { tiny, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { token } from "../../draw/token.js";
import { measure, parting } from "../../compute/decoding-steps.js";
import { labels } from "../../data/tokens.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("./current-step.js").Scene} Scene */
/** @typedef {import("../../data/wire.js").Trace["output"]} Output */

/**
 * @param {Context} context
 * @param {{undo: () => void}} actions
 */
export function createVersus({ t }, { undo }) {
  const says = h("p", { className: "verdict", role: "status" });
  const rows = h("div", { className: "rows" });
  const back = h("button", { type: "button", className: "button" }, t("Back to the model’s own"));
  back.addEventListener("click", undo);
  const element = h(
    "section",
    { className: "versus", "aria-label": t("Beside the model’s own translation") },
    rows,
    h("div", { className: "say" }, says, back),
  );

  /** @param {Scene} scene */
  function show({ page, lang, other, at }) {
    const { trace, link, share } = page;
    element.hidden = !trace || !other;
    if (!trace || !other) return;
    back.hidden = share !== null;
    const ours = trace.output;
    const from = parting(ours.tokens, other.tokens);
    const name = link.target === null ? t("your choice") : t("your translation");
    rows.replaceChildren(
      h(
        "div",
        { className: "heads" },
        h("span", {}),
        h("span", {}),
        h("span", {}, t("ln P")),
        h("span", {}, t("score")),
        h("span", {}, t("perplexity")),
      ),
      line(t("the model’s own"), other, "theirs"),
      line(name, ours, "yours"),
    );
    says.textContent = verdict(t, ours, other, from);

    /** @param {string} name @param {Output} output @param {string} kind */
    function line(name, output, kind) {
      const { logprob, perplexity } = measure(output.logprobs);
      const cells = labels(output.tokens, lang).map((label, i) =>
        h(
          "span",
          {
            className: ["piece", i < from ? "common" : "apart", kind === "yours" && i === at ? "now" : ""]
              .join(" ")
              .trim(),
          },
          token(label),
        ),
      );
      return h(
        "div",
        { className: `run ${kind}` },
        h("span", { className: "name" }, name),
        h(
          "span",
          { className: "tokens" },
          ...cells.slice(0, from),
          h("span", { className: "part" }, ...cells.slice(from)),
        ),
        h("span", { className: "number", "data-of": "logprob" }, two(logprob)),
        h("span", { className: "number", "data-of": "score" }, two(output.score)),
        h("span", { className: "number", "data-of": "perplexity" }, two(perplexity)),
      );
    }
  }

  return { element, show };
}

/**
 * How many times as probable the one is as the other, in words.
 * @param {Context["t"]} t
 * @param {Output} ours
 * @param {Output} other
 * @param {number} from
 */
function verdict(t, ours, other, from) {
  if (from === ours.tokens.length && from === other.tokens.length)
    return t("It is what the model writes by itself.");
  const gap = measure(other.logprobs).logprob - measure(ours.logprobs).logprob;
  const times = Math.exp(Math.abs(gap));
  const factor =
    times < 10 ? times.toFixed(1) : times < 1e6 ? Math.round(times).toLocaleString("en") : tiny(times);
  const at = t("They part at step {n}.", { n: from + 1 });
  if (times < 1.05) return prose([at, t("The model holds both to be equally probable.")]);
  return gap > 0
    ? prose([at, t("The model holds its own to be {factor} times as probable.", { factor })])
    : prose([
        at,
        t("The model holds yours to be {factor} times as probable: its search did not find it.", { factor }),
      ]);
}
