/**
 * What the score of a pair is made of: a row for each part of its query, a column for each part of
 * its key. It is requested only while it is open.
 */

import { total } from "../../core/compute/logit-lens.js";
import { legible } from "../../core/draw/matrix-canvas.js";
import { colour, css, diverging } from "../../core/draw/colour-scales.js";
import { quoted } from "../../core/draw/token.js";
import { wording } from "../../core/figure/problem-wording.js";
import { explainedPair } from "../../core/store/highlight.js";
import { networks, partName } from "../../core/store/model-part-names.js";
import { isFixed, isInShare } from "../../core/store/share-contents.js";
import { answer, runQuestion } from "../../core/store/view-requests.js";
import { attention, axes, blocksOfStack, place, placeOf, selfBlock } from "../../core/wire/model-description.js";
import { Problem } from "../../core/wire/reply.js";
import { el, h, render } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { memo } from "../../lib/memo.js";
import { change, four, plus, tiny, two } from "../../lib/numbers.js";
import { cellOf, termsOf } from "../../core/compute/scoring.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { OriginReply, ScoreReply } from "../../core/wire/schemas.d.ts" */
/** @import { Page } from "../../core/store/store.js" */

/** @typedef {{cell: string, query: number, key: number}} ShownPair */
/** @typedef {"query" | "key"} Side */

/** The smallest limit of the colour scale, so that small terms do not look large. */
const FAINT = 0.1;

/** Whether the model's scores can be split. @param {Page} page */
const splits = ({ model }) => model?.capabilities?.includes("scores") ?? false;

/** @param {Page} page @returns {ShownPair | null}  the pair that is split; null: none */
function shownPair(page) {
  const { model, link } = page;
  const selected = splits(page) && link.options.terms && explainedPair(page);
  return selected ? { cell: cellOf(place(model, link), { head: link.head, ...selected }), ...selected } : null;
}

/** @param {Page} page  The tensors with which a pair is chosen. */
export const needed = (page) =>
  splits(page) && page.link.options.terms ? ["weights", "mask"].map((name) => place(page.model, page.link, name)) : [];

/** @param {Page} page @returns {import("../../core/store/view-requests.js").Question[]}  only what can be answered */
export function scoreQuestions(page) {
  const selected = shownPair(page);
  if (!selected) return [];
  const question = runQuestion(page, { select: [termsOf(selected.cell)] });
  return isFixed(page) && !isInShare(page, question) ? [] : [question];
}

/**
 * @param {Page} page
 * @param {ShownPair} at
 * @returns {Breakdown | "waits" | "none" | Problem}  none: the attention's terms, or this row's
 *   numbers, are not known
 */
function loadedTerms(page, { cell }) {
  const [question] = scoreQuestions(page);
  if (!question) return new Problem("frozen");
  const reply = /** @type {import("../../core/wire/safetensors.js").Trace | Problem | undefined} */ (answer(page, question));
  if (!reply) return "waits";
  if (reply instanceof Problem) return reply;
  const [split, terms] = [reply.scores?.[cell], reply.tensors[termsOf(cell)]];
  if (!split || !terms || split.score === null) return "none";
  return memo(terms, "breakdown", () => breakdown(split, terms));
}

/** @param {Context} context */
export function createBreakdown(context) {
  const { store, t } = context;
  const body = h("div", { className: "score-terms" });
  const hint = h("span", { className: "note" }, t("which parts of the query and of the key their product comes from"));
  const summary = h("summary", {}, h("b", {}, t("Score breakdown")), " ", hint);
  const element = h("details", { className: "of-score", ontoggle: () => store.choose({ terms: element.open }) }, summary, body);
  /** What was drawn. @type {unknown[]} */
  let drawn = [];

  /** @param {boolean} again  whether to draw even if it is the same pair */
  function show(again) {
    const page = store.get();
    element.hidden = !splits(page);
    element.open = Boolean(page.link.options.terms);
    const selected = shownPair(page);
    if (!selected) {
      drawn = [];
      return render(body);
    }
    const terms = loadedTerms(page, selected);
    const table = body.querySelector("table");
    // Until the terms of another pair are here, those of the last one stay.
    body.setAttribute("aria-busy", String(terms === "waits"));
    const now = [terms, selected.cell, page.trace];
    if ((terms === "waits" && table) || (!again && now.every((input, i) => input === drawn[i]))) return;
    drawn = now;
    if (terms === "waits") render(body, el("p", { className: "waiting" }, t("Splitting the score …")));
    else if (terms === "none") render(body, el("p", {}, t("What this score is made of is not known.")));
    else if (terms instanceof Problem) render(body, el("p", { role: "alert" }, wording(t, terms)));
    else render(body, content(context, selected, terms));
    // The reader has just opened it.
    if (terms !== "waits" && !table && summary === element.ownerDocument.activeElement) element.scrollIntoView({ block: "nearest" });
  }

  return { element, draw: () => show(true), light: () => show(false) };
}

/** @param {Context} context @param {ShownPair} selected @param {Breakdown} terms */
function content(context, selected, terms) {
  const { t } = context;
  return [
    el("p", { className: "says" }, breakdownSentence(context, selected, terms)),
    el("div", { className: "scroller", tabIndex: 0, role: "group", "aria-label": t("Score breakdown") }, table(context, selected, terms)),
    el("p", { className: "note" }, t("Orange raises the score; blue lowers it.")),
    el("p", { className: "balance" }, balance(context, terms)),
    el("details", { className: "reading" }, el("summary", {}, t("How to read this")), el("p", { className: "note" }, prose(remarks(t)))),
  ];
}

/** @param {Page} page @param {ShownPair} at @returns {Record<Side, import("../../lib/dom.js").Described>}  the two tokens */
function tokens({ model, trace, link }, { query, key }) {
  const { rows, cols } = axes(model, /** @type {import("../../core/wire/safetensors.js").Trace} */ (trace), link.block);
  return { query: el("span", { className: "as-query" }, quoted(rows[query].writes)), key: el("span", { className: "as-key" }, quoted(cols[key].writes)) };
}

/** @param {Context} context @param {ShownPair} selected @param {Breakdown} terms */
function breakdownSentence(context, selected, { score, offset, pairs }) {
  const { store, t, phrase } = context;
  const page = store.get();
  const named = (/** @type {Part} */ term) => {
    const { layer, name } = partName(page.model, term, t);
    return layer ? t("{layer} {part}", { layer, part: name }) : name;
  };
  const largest = pairs.flatMap(({ query, key, value }, i) => [
    i ? t("; ") : "",
    el("span", { className: "as-query" }, named(query)),
    " × ",
    el("span", { className: "as-key" }, named(key)),
    " ",
    el("b", {}, plus(value, two)),
  ]);
  const weights = page.trace && attention(page.model, page.trace, page.link);
  const masked = weights && Number.isNaN(weights.values[selected.query * weights.cols + selected.key]);
  const words = masked
    ? t("For the query {query}, the key {key} has a score of {score}, but it is masked. Its largest terms (query × key): {terms}.")
    : t("For the query {query}, the key {key} has a score of {score}. Its largest terms (query × key): {terms}.");
  const sentence = phrase(words, { ...tokens(page, selected), score: el("b", {}, two(score)), terms: el("span", {}, largest) });
  if (!offset) return sentence;
  // After a full-width full stop no space is needed.
  const space = String(sentence.at(-1)).endsWith("。") ? "" : " ";
  return [...sentence, space, ...phrase(t("The relative position adds {value}."), { value: el("b", {}, plus(offset, two)) })];
}

/** @param {Context} context @param {ShownPair} selected @param {Breakdown} terms */
function table(context, selected, { queries, keys, values, sum }) {
  const { t } = context;
  const names = tokens(context.store.get(), selected);
  const paint = painter(context, Math.max(FAINT, ...values.flat().map(Math.abs)));
  const head = (/** @type {Part} */ term, /** @type {Side} */ side) =>
    el("th", { scope: side === "key" ? "col" : "row", className: `${side}-part` }, label(context, term, selected[side]));
  const sums = (/** @type {Part[]} */ parts) => parts.map((term) => el("td", { className: "row-sum" }, change(term.sum)));
  const rows = values.map((line, i) =>
    el("tr", {}, head(queries[i], "query"), line.map((value) => el("td", { style: paint(value), "data-value": value.toFixed(6), title: plus(value, four) }, Math.abs(value) < 0.005 ? "" : change(value))), sums([queries[i]])));
  return el(
    "table",
    {},
    el(
      "thead",
      {},
      el("tr", {}, el("th", { scope: "col", className: "query-part", rowSpan: 2 }, t("query"), " ", names.query), el("th", { scope: "colgroup", className: "key-part", colSpan: keys.length }, t("key"), " ", names.key), el("th", { scope: "col", rowSpan: 2 }, "Σ")),
      el("tr", {}, keys.map((term) => head(term, "key"))),
    ),
    el("tbody", {}, rows),
    el("tfoot", {}, el("tr", {}, el("th", { scope: "row" }, "Σ"), sums(keys), el("td", { className: "all" }, change(sum)))),
  );
}

/** @param {Context} context @param {number} limit */
function painter({ theme }, limit) {
  const stops = diverging(theme());
  return (/** @type {number} */ value) => {
    const ground = colour(stops, (value / limit + 1) / 2);
    return { "background-color": css(ground), color: legible(ground) };
  };
}

/**
 * The name of a part: a button that goes to where it is computed, if the figure shows that.
 * @param {Context} context
 * @param {Part} part
 * @param {number} token  whose stream it is a part of
 */
function label(context, part, token) {
  const { store, t, announce, offers } = context;
  const page = store.get();
  const { layer, name, short } = partName(page.model, part, t);
  const lines = [layer && el("span", { className: "layer" }, layer), " ", el("span", {}, short)];
  const target = origin(page, part);
  if (!target || !offers(target.view)) return el("span", { className: "part-name" }, lines);
  const { step: stage, ...link } = target;
  const options = stage ? { ...page.link.options, step: stage } : page.link.options;
  const onclick = () => {
    store.go({ ...link, options, query: token, key: null }, "chosen");
    announce(layer ? t("{layer} {part}", { layer, part: name }) : name);
  };
  return el("button", { type: "button", className: "part-name", onclick }, lines);
}

/**
 * Where a part is computed: a head in this view, all else on the worksheet.
 * @param {Page} page
 * @param {Part} part
 * @returns {{view: string, block: string, layer: number, head?: number, step?: string} | null}
 */
function origin({ model, link }, { kind, address, head }) {
  if (kind === "head") {
    const attention = placeOf(model, address);
    return attention && { view: link.view, ...attention, head: head ?? 0 };
  }
  if (kind === "embedding" || kind === "position") return { view: "worksheet", block: selfBlock(model, address).id, layer: 0, step: "input" };
  const network = kind === "network" && networks(model).find((candidate) => candidate.place === address);
  if (!network) return null;
  const [first] = blocksOfStack(model, network.stack);
  return { view: "worksheet", block: first.id, layer: network.layer, step: "ffn" };
}

/** @param {Context} context @param {Breakdown} terms */
function balance({ t, phrase }, { sum, offset, score }) {
  const values = { sum: four(sum), offset: four(offset), score: four(score), off: el("span", { className: "off" }, tiny(Math.abs(sum + offset - score))) };
  return offset
    ? phrase(t("All terms together: {sum}; the relative position adds {offset}. The model's score: {score}. Difference: {off}."), values)
    : phrase(t("All terms together: {sum}. The model's score: {score}. Difference: {off}."), values);
}

/** @param {Context["t"]} t */
const remarks = (t) => [
  t("Exact as a sum: with the mean and σ of every norm as they were in this run, q and k are sums of what came before. A cell is a part of q times a part of k, scaled like the score."),
  t("Only an approximation of the effect of removing a part: without it, σ and all later layers would change."),
  t("Only differences between the scores of a row matter: what adds the same to every key, such as the bias of k, changes no weight."),
];

// The terms of one score: q and k are sums over what came before, so q · k is a matrix with a row
// for each term of the query and a column for each term of the key (docs/inside.md). A model has
// hundreds: the strongest keep a row or a column of their own, all others share one.

/** @typedef {"head" | "network" | "embedding" | "position" | "bias" | "patch" | "rest"} Kind */
/**
 * @typedef {object} Part  of a query or a key: one term, or several together
 * @property {Kind} kind
 * @property {string} address  its sublayer or text; "" for several
 * @property {number | null} head
 * @property {number} count  of terms
 * @property {number} sum  what it adds with the whole of the other side
 */
/** @typedef {{query: Part, key: Part, value: number}} Pair */
/**
 * @typedef {object} Breakdown
 * @property {Part[]} queries
 * @property {Part[]} keys
 * @property {number[][]} values  [query][key]; they sum to `sum`
 * @property {Pair[]} pairs  the largest terms, whatever their sign
 * @property {number} sum
 * @property {number} offset  what relative positions add
 * @property {number} score  the model's
 */
/** @typedef {{kind: Kind, address: string, head: number | null, from: number[]}} Group  from: indices of its terms */

/** How many terms a sentence names, and how many parts of each side stand alone. */
const [NAMED, ALONE] = [3, 7];

/** @type {Record<string, Kind>} */
const KINDS = { mix: "head", output: "network", embedding: "embedding", position: "position", patch: "patch" };

/**
 * @param {ScoreReply} split  with a score
 * @param {Pick<import("../../core/wire/safetensors.js").Tensor, "data">} terms  [query_term, key_term]
 * @returns {Breakdown}
 */
export function breakdown({ score, offset, queries, keys }, { data }) {
  const width = keys.length;
  const all = queries.map((_, i) => Array.from(data.subarray(i * width, (i + 1) * width)));
  const [rows, cols] = [grouped(queries), grouped(keys)];
  const whole = summed(all, rows, cols);
  const pairs = largest(whole, NAMED);
  const rowGroups = shortened(rows, whole.map(total), pairs.map(({ row }) => row));
  const colGroups = shortened(cols, turned(whole).map(total), pairs.map(({ col }) => col));
  const values = summed(all, rowGroups, colGroups);
  const queryParts = rowGroups.map((group, i) => part(group, total(values[i])));
  const keyParts = turned(values).map((column, j) => part(colGroups[j], total(column)));
  return {
    queries: queryParts,
    keys: keyParts,
    values,
    pairs: pairs.map(({ row, col, value }) => ({ query: queryParts[rowGroups.indexOf(rows[row])], key: keyParts[colGroups.indexOf(cols[col])], value })),
    sum: total(values.flat()),
    offset: offset ?? 0,
    score: score ?? NaN,
  };
}

/**
 * Biases, and the shifts of norms, count as one: they belong to no token and no head.
 * @param {OriginReply[]} origins
 * @returns {Group[]}  from the input on, the biases last
 */
function grouped(origins) {
  const kinds = origins.map(({ part }) => KINDS[part] ?? "bias");
  const groups = origins.flatMap(({ at: address, head }, i) => (kinds[i] === "bias" ? [] : [{ kind: kinds[i], address, head: head ?? null, from: [i] }]));
  const biases = kinds.flatMap((kind, i) => (kind === "bias" ? [i] : []));
  return [...groups, ...together("bias", biases)];
}

/** @param {Kind} kind @param {number[]} from @returns {Group[]} */
const together = (kind, from) => (from.length ? [{ kind, address: "", head: null, from }] : []);

/**
 * @param {Group[]} groups
 * @param {number[]} sums
 * @param {number[]} first  indices of groups to keep in any case
 * @returns {Group[]}  in their order, all others as one at the end
 */
function shortened(groups, sums, first) {
  const order = [...new Set([...first, ...[...groups.keys()].sort((a, b) => Math.abs(sums[b]) - Math.abs(sums[a]))])];
  // A single other one needs no more room than "others" would.
  const separate = new Set(order.slice(0, groups.length <= ALONE + 1 ? groups.length : ALONE));
  const remaining = groups.filter((_, i) => !separate.has(i)).flatMap(({ from }) => from);
  return [...groups.filter((_, i) => separate.has(i)), ...together("rest", remaining)];
}

/** @param {number[][]} values @param {Group[]} rows @param {Group[]} cols */
const summed = (values, rows, cols) =>
  rows.map((row) => cols.map((col) => total(row.from.flatMap((i) => col.from.map((j) => values[i][j])))));

/** @param {number[][]} values @returns {number[][]}  its columns */
const turned = (values) => values[0].map((_, j) => values.map((row) => row[j]));

/** @param {number[][]} values @param {number} count  of cells farthest from zero */
const largest = (values, count) =>
  values
    .flatMap((line, row) => line.map((value, col) => ({ row, col, value })))
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value))
    .slice(0, count);

/** @param {Group} group @param {number} sum @returns {Part} */
const part = ({ kind, address, head, from }, sum) => ({ kind, address, head, count: from.length, sum });
