/** The kinds of questions. To add one, write it and add it to `KINDS`. */

import { quoted, quotedStep } from "../core/draw/token.js";
import { headedTable, maskTerm } from "../core/draw/colour-scales.js";
import { attention, axes, blockOf, blocks, candidateTensors, extent, place, typedText } from "../core/wire/model-description.js";
import { labels, languages } from "../core/wire/tokens.js";
import { plane, row } from "../core/wire/safetensors.js";
import { labRequest, parse, preset } from "../lab/lab-link.js";
import { axisLabels, shownSteps } from "../lab/steps.js";
import { plainly, two } from "../lib/numbers.js";
import { el } from "../lib/dom.js";
import { sum, times } from "../lib/vectors.js";
import { OWN_KINDS } from "./own-questions.js";
import { largestUnit } from "./question.js";

/** @import { Inquiry } from "./question.js" */
/** @import { Described } from "../lib/dom.js" */
/** @import { Matrix, Trace } from "../core/wire/safetensors.js" */

// The weights that a question is about, with the labels of their tokens.

/** Weights that are equal as printed count as equal. */
const ALIKE = 0.005;

/** The labels of the row and of the keys, without any weight. @param {Inquiry} inquiry */
async function labelsAt({ run, model, state }) {
  const trace = await run((modelInfo) => [place(modelInfo, state, "mask")]);
  const modelInfo = await model();
  const { rows, cols } = axes(modelInfo, trace, state.block);
  const [query, keys] = [quotedStep(rows[state.query ?? 0]), cols.map(({ writes }) => quoted(writes))];
  return { trace, found: modelInfo, query, keys, terms: cols.map(({ writes }) => (writes.special ? writes.word : undefined)) };
}

/**
 * The weights of the row in one head; 0 where a key is masked.
 * @param {Inquiry} inquiry
 * @param {number} [head]  absent: that of the link
 */
async function weightsAt({ run, model, state }, head = state.head) {
  const trace = await run((modelInfo) => ["weights", "mask"].map((name) => place(modelInfo, state, name)));
  const matrix = /** @type {Matrix} */ (attention(await model(), trace, { ...state, head }));
  return [...row(matrix, state.query ?? 0)].map((weight) => weight || 0);
}

/** @param {number[]} values @returns {string[]}  where the largest are, the first one first */
function largest(values) {
  const maximum = Math.max(...values);
  const first = values.indexOf(maximum);
  const ties = values.flatMap((value, i) => (i !== first && value > maximum - ALIKE ? [i] : []));
  return [first, ...ties].map(String);
}

/** @param {number[]} values @returns {Record<string, number>} */
const byIndex = (values) => Object.fromEntries(values.map((value, i) => [String(i), value]));

/** The names of a head, from 1. @param {Inquiry} inquiry */
const headNames = ({ state }) => ({ layer: state.layer + 1, head: state.head + 1 });

// What happens if this head is off? The output stays the same, or it changes.

/** @type {import("./question.js").Kind} */
const headOff = {
  name: (t) => t("What if this head is off?"),
  fits: ({ interventions }, model) => !interventions && (!model || model.capabilities.includes("decode")),
  entry: () => "choice",
  shows: "all",
  words: async (inquiry) => [inquiry.t("Does the output change if head {head} of layer {layer} is switched off?", headNames(inquiry))],
  choices: async ({ t }) => [
    { id: "same", label: t("The output stays the same") },
    { id: "changes", label: t("The output changes") },
  ],
  async reveal(inquiry) {
    const { model, state, t, phrase } = inquiry;
    const zero = { at: place(await model(), state), head: state.head, do: "zero" };
    const { same: unchanged, ...texts } = await compared(inquiry, {}, { interventions: [zero] });
    const words = unchanged ? t("With the head off, the model still writes {before}") : t("With the head on: {before} With the head off: {after}");
    return { right: [unchanged ? "same" : "changes"], says: phrase(words, texts) };
  },
};

/**
 * The outputs of two runs.
 * @param {import("./question.js").Inquiry} inquiry
 * @param {Partial<import("../core/store/link.js").State>} first  changes of the link
 * @param {Partial<import("../core/store/link.js").State>} second
 */
async function compared({ run }, first, second) {
  const [before, after] = await Promise.all([first, second].map((changes) => run(() => [], changes)));
  const [, to] = languages(before.direction);
  const text = (/** @type {import("../core/wire/safetensors.js").Trace} */ trace) => el("b", { lang: to }, trace.output.text);
  return { same: before.output.text === after.output.text, before: text(before), after: text(after) };
}

// What happens if the model is changed as the link says? The output stays the same, or it changes.

/** @type {import("./question.js").Kind} */
const modelChanged = {
  name: (t) => t("What does the change do?"),
  fits: ({ interventions }, model) => Boolean(interventions) && (!model || model.capabilities.includes("decode")),
  entry: () => "choice",
  words: async ({ t }) => [t("Does the output change if the model is changed like this?")],
  choices: async ({ t }) => [
    { id: "same", label: t("The output stays the same") },
    { id: "changes", label: t("The output changes") },
  ],
  async reveal(inquiry) {
    const { t, phrase } = inquiry;
    const { same: unchanged, ...texts } = await compared(inquiry, { interventions: null }, {});
    const words = unchanged ? t("With the change, the model still writes {before}") : t("As trained: {before} With the change: {after}");
    return { right: [unchanged ? "same" : "changes"], says: phrase(words, texts) };
  },
};

// Which head does this? One choice for each head of the layer.

/** @type {import("./question.js").Kind} */
const whichHead = {
  name: (t) => t("Which head looks there?"),
  shareable: true,
  fits: ({ query, key, block }, model) => query !== null && key !== null && (!model || extent(model, block).heads > 1),
  entry: () => "choice",
  async words(inquiry) {
    const { query, keys } = await labelsAt(inquiry);
    return inquiry.phrase(inquiry.t("Layer {layer}: which head looks from {query} to {key} the most?"), { layer: inquiry.state.layer + 1, query, key: keys[inquiry.state.key ?? 0] });
  },
  async choices({ model, state, t }) {
    const { heads } = extent(await model(), state.block);
    return Array.from({ length: heads }, (_, i) => ({ id: String(i), label: t("Head {n}", { n: i + 1 }) }));
  },
  async reveal(inquiry) {
    const { model, state, t, phrase } = inquiry;
    const { query, keys } = await labelsAt(inquiry);
    const { heads } = extent(await model(), state.block);
    const rows = await Promise.all(Array.from({ length: heads }, (_, i) => weightsAt(inquiry, i)));
    const weights = rows.map((row) => row[state.key ?? 0]);
    const right = largest(weights);
    const words = { query, key: keys[state.key ?? 0], n: Number(right[0]) + 1, weight: two(weights[Number(right[0])]) };
    return { right, shares: byIndex(weights), says: phrase(t("From {query} to {key}, head {n} gives the most: {weight}."), words) };
  },
};

// Where does this row look? One choice for each visible token.

/** @type {import("./question.js").Kind} */
const whereRowLooks = {
  name: (t) => t("Where does this row look?"),
  shareable: true,
  fits: ({ query }) => query !== null,
  entry: () => "choice",
  async words(inquiry) {
    const { query } = await labelsAt(inquiry);
    return inquiry.phrase(inquiry.t("Layer {layer}, head {head}: which token gets the largest weight in the row {query}?"), { ...headNames(inquiry), query });
  },
  async choices(inquiry) {
    const { trace, found: modelInfo, keys, terms } = await labelsAt(inquiry);
    const open = row(plane(trace.tensors[place(modelInfo, inquiry.state, "mask")]), inquiry.state.query ?? 0);
    return keys.flatMap((label, i) => (open[i] ? [{ id: String(i), label, term: terms[i] }] : []));
  },
  async reveal(inquiry) {
    const { t, phrase } = inquiry;
    const [{ query, keys }, weights] = await Promise.all([labelsAt(inquiry), weightsAt(inquiry)]);
    const right = largest(weights);
    const best = Number(right[0]);
    const words = { query, key: keys[best], weight: two(weights[best]) };
    return { right, shares: byIndex(weights), says: phrase(t("The head gives {key} the largest weight in the row of {query}: {weight}."), words) };
  },
};

// Which token comes next? The choices are in the order of their ids, which gives nothing away.

/** The number of candidates offered. */
const OFFERED = 5;

/** @type {import("./question.js").Kind} */
const nextToken = {
  name: (t) => t("Which token comes next?"),
  shareable: true,
  fits: ({ query, block }, model) => query !== null && (!model || (blockOf(model, block).writes && model.capabilities.includes("candidates"))),
  entry: () => "choice",
  shows: "before",
  words: async ({ t }) => [t("Which token does the model write next?")],
  async choices({ run, model, state }) {
    const [, tensor] = candidateTensors(await model());
    const trace = await run(() => [tensor]);
    const ids = candidates(trace, tensor, state.query ?? 0).sort((a, b) => a - b);
    return ids.map((id) => ({ id: String(id), label: named(trace, id), term: trace.pieces?.[id]?.special ? trace.pieces[id].text : undefined }));
  },
  async reveal({ run, model, state, t, phrase }) {
    const [chances, tensor] = candidateTensors(await model());
    const trace = await run(() => [chances, tensor]);
    const rowIndex = state.query ?? 0;
    const ids = candidates(trace, tensor, rowIndex);
    const likely = row(plane(trace.tensors[chances]), rowIndex);
    const shares = Object.fromEntries(ids.map((id, rank) => [String(id), likely[rank]]));
    const words = { token: named(trace, ids[0]), chance: two(likely[0]) };
    return { right: [String(ids[0])], shares, says: phrase(t("The model gives {token} the highest probability: {chance}."), words) };
  },
};

/**
 * The most probable next tokens of a row.
 * @param {Trace} trace
 * @param {string} tensor  of candidates
 * @param {number} rowIndex  the row
 * @returns {number[]}  ids, most probable first
 */
const candidates = (trace, tensor, rowIndex) => [...row(plane(trace.tensors[tensor]), rowIndex)].slice(0, OFFERED);

/** @param {Trace} trace @param {number} id */
function named(trace, id) {
  const piece = trace.pieces?.[id] ?? { text: String(id), special: false };
  const [, to] = languages(trace.direction);
  return quoted(labels([{ ...piece, id, start: 0, end: 0 }], to)[0]);
}

// The row of a step of attention by hand that a question is about, and the numbers it follows from.

/** The steps that a step is computed from; of others, it is the step before. @type {Record<string, string[]>} */
const FROM = { q: ["input"], k: ["input"], v: ["input"], products: ["q", "k"], scores: ["q", "k"], weights: ["scores", "mask"], mix: ["weights", "v"] };

/** @param {Inquiry} inquiry */
async function computed(inquiry) {
  const lab = parse(inquiry.question.link, preset("identity"));
  return { lab, answer: await inquiry.compute(labRequest(lab)) };
}

/** @param {Inquiry} inquiry */
const stepOf = ({ question }) => question.step ?? "weights";

/** The numbers in the lab's first head. @param {Inquiry} inquiry @returns {Promise<number[]>} */
async function labRow(inquiry) {
  const { steps, dims } = (await computed(inquiry)).answer;
  const step = stepOf(inquiry);
  return (dims[step][0] === "head" ? steps[step][0] : steps[step])[inquiry.question.row ?? 0];
}

/** The labels of its columns: tokens, or channels of a vector. @param {Inquiry} inquiry */
async function labColumns(inquiry) {
  const { lab, answer } = await computed(inquiry);
  const row = await labRow(inquiry);
  return axisLabels(lab, answer.dims[stepOf(inquiry)].at(-1) ?? "", row.length).map((name, i) => name || String(i + 1));
}

/** The names of the step and of the row. @param {Inquiry} inquiry */
async function labNames(inquiry) {
  const { lab, answer } = await computed(inquiry);
  const step = shownSteps(lab, answer, inquiry.t).find(({ id }) => id === stepOf(inquiry));
  const row = inquiry.question.row ?? 0;
  return { step: step?.name ?? stepOf(inquiry), row: step?.tables[0].rows[row] || String(row + 1) };
}

/** The tables that the row is computed from. @param {Inquiry} inquiry */
async function labTables(inquiry) {
  const { lab, answer } = await computed(inquiry);
  const steps = shownSteps(lab, answer, inquiry.t);
  const before = steps[steps.findIndex(({ id }) => id === stepOf(inquiry)) - 1]?.id ?? "";
  const from = FROM[stepOf(inquiry)] ?? [before];
  return steps
    .filter(({ id }) => from.includes(id))
    .map(({ name, scale, tables: [{ values, rows, cols }] }) => headedTable({ title: name, rows, cols }, inquiry.t, (i, j) => el("td", { key: j }, scale === "mask" ? maskTerm(Boolean(values[i][j])) : plainly(values[i][j]))));
}

// One number: a weight, a cell of a step by hand, or any number that the question states.

/** Whether the question states its number itself; it may be told only when it is revealed. @param {import("./question.js").Question} question */
export const isStated = ({ kind, link, value }) => kind === "number" && (value !== undefined || link === "");

/** @type {import("./question.js").Kind} */
const singleNumber = {
  name: (t) => t("How large is the number?"),
  fits: ({ query, key }) => query !== null && key !== null,
  entry: () => "numbers",
  async words(inquiry) {
    const { t, phrase, state } = inquiry;
    if (isStated(inquiry.question)) return [t("Which number is it?")];
    if (inquiry.question.page === "lab") return phrase(t("{step}: which number is in this column of the row “{row}”?"), await labNames(inquiry));
    const { query, keys } = await labelsAt(inquiry);
    return phrase(t("Layer {layer}, head {head}: how much weight goes from {query} to {key}?"), { ...headNames(inquiry), query, key: keys[state.key ?? 0] });
  },
  async choices(inquiry) {
    const { question, state, t } = inquiry;
    if (isStated(question)) return [{ id: "0", label: t("Your number") }];
    const names = question.page === "lab" ? await labColumns(inquiry) : (await labelsAt(inquiry)).keys;
    return [{ id: "0", label: names[question.column ?? state.key ?? 0] }];
  },
  async reveal(inquiry) {
    const { question, state, stated } = inquiry;
    const value = question.value ?? (isStated(question) && (await stated?.())?.value);
    if (typeof value === "number") return { numbers: [value], says: [] };
    const row = await (question.page === "lab" ? labRow(inquiry) : weightsAt(inquiry));
    return { numbers: [row[question.column ?? state.key ?? 0]], says: [] };
  },
};

// A whole row: numbers typed for a step of attention by hand, or a head's weights, drawn as bars.

/** @param {import("./question.js").Question} question */
const byHand = ({ page }) => page === "lab";

/** @type {import("./question.js").Kind} */
const wholeRow = {
  name: (t) => t("How is the row’s weight shared out?"),
  shareable: true,
  fits: ({ query }) => query !== null,
  entry: (question) => (byHand(question) ? "numbers" : "shares"),
  async words(inquiry) {
    const { t, phrase, question } = inquiry;
    if (byHand(question)) return phrase(t("{step}: fill in the row “{row}”."), await labNames(inquiry));
    const { query } = await labelsAt(inquiry);
    return phrase(t("Layer {layer}, head {head}: how does the row {query} share out its weight of 1?"), { ...headNames(inquiry), query });
  },
  async choices(inquiry) {
    if (byHand(inquiry.question)) return (await labColumns(inquiry)).map((label, i) => ({ id: String(i), label }));
    const { keys, terms } = await labelsAt(inquiry);
    return keys.map((label, i) => ({ id: String(i), label, term: terms[i] }));
  },
  reveal: async (inquiry) => ({ numbers: await (byHand(inquiry.question) ? labRow(inquiry) : weightsAt(inquiry)), says: [] }),
};

// Which token has the embedding that is most like that of this one? One choice for each other token.

/** @param {Inquiry} inquiry */
async function embeddingsAt({ run, model, state }) {
  const text = typedText(await model());
  const trace = await run(() => [`${text}.embedding`]);
  const [from] = languages(trace.direction);
  return { names: labels(trace.tokens[text], from).map(quoted), tokens: trace.tokens[text], rows: plane(trace.tensors[`${text}.embedding`]), query: state.query ?? 0 };
}

/** @type {import("./question.js").Kind} */
const nearestToken = {
  name: (t) => t("Which token is most like it?"),
  fits: ({ view, options, query }) => view === "positions" && options.part === "tokens" && query !== null,
  entry: () => "choice",
  async words(inquiry) {
    const { names, query } = await embeddingsAt(inquiry);
    return inquiry.phrase(inquiry.t("Which token of the sentence has the embedding that is most like that of {query}?"), { query: names[query] });
  },
  async choices(inquiry) {
    const { names, tokens, query } = await embeddingsAt(inquiry);
    return names.flatMap((label, i) => (tokens[i].special || tokens[i].id === tokens[query].id ? [] : [{ id: String(i), label }]));
  },
  async reveal(inquiry) {
    const { names, tokens, rows, query } = await embeddingsAt(inquiry);
    const cosines = tokens.map((token, i) => (token.special || token.id === tokens[query].id ? -1 : cosine(row(rows, query), row(rows, i))));
    const right = largest(cosines);
    const best = Number(right[0]);
    const words = { query: names[query], near: names[best], cosine: two(cosines[best]) };
    const shares = Object.fromEntries(cosines.flatMap((value, i) => (value > -1 ? [[String(i), Math.max(0, value)]] : [])));
    return { right, shares, says: inquiry.phrase(inquiry.t("The embedding of {near} is most like that of {query}: their cosine is {cosine}."), words) };
  },
};

/** @param {ArrayLike<number>} a @param {ArrayLike<number>} b */
function cosine(a, b) {
  const dot = (/** @type {ArrayLike<number>} */ x, /** @type {ArrayLike<number>} */ y) => sum(times(x, y));
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1);
}

/** @type {Record<string, import("./question.js").Kind>} */
export const KINDS = { ...OWN_KINDS, looks: whereRowLooks, head: whichHead, next: nextToken, off: headOff, change: modelChanged, row: wholeRow, number: singleNumber, nearest: nearestToken, unit: largestUnit };

/**
 * The kinds that can be asked about what a link shows, for a menu.
 * @param {import("../core/store/link.js").State} state
 * @param {import("../core/wire/model-description.js").ModelInfo | null} model
 * @returns {string[]}
 */
export const offeredKinds = (state, model) => Object.keys(KINDS).filter((id) => KINDS[id].fits(state, model));

// What a reader must see to answer a question where no figure shows it: the texts that it is about.

/**
 * The sentence, and as much of what was written as the kind presupposes: no more, since that would
 * give the answer away.
 * @param {import("./question.js").Inquiry} inquiry
 * @returns {Promise<(string | Described)[]>}  empty if the words say everything
 */
export async function contextOf(inquiry) {
  const { question, state, run } = inquiry;
  if (isStated(question) || question.kind in OWN_KINDS) return [];
  if (question.page === "lab") return question.words ? [] : labTables(inquiry);
  const [model, trace] = await Promise.all([inquiry.model(), run(() => [])]);
  const [from, to] = languages(trace.direction ?? "");
  const sentence = (/** @type {string} */ text) => el("span", { lang: from }, text);
  const written = (/** @type {string} */ text) => [" → ", el("span", { lang: to }, text)];
  const { shows } = KINDS[question.kind];
  if (shows !== "before") return [sentence(state.source), ...(shows === "all" ? written(trace.output.text) : [])];
  const { query } = state.block ? blockOf(model, state.block) : blocks(model)[blocks(model).length - 1];
  const { end } = trace.tokens[query][state.query ?? 0];
  const until = (/** @type {string} */ text) => `${[...text].slice(0, end).join("")} …`;
  return query === typedText(model) ? [sentence(until(state.source))] : [sentence(state.source), ...written(until(trace.output.text))];
}
