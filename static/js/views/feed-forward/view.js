/**
 * The hidden units of a feed-forward network: what one of them is at each token, and which of them
 * stand out at one token. A unit can be switched off or set, and the output follows.
 */

import { hiddenOf, outstanding, sublayerName, unitAt } from "../../core/store/model-part-names.js";
import { quoted, token } from "../../core/draw/token.js";
import { waitingLine } from "../../core/figure/figure-status.js";
import { createUnitChanges, editModel } from "../../core/figure/change-controls.js";
import { highlightOf } from "../../core/store/highlight.js";
import { integerOption } from "../../core/store/link-options.js";
import { axes, blockAt } from "../../core/wire/model-description.js";
import { languages } from "../../core/wire/tokens.js";
import { plane } from "../../core/wire/safetensors.js";
import { el, h, render } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";

/** @import { Context, View } from "../../core/figure/types.js" */

/** The number of units that are listed at a token. */
const LISTED = 8;
/** Larger than any network; the model sets the limit. */
const MAX_UNIT = 999_999;

/** @type {View} */
export const feedForward = {
  id: "feed-forward",
  name: (t) => t("Feed-forward"),
  about: (t) =>
    t(
      "The feed-forward network of a layer computes each token by itself: it turns the token's vector into many " +
      "hidden units, each of which is 0 unless it finds what it answers to, and adds a vector for each unit that is " +
      "not. Choose a unit and see at which tokens it is active; choose a token and see which units stand out there.",
    ),
  capabilities: ["worksheet"],
  frame: { rail: "layer", inspector: false, caption: false, legend: "none", tells: true },
  options: { unit: integerOption(0, MAX_UNIT) },
  needs: ({ model, link }) => hiddenOf({ model, link }).map(({ name }) => name),
  lights: ({ model, link }) => hiddenOf({ model, link }).map(({ stack, layer }) => ({ part: /** @type {const} */ ("network"), stack, layer })),
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const { fixed } = editModel(context);
  const { line: finding, inner } = context.finding();
  const waiting = waitingLine(context, t("Waiting for the hidden units …"));
  const changes = createUnitChanges(context, { network: () => hiddenOf(store.get())[0]?.place ?? "", onUnit: choose });
  const nameOfUnit = h("h3", {});
  const byToken = h("table", { className: "unit-values" });
  const nameOfToken = h("h3", {});
  const byUnit = h("table", { className: "unit-values" });
  const output = h("p", { className: "unit-output" });
  const none = h("p", { className: "note" });
  const body = h(
    "div",
    { className: "feed-forward", hidden: true },
    h("section", {}, nameOfUnit, h("div", { className: "scroller" }, byToken)),
    h("section", {}, nameOfToken, h("p", { className: "note" }, t("their value here, and the largest at any other token")), h("div", { className: "scroller" }, byUnit)),
    h("section", { className: "change-panel" }, h("h3", {}, t("Change this unit at every token")), changes.element, output),
  );
  root.append(...(inner ? [inner] : []), waiting.element, none, body);

  /** @param {number} query */
  const pick = (query) => store.go({ query, key: null }, "pinned");
  for (const [table, chosen] of /** @type {const} */ ([[byToken, pick], [byUnit, choose]]))
    table.addEventListener("click", ({ target }) => {
      const button = target instanceof Element ? target.closest("button[data-index]") : null;
      if (button) chosen(Number(button.getAttribute("data-index")));
    });

  /** @param {number} unit */
  function choose(unit) {
    const units = state()?.values.cols ?? 1;
    store.choose({ unit: Math.min(unit, units - 1) }, "chosen");
  }

  /** What is shown: the units at each token, the selected token, the unit. */
  function state() {
    const page = store.get();
    const [network] = hiddenOf(page);
    const tensor = network && page.trace?.tensors[network.name];
    if (!tensor || !page.trace) return null;
    const steps = axes(page.model, page.trace, blockAt(page).id).rows;
    const values = plane(tensor);
    const first = Math.max(0, steps.findIndex(({ reads, writes }) => !(reads ?? writes).special));
    const selected = Math.min(highlightOf(page, store.hovered()).query ?? page.link.query ?? first, values.rows - 1);
    const strongest = outstanding(values, selected, LISTED);
    const { unit } = page.link.options;
    const index = unit !== null && unit < values.cols ? unit : strongest[0].unit;
    return { network, labels: steps.map(({ reads, writes }) => reads ?? writes), values, selected, strongest, unit: index };
  }

  function draw() {
    const view = state();
    const { model, trace } = store.get();
    const lacks = Boolean(model) && !hiddenOf(store.get()).length;
    none.hidden = !lacks;
    none.textContent = lacks ? t("The hidden units of this layer are not known.") : "";
    waiting.show(!view && !lacks);
    body.hidden = !view;
    if (!view || !trace) return render(finding);
    const { network, labels, values, selected, strongest, unit } = view;
    const ofUnit = unitAt(values, unit);
    const largest = Math.max(...ofUnit, ...strongest.map(({ value }) => value), 1e-9);
    const bar = (/** @type {number} */ value) => el("td", { key: "bar" }, el("span", { className: "track" }, el("span", { className: "bar", style: { width: `${(100 * Math.max(0, value)) / largest}%` } })));
    const number = (/** @type {number} */ value, key = "value") => el("td", { key, className: value ? "" : "faint" }, two(value));
    const button = (/** @type {number} */ index, /** @type {boolean} */ isSelected, /** @type {import("../../lib/dom.js").Child} */ name) =>
      el("th", { key: "name", scope: "row" }, el("button", { type: "button", className: "button quiet", "data-index": String(index), "aria-pressed": String(isSelected) }, name));
    render(nameOfUnit, t("Unit {n} at each token", { n: unit + 1 }));
    render(byToken, el("tbody", {}, labels.map((label, i) => el("tr", { key: String(i), "data-selected": i === selected ? "" : undefined }, [button(i, i === selected, token(label)), bar(ofUnit[i]), number(ofUnit[i])]))));
    render(nameOfToken, context.phrase(t("Units that stand out at {token}"), { token: quoted(labels[selected]) }));
    render(
      byUnit,
      el("tbody", {}, strongest.map((entry) =>
        el("tr", { key: String(entry.unit), "data-selected": entry.unit === unit ? "" : undefined }, [
          button(entry.unit, entry.unit === unit, t("unit {n}", { n: entry.unit + 1 })),
          bar(entry.value),
          number(entry.value),
          el("td", { key: "other", className: "faint" }, two(entry.elsewhere)),
        ]))),
    );
    changes.choose(unit);
    changes.refresh(true, fixed());
    const [, lang] = languages(trace.direction);
    render(output, context.phrase(t("The model writes: {text}"), { text: el("span", { lang }, trace.output.text) }));
    output.hidden = !trace.output.text;
    render(finding, summary(context, { unit, name: sublayerName(model, network.place, t), labels, values: ofUnit }));
    body.dataset.drawn = "";
  }

  return { draw, light: draw, destroy: () => root.replaceChildren() };
}

/**
 * At how many tokens the unit is active, and where most.
 * @param {Context} context
 * @param {{unit: number, name: string, labels: import("../../core/wire/tokens.js").Label[], values: number[]}} of
 */
function summary({ t, phrase }, { unit, name, labels, values }) {
  const active = values.filter((value) => value > 0).length;
  const best = values.indexOf(Math.max(...values));
  const words = { n: String(unit + 1), name, active: String(active), all: String(values.length), token: quoted(labels[best]), value: two(values[best]) };
  if (!active) return phrase(t("{name}: unit {n} is active at none of the {all} tokens."), words);
  return phrase(t("{name}: unit {n} is active at {active} of {all} tokens, most at {token} ({value})."), words);
}
