/**
 * The outputs of both runs, one below the other, and how the likelihood of the original one changed.
 */

import { isChanged } from "../../core/store/interventions.js";
import { inNats, likelier } from "./likelihood-wording.js";
import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { logprob, outputKind } from "../../core/wire/reply.js";
import { languages } from "../../core/wire/tokens.js";
import { effect } from "./wording.js";
import { pieces } from "./before-after.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Trace } from "../../core/wire/wire.js" */
/** @import { Runs } from "./before-after.js" */

/** @param {Context} context */
export function outcome({ store, t, say }) {
  const element = h("div", {});
  /** @type {import("../../lib/render.js").Child[]} */
  let said = [];

  /** @param {Runs} runs @param {Trace} own */
  function draw({ before, after }, own) {
    if (!isChanged(store.get().link)) {
      said = [t("No changes yet: this is the model as trained.")];
      return render(element, []);
    }
    if (!before.output.tokens.length) {
      said = [];
      return render(element, []);
    }
    const [, lang] = languages(before.direction);
    const [was, is] = [before, after].map(({ output }) => logprob(output));
    said = say(
      effect(t, outputKind(store.get().model), before.output.text === own.output.text),
      { likelier: el("b", {}, likelier(t, is - was)), change: inNats(is - was), before: two(was), after: two(is) },
    );
    const texts = el(
      "dl",
      { className: "outcome" },
      line(t("As trained"), pieces(before, own), "del", lang),
      line(t("Changed"), pieces(own, before), "ins", lang),
    );
    render(element, texts);
  }

  /** @param {string} name @param {ReturnType<typeof pieces>} cut @param {"del" | "ins"} tag  of what only this one has @param {string} lang */
  function line(name, cut, tag, lang) {
    const parts = cut.map(({ text, differs }) => (differs ? el(tag, { className: tag === "ins" ? "new" : "gone" }, text) : text));
    return el("div", {}, el("dt", {}, name), el("dd", { lang: cut.length ? lang : "" }, cut.length ? parts : t("(nothing)")));
  }
  return { element, draw, finding: () => said };
}
