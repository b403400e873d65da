/**
 * Inside one step of the decoder: what each layer would predict, what each part adds to the logit
 * of the written token, and how the translation's probability depends on the selected head.
 */

import {
  RUNNER_UP, ahead, contrastAt, contrastOption, isAwaited, isItself, recorded, rivals, settledContrast,
} from "../../core/compute/predictions.js";
import { contributions, hasContributions, hasRelevance, lens, lensTensors, predictedTokenOf, settledLayer, strongestHead } from "../../core/compute/logit-lens.js";
import { colour, css, diverging } from "../../core/draw/colour-scales.js";
import { legible } from "../../core/draw/matrix-canvas.js";
import { quoted } from "../../core/draw/token.js";
import { contrastMenu } from "../../core/figure/controls.js";
import { waitingLine } from "../../core/figure/figure-status.js";
import { highlightOf } from "../../core/store/highlight.js";
import { axes, blockOf, isBetweenTexts, predictingBlock } from "../../core/wire/model-description.js";
import { labels, languages } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { change, four, tiny, two } from "../../lib/numbers.js";
import { slopes as gradients } from "./gradients.js";
import { headTable, isDeep, keptLayers, ledgerTable, lensTable } from "./layer-tables.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Sum } from "../../core/compute/logit-lens.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */
/** @import { Label } from "../../core/wire/tokens.js" */
/** @import { Child } from "../../lib/dom.js" */

// "Why this token rather than that one?": whether the view contrasts, and with which token.

/** @typedef {{value: string, piece: import("../../core/compute/predictions.js").Piece}} Choice */

/**
 * @param {Context} context
 * @param {Trace} trace
 * @param {number} row
 * @param {import("../../core/wire/tokens.js").Label} written
 * @param {string} lang  of the tokens
 * @returns {import("../../lib/dom.js").Described | null}  null: there is nothing to choose
 */
function contrastChoice({ store, t, phrase }, trace, row, written, lang) {
  const page = store.get();
  const chosen = page.link.options.contrast;
  const tokens = choices(page, trace, row);
  if (!tokens.length) return null;
  // The question is about one row: pinned, it stays when the pointer leaves.
  const choose = (/** @type {string | null} */ contrast) =>
    store.batch(() => {
      if (contrast !== null && store.get().link.query === null) store.go({ query: row }, "pinned");
      store.choose({ contrast }, "chosen");
    });
  const value = tokens.some((token) => token.value === chosen) ? chosen : tokens[0].value;
  const box = el("input", { type: "checkbox", checked: chosen !== null, onchange: (/** @type {Event} */ { target }) => choose(/** @type {HTMLInputElement} */ (target).checked ? value : null) });
  return el(
    "div",
    { className: "contrast-choice" },
    el("span", {}, phrase(t("Why {token}"), { token: quoted(written) })),
    el("label", { className: "toggle" }, box, " ", el("span", {}, t("rather than"))),
    contrastMenu(t, lang, { value, tokens, onChoice: choose }),
    chosen !== null && isItself(page.model, trace, page.link, row) && el("p", { className: "note" }, t("This row writes the same token. Choose another one to contrast it with.")),
  );
}

/**
 * The runner-up first; without a model, as in a share whose model is gone, only what was recorded.
 * @param {import("../../core/store/store.js").Page} page
 * @param {Trace} trace
 * @param {number} row
 * @returns {Choice[]}
 */
function choices(page, trace, row) {
  const { contrast } = page.link.options;
  const all = rivals(page.model, trace, row).map((piece, n) => ({ value: n || contrast === String(piece.id) ? String(piece.id) : RUNNER_UP, piece }));
  const recordedContrasts = page.live ? null : recorded(trace);
  const rivalValue = recordedContrasts?.[0] ?? contrast;
  const id = Number(rivalValue);
  // A token of another row's is kept in the list, as it is in the link.
  const missing = rivalValue === null || rivalValue === undefined || rivalValue === RUNNER_UP || all.some(({ value }) => value === rivalValue) ? [] : [{ value: rivalValue, piece: { id, ...(trace.pieces?.[id] ?? { text: `#${id}`, special: false }) } }];
  return [...all, ...missing].filter(({ value }) => !recordedContrasts || recordedContrasts.includes(value));
}

/**
 * In multiples of the font size: the width from which there are two columns, their gap, the width
 * of a candidate, and of what is beside them.
 */
const [PAIR, GAP, CANDIDATE, BESIDE] = [75, 4, 6.4, 13];
/** In multiples of the font size: the width of the attentions' names, of a head's number, and of the lens's log-odds. */
const [NAMES, HEAD, ODDS] = [8, 3.6, 6];
/** The smallest limit of the colour scale, in logits, so that small values do not look large. */
const FAINT = 0.5;

/** @type {View} */
export const inside = {
  id: "inside",
  name: (t) => t("Inside"),
  about: (t) =>
    t(
      "The parts of one row. The logit lens reads each layer's stream as if it were the last: the tokens that " +
      "the model would write if it stopped there. Below that is what each head adds to the logit of the " +
      "written token, orange if it raises it, blue if it lowers it; all parts together are the logit. " +
      "Gradient × attention shows how much the log-probability of the output depends on each weight of the " +
      "selected head. “Rather than” contrasts the written token with another one: what speaks for the one, and " +
      "what for the other.",
    ),
  blocks: ({ predicts }) => predicts,
  capabilities: ["lens"],
  frame: { rail: "both", inspector: false, caption: false, legend: "none", twice: 480 },
  options: { contrast: contrastOption() },
  needs: ({ model, link, trace }) => (blockOf(model, link.block).predicts ? lensTensors(model, link, trace) : []),
  settle: settledContrast,
  lights: ({ model }) => [{ part: "output" }, { part: "residual", stack: predictingBlock(model).stack }],
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const { line: finding, inner } = context.finding();
  const heads = headTable(context, pick);
  const gradient = gradients(context);
  const body = h("div", { className: "inside", hidden: true });
  const waiting = waitingLine(context, t("Looking inside …"));
  root.append(...(inner ? [inner] : []), waiting.element, body);

  /** Whether all layers of a deep model are shown. */
  let whole = false;
  /** @param {boolean} now */
  function unfold(now) {
    whole = now;
    paint();
    /** @type {HTMLElement | null} */ (body.querySelector(".layers-shown"))?.focus();
  }

  /** The highlighted decoder row. */
  function row() {
    const page = store.get();
    return highlightOf(page, store.hovered()).query ?? highlightOf(page, null).query ?? 0;
  }

  /** @param {import("./layer-tables.js").HeadAddress} address */
  function pick(address) {
    store.go({ ...address, query: row(), key: null }, "chosen");
    context.announce(t("Layer {layer}, head {head}", { layer: address.layer + 1, head: address.head + 1 }));
  }

  /** Render the tables of the highlighted row. */
  function paint() {
    const { trace, link, model } = store.get();
    const rowIndex = row();
    const contrast = trace && contrastAt(model, trace, link, rowIndex);
    const [layers, sum] = trace ? [lens(model, trace, rowIndex), contributions(model, trace, rowIndex, contrast?.with)] : [null, null];
    const token = trace && predictedTokenOf(model, trace, rowIndex);
    if (!trace || !layers || !token || (hasContributions(model) && !sum)) return;
    const theme = context.theme();
    const { columns, count } = columnsOf(context.room().width / theme.size, sum, contrast ? ODDS : 0);
    const [, lang] = languages(trace.direction);
    const { writes, id } = predictingBlock(model);
    const written = writes ? axes(model, trace, id).rows[rowIndex].writes : labels([{ ...token, start: 0, end: 0 }], lang)[0];
    const rival = contrast && { label: labels([{ ...contrast.other, start: 0, end: 0 }], lang)[0], lens: contrast.lens };
    const deep = isDeep(layers.length);
    const keep = deep && !whole ? keptLayers(layers.length, sum, [settledLayer(layers), link.layer]) : null;
    const fold = { keep, unfold: () => unfold(true) };
    const paintOf = (/** @type {number} */ limit) => painter(diverging(theme), Math.max(limit, FAINT));
    if (sum) heads.draw(headLabel(t, rival), sum, paintOf(sum.most.head), link, fold);
    const meaning = el("p", { className: "note" }, colours(context, written, rival));
    const odds = rival && { ...rival, paint: paintOf(Math.max(...rival.lens.map(Math.abs))) };
    const writtenLogit = sum && contrast ? (contributions(model, trace, rowIndex)?.logit ?? NaN) : NaN;
    body.dataset.columns = String(columns);
    render(finding, lensFinding(context, written, layers, sum, rival));
    render(
      body,
      contrastChoice(context, trace, rowIndex, written, lang),
      section("of-lens", t("Logit lens"), lensTable(t, layers, { written, lang, count, fold, odds }), rival && el("p", { className: "note" }, column(context, written, rival)), deep && layersButton(t, layers.length, whole, unfold), reading(t, lensRemarks(t, layers.length))),
      sum && section("of-heads", rival ? t("What each head adds to the log-odds") : t("What each head adds to the logit"), heads.element, meaning, reading(t, headRemarks(t, model, rival))),
      sum && section("of-parts", rival ? t("Breakdown of the log-odds") : t("Logit breakdown"), ledgerTable(t, sum, paintOf(sum.most.part), deep ? fold : null), meaning),
      sum && el("section", { className: "of-sum" }, el("p", { className: "balance" }, balanced(context, written, sum, rival, writtenLogit)), reading(t, sumRemarks(t, rival))),
      !sum && el("p", { className: "note" }, t("This model's logits are not a sum of contributions: the computation after its last layer is not linear.")),
      hasRelevance(model) && gradient.element,
    );
  }

  function draw() {
    const { trace, link, model, live } = store.get();
    if (!trace || !model || !blockOf(model, link.block).predicts) return;
    const ready = lens(model, trace, row()) !== null && (!hasContributions(model) || contributions(model, trace, row()) !== null) && !(live && isAwaited(trace, link));
    const still = !ready && !body.hidden;
    const silent = predictingBlock(model).writes ? !trace.output.tokens[row()] : trace.tokens[predictingBlock(model).query][row()]?.text === "<pad>";
    waiting.show(!ready && !still, silent ? t("This row is padding, so it writes nothing.") : undefined);
    body.hidden = silent || (!ready && !still);
    if (silent) render(finding);
    if (body.hidden) return;
    paint();
    if (hasRelevance(model)) gradient.draw();
    body.dataset.drawn = "";
  }

  function light() {
    if (body.hidden) return draw();
    paint();
    if (hasRelevance(store.get().model)) gradient.light();
  }

  return {
    draw,
    light,
    destroy: () => (gradient.destroy(), root.replaceChildren()),
    picture: gradient.picture,
  };
}

/**
 * @param {string} className
 * @param {string} title
 * @param {import("../../lib/dom.js").Child} table  scrolls, also with the keyboard, if it is too
 *   wide
 * @param {import("../../lib/dom.js").Child[]} remarks  how to read it
 */
const section = (className, title, table, ...remarks) =>
  el(
    "section",
    { className },
    el("h3", {}, title),
    el("div", { className: "scroller", tabIndex: 0, role: "group", "aria-label": title }, table),
    remarks,
  );

/** @param {Context["t"]} t @param {number} count @param {boolean} whole @param {(now: boolean) => void} unfold */
const layersButton = (t, count, whole, unfold) =>
  el("button", { type: "button", className: "button quiet layers-shown", onclick: () => unfold(!whole) }, whole ? t("Show fewer layers") : t("Show all {count} layers", { count }));

/** @param {Context["t"]} t @param {string[]} remarks  on request: the view opens on what it shows */
const reading = (t, remarks) =>
  el("details", { className: "reading" }, el("summary", {}, t("How to read this")), el("p", { className: "note" }, prose(remarks)));

/**
 * @param {number} letters  that fit into a line
 * @param {Sum | null} sum
 * @param {number} extra  what is beside the candidates, besides what always is
 * @returns {{columns: number, count: number}}  number of columns of sections, and of candidates per
 *   layer
 */
function columnsOf(letters, sum, extra) {
  const heads = sum?.heads ?? [];
  const half = (letters - GAP) / 2;
  const columns = letters >= PAIR && half >= NAMES + HEAD * (heads[0]?.values[0].length ?? 0) ? 2 : 1;
  const tableWidth = columns === 2 ? half : letters;
  return { columns, count: Math.min(Math.max(Math.floor((tableWidth - BESIDE - extra) / CANDIDATE), 2), 5) };
}

/** @param {import("../../core/draw/colour-scales.js").Stops} stops @param {number} limit @returns {import("./layer-tables.js").Paint} */
function painter(stops, limit) {
  return (value) => {
    const ground = colour(stops, (value / limit + 1) / 2);
    return { "background-color": css(ground), color: legible(ground) };
  };
}

// What the view says of a row: of its token's logit, or of its log-odds against another token.

/** @typedef {{label: Label, lens: number[]}} Rival  the other token, and the contrast after each layer */

/**
 * @param {Context} context
 * @param {Label} written
 * @param {import("../../core/compute/logit-lens.js").Layer[]} layers
 * @param {Sum | null} sum
 * @param {Rival | null} rival
 * @returns {Child[]}
 */
export function lensFinding(context, written, layers, sum, rival) {
  const { store, t, phrase } = context;
  const token = el("span", { className: "as-query" }, quoted(written));
  const lead = rival ? leads(context, token, rival) : isFirst(context, token, layers);
  if (!sum) return lead;
  const best = strongestHead(sum);
  const values = { at: best.layer + 1, head: best.head + 1, value: change(best.value), logit: two(sum.logit) };
  const joins = isBetweenTexts(blockOf(store.get().model, best.block));
  const message = rival
    ? joins
      ? t("Cross-attention head {head} of layer {at} adds most to the log-odds of {logit} nats: {value}.")
      : t("Self-attention head {head} of layer {at} adds most to the log-odds of {logit} nats: {value}.")
    : joins
      ? t("Cross-attention head {head} of layer {at} does most for it ({value} of a logit of {logit}).")
      : t("Self-attention head {head} of layer {at} does most for it ({value} of a logit of {logit}).");
  // After a full-width full stop no space is needed.
  const full = String(lead.at(-1)).endsWith("。");
  return [...lead, full ? "" : " ", ...phrase(message, values)];
}

/** @param {Context} context @param {Child} token @param {import("../../core/compute/logit-lens.js").Layer[]} layers */
function isFirst({ t, phrase }, token, layers) {
  const first = settledLayer(layers);
  return first === null
    ? phrase(t("{token} is at rank {rank} after the last layer."), { token, rank: layers[layers.length - 1].rank })
    : phrase(t("{token} is most probable from layer {layer} on."), { token, layer: first + 1 });
}

/** @param {Context} context @param {Child} token @param {Rival} rival */
function leads({ t, phrase }, token, { label, lens }) {
  const first = ahead(lens);
  const rivalToken = quoted(label);
  return first === null
    ? phrase(t("{token} is less probable than {other} after the last layer."), { token, other: rivalToken })
    : phrase(t("{token} is more probable than {other} from layer {layer} on."), { token, other: rivalToken, layer: first + 1 });
}

/**
 * @param {Context} context
 * @param {Label} written
 * @param {Sum} sum
 * @param {Rival | null} rival
 * @param {number} writtenLogit  the logit of the written token
 */
export function balanced({ t, phrase }, written, { sum, logit }, rival, writtenLogit) {
  const values = { sum: four(sum), token: quoted(written), logit: four(logit), off: el("span", { className: "off" }, tiny(Math.abs(sum - logit))) };
  if (!rival) return phrase(t("All parts together: {sum}. The model's logit of {token}: {logit}. Difference: {off}."), values);
  const logits = { mine: four(writtenLogit), theirs: four(writtenLogit - logit), other: quoted(rival.label) };
  return phrase(t("All parts together: {sum}. The model's logit of {token} ({mine}) minus that of {other} ({theirs}): {logit}. Difference: {off}."), { ...values, ...logits });
}

/** The name of the table of heads. @param {Context["t"]} t @param {Rival | null} rival */
export const headLabel = (t, rival) =>
  rival ? t("What each head adds to the log-odds. Arrow keys move, Enter selects a head.") : t("What each head adds to the logit. Arrow keys move, Enter selects a head.");

/** What the colours mean. @param {Context} context @param {Label} written @param {Rival | null} rival */
export const colours = ({ t, phrase }, written, rival) =>
  rival ? phrase(t("Orange speaks for {token}, blue for {other}."), { token: quoted(written), other: quoted(rival.label) }) : [t("Orange raises the logit; blue lowers it.")];

/** @param {Context} context @param {Label} written @param {Rival} rival */
export const column = ({ t, phrase }, written, rival) =>
  phrase(t("Last column: the log-odds in nats, above zero where {token} is more probable than {other}."), { token: quoted(written), other: quoted(rival.label) });

/** @param {Context["t"]} t @param {number} layers */
export const lensRemarks = (t, layers) => [
  t("Exact for layer {n}, the last: this is the model's own output.", { n: layers }),
  t("An approximation for the others: their streams go through the output matrix as if no layer came after, which they were not trained for."),
];

/** @param {Context["t"]} t @param {import("../../core/wire/model-description.js").Model} model @param {Rival | null} rival */
export const headRemarks = (t, model, rival) => [
  model && model.texts.length > 1 && (rival
    ? t("Only decoder heads add to the log-odds directly; encoder heads contribute through cross-attention.")
    : t("Only decoder heads add to the logit directly; encoder heads contribute through cross-attention.")),
  t("Click a head to see its attention below."),
].filter((line) => typeof line === "string");

/** @param {Context["t"]} t @param {Rival | null} rival */
export const sumRemarks = (t, rival) => [
  rival
    ? t("Exact as a sum: with the mean and σ of every layer norm as they were in this run, the difference of the two logits is the sum of these parts.")
    : t("Exact as a sum: with the mean and σ of every layer norm as they were in this run, the logit is the sum of these parts."),
  t("Only an approximation of the effect of removing a part: without it, σ and all later layers would change."),
  rival
    ? t("The difference of the logits is the natural logarithm of how many times more probable one token is than the other. A part that raises both logits equally adds nothing.")
    : t("Only differences between logits matter: raising all logits equally changes no probability."),
];
