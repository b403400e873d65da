/** The parts of a model that a sweep changes, as a map: sections of rows and columns. */

import { otherSentence } from "../../core/store/comparison.js";
import { changes, linkValueOf } from "../../core/store/interventions.js";
import { blockName, hasSublayers, kindName, networks, sublayerName, placeOfChange } from "../../core/store/model-part-names.js";
import {
  attentionAt, axes, blockOf, blocks, blocksOfStack, place, predictingBlock, selfBlock,
} from "../../core/wire/model-description.js";
import { request } from "../../core/wire/request.js";
import { plainStep } from "../../core/wire/tokens.js";
import { writing } from "./before-after.js";
import { nameOf, pairName } from "./head-sweep.js";

/** @import { ModelInfo } from "../../core/wire/model-description.js" */
/** @import { Page } from "../../core/store/store.js" */
/** @import { Translate } from "../../lib/i18n.js" */

/**
 * @typedef {object} Cell
 * @property {string} name  of its effect
 * @property {string} place  an attention; for a patch, the tensor
 * @property {number | null} head  null: all of them, or none
 * @property {number | null} token  its row, if only one is changed
 * @property {number[]} [heads]  both heads of a pair
 * @property {number} [written]  the only written token that is asked about
 * @property {string} [effect]  the name of its effect, if not its own
 * @property {string} label  the part in words
 * @property {{stage: string, word: string}} [stream]  of the residual stream: where, and the token
 */
/** @typedef {{title: string, columns: string[], apart?: number, rows: {name: string, short: string, cells: (Cell | null)[]}[]}} Section  apart: how many of the last columns */

/** What can be changed part by part, by the change. @type {Record<string, string[]>} */
const PARTS = {
  zero: ["heads", "tokens", "sublayers", "pairs"],
  uniform: ["heads", "tokens", "pairs"],
  mean: ["heads", "tokens", "pairs"],
  patch: ["heads", "sublayers", "positions"],
};

/** @param {string} ablation @param {import("../../core/store/store.js").Page["model"]} model @param {Translate} t @returns {Record<string, string>}  with their names */
export function partNames(ablation, model, t) {
  const names = { heads: t("heads"), tokens: t("heads × tokens"), sublayers: t("sublayers"), positions: t("layers × tokens"), pairs: t("pairs of heads") };
  return Object.fromEntries(Object.entries(names).filter(([part]) => PARTS[ablation].includes(part) && (part !== "sublayers" || hasSublayers(model))));
}

/** The parts that are changed: those of a link, if there are such. @param {Record<string, any>} options @returns {string} */
export const partsOf = ({ ablation, parts }) => (PARTS[ablation].includes(parts) ? parts : "heads");

/** @param {ModelInfo} model @param {Translate} t @returns {Section[]}  all heads: a row for each layer */
export function headGrid(model, t) {
  return blocks(model).map(({ id, rows }) => ({
    title: blockName(id, t),
    columns: Array.from({ length: Math.max(...rows.map(({ heads }) => heads)) }, (_, head) => String(head + 1)),
    rows: rows.map(({ place, heads }, layer) => ({
      ...layerName(t, layer),
      cells: Array.from({ length: heads }, (_, head) => ({ name: nameOf(place, head), place, head, token: null, label: placeOfChange({ at: place, head, do: "zero" }, t, model) })),
    })),
  }));
}

/** All heads, whose mix is patched, and each attention's heads together. @param {ModelInfo} model @param {Translate} t @returns {Section[]} */
export function mixGrid(model, t) {
  const maxHeads = Math.max(...model.attentions.map(({ heads }) => heads));
  return headGrid(model, t).map(({ title, rows }) => ({
    title,
    columns: [...Array.from({ length: maxHeads }, (_, head) => String(head + 1)), t("all")],
    apart: 1,
    rows: rows.map(({ cells, ...row }) => {
      const { place } = /** @type {Cell} */ (cells[0]);
      const heads = Array.from({ length: maxHeads }, (_, head) => cells[head] && { ...cells[head], place: `${place}.mix` });
      const all = { name: nameOf(place), place: `${place}.mix`, head: null, token: null, label: placeOfChange({ at: place, do: "zero" }, t, model) };
      return { ...row, cells: [...heads.map((cell) => cell ?? null), all] };
    }),
  }));
}

/**
 * The heads of a block by written token: a section for each layer, a row for each head.
 * @param {ModelInfo} model
 * @param {import("../../core/store/link.js").State} link  its block
 * @param {Translate} t
 * @param {{index: number, word: string}[]} written
 * @returns {Section[]}
 */
export function tokenGrid(model, link, t, written) {
  return blockOf(model, link.block).rows.map(({ place, heads }) => ({
    title: placeOfChange({ at: place, do: "" }, t, model),
    columns: written.map(({ word }) => word),
    rows: Array.from({ length: heads }, (_, head) => {
      const [effect, headLabel] = [nameOf(place, head), placeOfChange({ at: place, head, do: "zero" }, t, model)];
      return {
        name: t("Head {n}", { n: head + 1 }),
        short: String(head + 1),
        cells: written.map(({ index, word }) => ({ name: `${effect} → ${index}`, effect, place, head, token: null, written: index, label: t("{place}, {token}", { place: headLabel, token: word }) })),
      };
    }),
  }));
}

/**
 * The pairs of heads of an attention: a row and a column for each head, and what each is worth alone.
 * @param {ModelInfo} model
 * @param {import("../../core/store/link.js").State} link  its attention
 * @param {Translate} t
 * @returns {Section[]}
 */
export function pairGrid(model, link, t) {
  const attentionPlace = place(model, link);
  const count = attentionAt(model, attentionPlace)?.heads ?? 0;
  const numbers = Array.from({ length: count }, (_, head) => head);
  const pairLabel = (/** @type {number[]} */ heads) => placeOfChange({ at: attentionPlace, heads, do: "zero" }, t, model);
  const alone = (/** @type {number} */ head) => ({ name: nameOf(attentionPlace, head), place: attentionPlace, head, token: null, label: placeOfChange({ at: attentionPlace, head, do: "zero" }, t, model) });
  const pair = (/** @type {number} */ first, /** @type {number} */ second) => ({
    name: pairName(nameOf(attentionPlace, first), nameOf(attentionPlace, second)), place: attentionPlace, head: null, heads: [first, second], token: null, label: pairLabel([first, second]),
  });
  return [{
    title: placeOfChange({ at: attentionPlace, do: "" }, t, model),
    columns: [...numbers.slice(1).map((head) => String(head + 1)), t("alone")],
    apart: 1,
    rows: numbers.map((first) => ({
      name: t("Head {n}", { n: first + 1 }),
      short: String(first + 1),
      cells: [...numbers.slice(1).map((second) => (second > first ? pair(first, second) : null)), alone(first)],
    })),
  }];
}

/** The outputs of all sublayers: a row for each layer. @param {ModelInfo} model @param {Translate} t @returns {Section[]} */
export function sublayerGrid(model, t) {
  const stacks = [...new Set(blocks(model).map(({ stack }) => stack))];
  return stacks.map((stack) => {
    const kinds = blocksOfStack(model, stack);
    const stackNetworks = networks(model).filter((network) => network.stack === stack);
    return {
      title: blockName(stack, t),
      columns: [...kinds.map(({ kind }) => kindName(kind, t)), t("feed-forward")],
      rows: stackNetworks.map(({ place: network, layer }) => ({
        ...layerName(t, layer),
        cells: [...kinds.map(({ rows }) => rows[layer].place), network].map((place) => {
          const output = `${place}.output`;
          return { name: nameOf(output), place: output, head: null, token: null, label: sublayerName(model, place, t) };
        }),
      })),
    };
  });
}

/**
 * The residual stream at every token: what each text's stack reads, and after each of its layers.
 * @param {ModelInfo} model
 * @param {import("../../core/wire/safetensors.js").Trace} run
 * @param {Translate} t
 * @returns {Section[]}
 */
export function positionGrid(model, run, t) {
  const last = model.norm === "post" ? "norm" : "residual";
  return model.texts.map((text) => {
    const { id, stack } = selfBlock(model, text);
    const steps = axes(model, run, id).rows.map((step) => ({ ...step, short: step.reads !== null }));
    const stages = networks(model).filter((network) => network.stack === stack).map(({ place, layer }) => ({ at: `${place}.${last}`, ...layerName(t, layer), layer: layer + 1 }));
    return {
      title: blockName(stack, t),
      columns: steps.map(plainStep),
      rows: [{ at: `${text}.input`, name: t("input"), short: "0", layer: 0 }, ...stages].map(({ at: tensor, name, short, layer }) => ({
        name,
        short,
        cells: steps.map((step, token) => {
          const stream = { stage: streamAfter(t, blockName(stack, t), layer), word: plainStep(step) };
          return { name: nameOf(tensor, token), place: tensor, head: null, token, label: t("{place}, at {token}", { place: stream.stage, token: stream.word }), stream };
        }),
      })),
    };
  });
}

/** @param {Translate} t @param {string} block @param {number} layer  from 1; 0: the input */
const streamAfter = (t, block, layer) => (layer ? t("{block}, layer {layer}", { block, layer }) : t("{block}, input", { block }));

/** @param {Translate} t @param {number} layer */
const layerName = (t, layer) => ({ name: t("Layer {n}", { n: layer + 1 }), short: String(layer + 1) });

// Where a patched part acts: on everything after it, or along the direct path to one place only.

/** Values of the option; all but the first and the last are an input of the selected head. */
export const THROUGH = /** @type {const} */ (["all", "q", "k", "v", "end"]);

/** Whether a path can be followed: the outputs of all sublayers are known. @param {Page["model"]} model */
const hasPaths = (model) => model?.capabilities?.includes("lens") ?? false;

/**
 * The end of the path, as the API takes it.
 * @param {Pick<Page, "model" | "link">} page
 * @returns {{at: string, head?: number} | null}  null: the part acts on everything after it
 */
export function pathEnd({ model, link }) {
  const { through } = link.options;
  if (through === "all" || through === undefined || !model || !hasPaths(model)) return null;
  if (through === "end") {
    const { stack } = predictingBlock(model);
    const last = networks(model).findLast((network) => network.stack === stack);
    return last ? { at: `${last.place}.${model.norm === "post" ? "norm" : "residual"}` } : null;
  }
  const attentionPlace = place(model, link);
  const { heads, kv_heads } = attentionAt(model, attentionPlace) ?? { heads: 1, kv_heads: 1 };
  const head = through === "q" ? link.head : Math.floor((link.head * kv_heads) / heads);
  return { at: `${attentionPlace}.${through}`, head };
}

/** Whether the end is an input of the selected head, which a click on another must not replace. @param {Page["link"]} link */
export const endsInHead = ({ options }) => ["q", "k", "v"].includes(options.through);

/**
 * The values of the option with their names.
 * @param {Translate} t
 * @param {Page["model"]} model
 * @returns {Record<string, string>}  none: there is nothing to choose
 */
export const pathEnds = (t, model) =>
  hasPaths(model)
    ? { all: t("everything after it"), q: t("q of the selected head"), k: t("its k"), v: t("its v"), end: t("the logits, directly") }
    : {};

// The request for a sweep: which parts of the model are changed, one at a time, and how.

/**
 * As the API takes it: for the original translation, on the model as trained or as changed.
 * @param {Page} page
 * @param {import("../../core/wire/safetensors.js").Trace | null} before  the original run
 */
export function sweepRequest(page, before) {
  const { model, link } = page;
  const interventions = link.options.over ? linkValueOf(changes(link)) : null;
  const written = before ? writing(link, before) : {};
  const { select: _, ...body } = request(model, { ...link, ...written, interventions, options: {}, pad_to: null }, []);
  return { ...body, ...(link.options.ablation === "patch" ? patched(page) : ablated(page)) };
}

/** @param {Page} page */
function ablated({ model, link }) {
  const over = {
    heads: {},
    tokens: {},
    sublayers: { over: "sublayers" },
    pairs: { over: "pairs", among: [place(model, link)] },
  };
  return { effect: link.options.ablation, ...over[/** @type {keyof typeof over} */ (partsOf(link.options))] };
}

/** @param {Page} page */
function patched(page) {
  const { options } = page.link;
  const against = options.against === null ? {} : { against: options.against };
  return { effect: { patch: { ...otherRun(page), ...pathTo(page) } }, over: partsOf(options), ...against };
}

/** The sentence that patches are taken from. @param {Page} page */
export const otherRun = (page) => ({ source: otherSentence(page), ...(page.link.direction ? { direction: page.link.direction } : {}) });

/** The end of the path, if a patch acts along one only. @param {Page} page */
export function pathTo(page) {
  const to = pathEnd(page);
  return to ? { to } : {};
}
