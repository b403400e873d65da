/**
 * Where the decoder looks while it writes the token: at its own text and at the sentence, and how
 * the encoder read that.
 */

import {
  attention, candidateTensors, crossBlock, extent, place, predictingBlock, selfBlock,
} from "../../core/wire/model-description.js";
import { rounded, two } from "../../lib/numbers.js";
import { el, h, render } from "../../lib/dom.js";
import { quoted, token } from "../../core/draw/token.js";
import { traceLabels } from "../../core/wire/tokens.js";
import { meanPlane, row } from "../../core/wire/safetensors.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Scene } from "./current-step.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Block } from "../../core/wire/model-description.js" */
/** @import { Label } from "../../core/wire/tokens.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */
/** @typedef {{labels: Label[], weights: {values: number[], error?: number}}} Strip */

/** @param {Page} page @param {string} block @returns {{block: string, layer: number, head: number}}  what is shown of it */
function spot({ link, model }, block) {
  const limits = model ? extent(model, block) : { layers: 1, heads: 1 };
  return { block, layer: Math.min(link.layer, limits.layers - 1), head: Math.min(link.head, limits.heads - 1) };
}

/**
 * The three attentions shown: self-attention, cross-attention, and the encoder's self-attention; of a
 * decoder, only its self-attention.
 * @param {Pick<Page, "model">} page
 * @returns {{self: Block, joins?: Block, read?: Block}}
 */
function shownAttentions({ model }) {
  const joins = crossBlock(model);
  if (!joins.id) return { self: predictingBlock(model) };
  return { self: selfBlock(model, joins.query), joins, read: selfBlock(model, joins.key) };
}

/** What the view shows of a run. @param {Page} page @returns {string[]}  names of tensors */
export const neededTensors = (page) => [
  ...Object.values(shownAttentions(page)).flatMap(({ id }) =>
    ["weights", "mask"].map((name) => place(page.model, spot(page, id), name)),
  ),
  ...candidateTensors(page.model),
];

/**
 * @param {Page} page
 * @param {Trace} trace
 * @param {string} block
 * @param {number} query
 * @returns {{values: number[], error?: number} | null}  weights of the head, or the mean of the heads, and by how much
 *   they were rounded; null: not loaded yet
 */
function weights(page, trace, block, query) {
  const selection = spot(page, block);
  const tensor = trace.tensors[place(page.model, selection, "weights")];
  if (!tensor) return null;
  const matrix = page.link.options.heads_of === "head" ? attention(page.model, trace, selection) : meanPlane(tensor);
  return matrix && query < matrix.rows ? { values: [...row(matrix, query)], error: matrix.error } : null;
}

/** @param {Context} context */
export function createAttentionRows(context) {
  const { store, t, phrase } = context;
  const picker = createPicker(context);
  const strips = h("div", { className: "strips" });
  const element = h(
    "section",
    { className: "looks" },
    h("div", { className: "looks-head" }, h("h3", {}, t("Where it looks while writing")), picker.element),
    strips,
  );

  /** @param {Scene} scene */
  function show({ page, ran, row, agrees }) {
    picker.refresh();
    if (!ran || !agrees) return;
    const { self, joins, read: reader } = shownAttentions(page);
    const { texts } = traceLabels(ran);
    const target = texts[self.query];
    const selfWeights = weights(page, ran, self.id, row);
    if (!selfWeights) return;
    const written = (/** @type {import("../../lib/dom.js").Child[]} */ title) =>
      panel(self, title, t("decoder self-attention"), { labels: target.slice(0, row + 1), weights: { ...selfWeights, values: selfWeights.values.slice(0, row + 1) } });
    if (!joins || !reader) return render(strips, written([t("at the text so far")]));
    const source = texts[joins.key];
    const crossWeights = weights(page, ran, joins.id, row);
    if (!crossWeights) return;
    const best = strongest(crossWeights.values, source);
    const sink = sinkOf(crossWeights.values, source);
    const read = best === null ? null : weights(page, ran, reader.id, best);
    const reading = best === null ? [] : phrase(t("how the encoder read {token}"), { token: el("span", { className: "as-key" }, quoted(source[best])) });
    render(
      strips,
      panel(joins, [t("at the sentence")], t("cross-attention"), { labels: source, weights: crossWeights }),
      sink !== null && el("p", { key: "sink", className: "note" }, phrase(t("{token} takes {weight} of the weight: a special token serves as a sink, and its row explains nothing."), { token: quoted(source[sink]), weight: rounded(crossWeights.values[sink], crossWeights.error, two) })),
      written([t("at what it has written")]),
      read && panel(reader, reading, t("encoder self-attention"), { labels: source, weights: read }),
    );
  }

  /** @param {Block} block @param {import("../../lib/dom.js").Child[]} heading @param {string} term @param {Strip} strip */
  function panel(block, heading, term, { labels, weights: { values: weights, error } }) {
    const maximum = Math.max(...weights.filter(Number.isFinite));
    const cells = labels.map((label, index) =>
      el(
        "li",
        {
          className: weights[index] === maximum ? "strongest" : "",
          "data-ref": `${block.key} ${index}`,
          onpointerenter: () => store.hover({ query: null, key: { side: block.key, index } }),
          onpointerleave: () => store.hover(null),
        },
        el("span", { className: "well" }, el("span", { className: "column", style: { height: `${(weights[index] || 0) * 100}%` } })),
        token(label),
        el("span", { className: "weight" }, Number.isNaN(weights[index]) ? "–" : rounded(weights[index], error, two)),
      ),
    );
    const title = el("h4", {}, heading, " ", el("span", { className: "term" }, term));
    return el("div", { key: block.id, className: "look", "data-block": block.id }, title, el("ol", {}, cells));
  }

  /** Highlight what is hovered, here or elsewhere on the page. */
  function light() {
    const key = store.hovered()?.key;
    for (const cell of /** @type {NodeListOf<HTMLElement>} */ (strips.querySelectorAll("[data-ref]")))
      cell.classList.toggle("lit", key ? cell.dataset.ref === `${key.side} ${key.index}` : false);
  }

  return { element, show, light };
}

/** @param {number[]} weights @param {Label[]} labels @param {(label: Label) => boolean} among */
const largest = (weights, labels, among) =>
  weights.reduce((/** @type {number | null} */ best, weight, i) => (among(labels[i]) && (best === null || weight > weights[best]) ? i : best), null);

/**
 * The source token whose encoder row is shown: the word of the sentence with the largest weight. A special
 * token is often an attention sink, whose row explains nothing.
 * @param {number[]} weights
 * @param {Label[]} labels
 */
const strongest = (weights, labels) => largest(weights, labels, ({ special }) => !special);

/** A special token that has more weight than any word. @param {number[]} weights @param {Label[]} labels */
function sinkOf(weights, labels) {
  const best = largest(weights, labels, () => true);
  return best !== null && labels[best].special ? best : null;
}

/** Choose the layer, and one head or the mean of all. @param {Context} context */
function createPicker({ store, t }) {
  const layer = h("select", { "aria-label": t("Layer") });
  const head = h("select", { "aria-label": t("Head") });
  layer.addEventListener("change", () => store.go({ layer: Number(layer.value) }));
  head.addEventListener("change", () => {
    if (head.value === "mean") return store.choose({ heads_of: "mean" });
    store.batch(() => {
      store.choose({ heads_of: "head" });
      store.go({ head: Number(head.value) });
    });
  });
  const element = h(
    "div",
    { className: "options of" },
    h("label", { className: "option menu" }, layer),
    h("label", { className: "option menu" }, head),
  );

  function refresh() {
    const { link, model } = store.get();
    if (!model) return;
    const { layers, heads } = extent(model, crossBlock(model).id || predictingBlock(model).id);
    render(layer, numbers(layers, (n) => t("Layer {n}", { n })));
    render(head, el("option", { value: "mean" }, t("mean of {n} heads", { n: heads })), numbers(heads, (n) => t("Head {n}", { n })));
    layer.value = String(link.layer);
    head.value = link.options.heads_of === "head" ? String(link.head) : "mean";
  }
  return { element, refresh };
}

/** @param {number} count @param {(n: number) => string} label */
const numbers = (count, label) =>
  Array.from({ length: count }, (_, i) => el("option", { value: String(i) }, label(i + 1)));
