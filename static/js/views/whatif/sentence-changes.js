/** Changes to the sentence: masked tokens, positions. */

import { kindOf } from "../../core/compute/positions.js";
import { axes, within } from "../../core/wire/attentions.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { token } from "../../core/draw/token.js";
import { editModel } from "../../core/store/set-interventions.js";
import { plain } from "../../core/wire/tokens.js";
import { oneOf, onOff } from "./change-controls.js";

/** @import { Context } from "../../core/figure/types.js" */

const SEED = 1;

/** @param {Context} context */
export function sentenceChanges(context) {
  const { store, t } = context;
  const { put, remove, found, on, toggle, fixed } = editModel(context);
  const [sentence, translation] = [0, 1].map((which) => () => store.get().model?.texts[which] ?? "");
  const ordered = () => `${sentence()}.position`;
  const late = () => ({ at: `${translation()}.position`, do: "drop" });
  const mask = (/** @type {number} */ index) => ({ at: sentence(), do: { mask: index } });
  const tokens = h("ol", { className: "mask-tokens", "aria-label": t("Tokens hidden from all heads") });
  let seed = SEED;
  const positions = oneOf(context, "positions", t("Positions"), () => ({ kept: t("as they are"), drop: t("dropped"), shuffle: t("shuffled") }), (value) => {
    if (value === "kept") remove({ at: ordered(), do: "drop" });
    else put({ at: ordered(), do: value === "drop" ? "drop" : { shuffle: seed } });
  });
  const again = h("button", { type: "button", className: "button quiet" }, t("shuffle again"));
  again.addEventListener("click", () => put({ at: ordered(), do: { shuffle: ++seed } }));
  const target = onOff(t("drop the positions of the output"), () => toggle(late()));
  const element = h(
    "section",
    {},
    h("h3", {}, t("The sentence")),
    h("p", { className: "hint-line" }, t("Click a token to hide it from all heads.")),
    tokens,
    positions.element,
    again,
    target.element,
  );

  function refresh() {
    const { trace, model } = store.get();
    const still = fixed();
    const cols = trace ? axes(model, trace, within(model, sentence()).id).cols : [];
    render(tokens, cols.map(({ writes }, index) => {
      const props = { type: "button", className: "chip", disabled: still, onclick: () => toggle(mask(index)) };
      const said = { "aria-label": t("mask {token}", { token: plain(writes) }), "aria-pressed": on(mask(index)) };
      return el("li", {}, el("button", { ...props, ...said }, token(writes)));
    }));
    const present = found({ at: ordered(), do: "drop" });
    const shuffled = present?.do?.shuffle;
    if (typeof shuffled === "number") seed = shuffled;
    // Only positions added to the embeddings can be dropped or shuffled.
    const added = kindOf(model).where === "input";
    positions.element.hidden = !added;
    target.element.hidden = !added || !translation();
    positions.show(!present ? "kept" : shuffled === undefined ? "drop" : "shuffle", still);
    again.hidden = !added || shuffled === undefined || still;
    target.show(on(late()), still);
  }
  return { element, refresh };
}
