/** What is done to the sentence: tokens that nobody may look at, positions; and to what is added on the way. */

import { axes, stacked, within } from "../../data/attentions.js";
import { networks } from "../../state/model-part-names.js";
import { where } from "../../state/interventions.js";
import { h } from "../../lib/dom.js";
import { token } from "../../draw/token.js";
import { editModel } from "../../state/edit-model.js";
import { plain } from "../../data/tokens.js";
import { oneOf, onOff } from "./change-controls.js";

/** @typedef {import("../../state/types.js").Context} Context */

const SEED = 1;

/** @param {Context} context */
export function sentenceChanges(context) {
  const { store, t } = context;
  const { put, remove, found, on, toggle, fixed } = editModel(context);
  const [sentence, translation] = [0, 1].map((which) => () => store.get().model?.texts[which] ?? "");
  const ordered = () => `${sentence()}.position`;
  const late = () => ({ at: `${translation()}.position`, do: "drop" });
  const mask = (/** @type {number} */ index) => ({ at: sentence(), do: { mask: index } });
  const tokens = h("ol", { className: "mask-tokens", "aria-label": t("Tokens that nobody may look at") });
  let seed = SEED;
  const positions = oneOf(context, "positions", t("Positions"), { kept: t("as they are"), drop: t("dropped"), shuffle: t("shuffled") }, (value) => {
    if (value === "kept") remove({ at: ordered(), do: "drop" });
    else put({ at: ordered(), do: value === "drop" ? "drop" : { shuffle: seed } });
  });
  const again = h("button", { type: "button", className: "button quiet" }, t("shuffle again"));
  again.addEventListener("click", () => put({ at: ordered(), do: { shuffle: ++seed } }));
  const target = onOff(t("drop the positions of the translation"), () => toggle(late()));
  const element = h(
    "section",
    {},
    h("h3", {}, t("The sentence")),
    h("p", { className: "hint-line" }, t("Click a token, and nobody may look at it.")),
    tokens,
    positions.element,
    again,
    target.element,
  );
  let built = "";

  function build() {
    const { trace, model } = store.get();
    if (!trace || built === trace.id) return;
    built = trace.id;
    const { cols } = axes(model, trace, within(model, sentence()).id);
    const focused = [...tokens.querySelectorAll("button")].findIndex((one) => one === document.activeElement);
    tokens.replaceChildren(
      ...cols.map(({ writes }, index) => {
        const button = h("button", { type: "button", className: "chip" }, token(writes));
        button.setAttribute("aria-label", t("mask {token}", { token: plain(writes) }));
        button.addEventListener("click", () => toggle(mask(index)));
        return h("li", {}, button);
      }),
    );
    if (focused >= 0) tokens.querySelectorAll("button")[focused]?.focus();
  }

  function refresh() {
    build();
    const still = fixed();
    tokens.querySelectorAll("button").forEach((button, index) => {
      button.setAttribute("aria-pressed", String(on(mask(index))));
      button.disabled = still;
    });
    const present = found({ at: ordered(), do: "drop" });
    const shuffled = present?.do?.shuffle;
    if (typeof shuffled === "number") seed = shuffled;
    positions.show(!present ? "kept" : shuffled === undefined ? "drop" : "shuffle", still);
    again.hidden = shuffled === undefined || still;
    target.show(on(late()), still);
  }
  return { element, refresh };
}

/**
 * The stream around a sublayer: what it adds to, dropped.
 * @param {Context} context
 */
export function residualChanges(context) {
  const { store, t } = context;
  const { on, toggle, fixed } = editModel(context);
  const select = h("select", { "aria-label": t("Residual connection") });
  const drop = onOff(t("dropped"), () => toggle(change()));
  const change = () => ({ at: select.value, do: "drop" });
  select.addEventListener("change", refresh);
  const element = h("section", {}, h("h3", {}, t("A residual connection")), h("div", { className: "option residual" }, select, drop.element));

  function refresh() {
    const { model } = store.get();
    if (!model) return;
    if (!select.options.length) {
      const places = networks(model).flatMap(({ at, stack, layer }) => [
        ...stacked(model, stack).map(({ rows }) => rows[layer].place),
        at,
      ]);
      select.replaceChildren(...places.map((at) => h("option", { value: `${at}.residual` }, where({ at, do: "" }, t, model))));
    }
    drop.show(on(change()), fixed());
  }
  return { element, refresh };
}
