/** The two translations, one under the other, and what became of the one as it was. */

import { isChanged } from "../../state/interventions.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { languages } from "../../data/tokens.js";
import { pieces } from "../../state/before-after.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../data/wire.js").Trace} Trace */
/** @typedef {import("../../state/before-after.js").Runs} Runs */

/** @param {Context} context */
export function outcome({ store, t, say }) {
  const was = h("dd", {});
  const is = h("dd", {});
  const says = h("p", { className: "lead" });
  const list = h(
    "dl",
    { className: "outcome" },
    h("div", {}, h("dt", {}, t("As trained")), was),
    h("div", {}, h("dt", {}, t("Changed")), is),
  );
  const element = h("div", {}, list, says);

  /** @param {Runs} runs @param {Trace} own */
  function draw(runs, own) {
    const { before, after } = runs;
    const changed = isChanged(store.get().link);
    list.hidden = !changed;
    if (!changed) {
      says.replaceChildren(t("Nothing is changed yet: this is the machine as it was trained."));
      return;
    }
    const [, lang] = languages(before.direction);
    fill(was, pieces(before, own), "gone", lang);
    fill(is, pieces(own, before), "new", lang);
    const [a, b] = [sum(before), sum(after)];
    const same = before.output.text === own.output.text;
    const numbers = { before: h("b", {}, two(a)), after: h("b", {}, two(b)) };
    says.replaceChildren(
      ...say(
        same
          ? t("The translation stays. Its log-probability was {before}, and is {after} now.")
          : t("The translation changes. The log-probability of the one as it was: {before}, and {after} now."),
        numbers,
      ),
    );
  }

  /** @param {HTMLElement} into @param {ReturnType<typeof pieces>} cut @param {"gone" | "new"} name @param {string} lang */
  function fill(into, cut, name, lang) {
    into.lang = cut.length ? lang : "";
    into.replaceChildren(
      ...(cut.length ? cut.map(({ text, differs }) => (differs ? h(name === "new" ? "ins" : "del", { className: name }, text) : text)) : [t("(nothing)")]),
    );
  }
  return { element, draw };
}

/** @param {Trace} trace @returns {number}  log-probability, in nats */
const sum = ({ output }) => output.logprobs.reduce((a, b) => a + b, 0);
