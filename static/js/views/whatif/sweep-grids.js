/** The parts of a model that a sweep changes, as a map: sections of rows and columns. */

import { attentionAt, axes, blockOf, blocks, place, stacked, within } from "../../core/wire/attentions.js";
import { plainStep } from "../../core/wire/tokens.js";
import { nameOf, pairName } from "./head-sweep.js";
import { blockName, hasSublayers, kindName, networks, sublayerName, where } from "../../core/store/model-part-names.js";

/** @import { Translate } from "../../lib/i18n.js" */
/** @import { ModelInfo } from "../../core/wire/model.js" */
/**
 * @typedef {object} Cell
 * @property {string} name  of its effect
 * @property {string} at  an attention; for a patch, the tensor
 * @property {number | null} head  null: all of them, or none
 * @property {number | null} token  its row, if only one is changed
 * @property {number[]} [heads]  both heads of a pair
 * @property {number} [written]  the only written token that is asked about
 * @property {string} [effect]  the name of its effect, if not its own
 * @property {string} says  the part in words
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
    rows: rows.map(({ place: at, heads }, layer) => ({
      ...layerName(t, layer),
      cells: Array.from({ length: heads }, (_, head) => ({ name: nameOf(at, head), at, head, token: null, says: where({ at, head, do: "zero" }, t, model) })),
    })),
  }));
}

/** All heads, whose mix is patched, and each attention's heads together. @param {ModelInfo} model @param {Translate} t @returns {Section[]} */
export function mixGrid(model, t) {
  const most = Math.max(...model.attentions.map(({ heads }) => heads));
  return headGrid(model, t).map(({ title, rows }) => ({
    title,
    columns: [...Array.from({ length: most }, (_, head) => String(head + 1)), t("all")],
    apart: 1,
    rows: rows.map(({ cells, ...row }) => {
      const { at } = /** @type {Cell} */ (cells[0]);
      const heads = Array.from({ length: most }, (_, head) => cells[head] && { ...cells[head], at: `${at}.mix` });
      const all = { name: nameOf(at), at: `${at}.mix`, head: null, token: null, says: where({ at, do: "zero" }, t, model) };
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
  return blockOf(model, link.block).rows.map(({ place: at, heads }) => ({
    title: where({ at, do: "" }, t, model),
    columns: written.map(({ word }) => word),
    rows: Array.from({ length: heads }, (_, head) => {
      const [effect, says] = [nameOf(at, head), where({ at, head, do: "zero" }, t, model)];
      return {
        name: t("Head {n}", { n: head + 1 }),
        short: String(head + 1),
        cells: written.map(({ index, word }) => ({ name: `${effect} → ${index}`, effect, at, head, token: null, written: index, says: t("{place}, {token}", { place: says, token: word }) })),
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
  const at = place(model, link);
  const count = attentionAt(model, at)?.heads ?? 0;
  const numbers = Array.from({ length: count }, (_, head) => head);
  const says = (/** @type {number[]} */ heads) => where({ at, heads, do: "zero" }, t, model);
  const alone = (/** @type {number} */ head) => ({ name: nameOf(at, head), at, head, token: null, says: where({ at, head, do: "zero" }, t, model) });
  const pair = (/** @type {number} */ one, /** @type {number} */ other) => ({
    name: pairName(nameOf(at, one), nameOf(at, other)), at, head: null, heads: [one, other], token: null, says: says([one, other]),
  });
  return [{
    title: where({ at, do: "" }, t, model),
    columns: [...numbers.slice(1).map((head) => String(head + 1)), t("alone")],
    apart: 1,
    rows: numbers.map((one) => ({
      name: t("Head {n}", { n: one + 1 }),
      short: String(one + 1),
      cells: [...numbers.slice(1).map((other) => (other > one ? pair(one, other) : null)), alone(one)],
    })),
  }];
}

/** The outputs of all sublayers: a row for each layer. @param {ModelInfo} model @param {Translate} t @returns {Section[]} */
export function sublayerGrid(model, t) {
  const stacks = [...new Set(blocks(model).map(({ stack }) => stack))];
  return stacks.map((stack) => {
    const kinds = stacked(model, stack);
    const others = networks(model).filter((one) => one.stack === stack);
    return {
      title: blockName(stack, t),
      columns: [...kinds.map(({ kind }) => kindName(kind, t)), t("feed-forward")],
      rows: others.map(({ at: network, layer }) => ({
        ...layerName(t, layer),
        cells: [...kinds.map(({ rows }) => rows[layer].place), network].map((place) => {
          const at = `${place}.output`;
          return { name: nameOf(at), at, head: null, token: null, says: sublayerName(model, place, t) };
        }),
      })),
    };
  });
}

/**
 * The residual stream at every token: what each text's stack reads, and after each of its layers.
 * @param {ModelInfo} model
 * @param {import("../../core/wire/wire.js").Trace} run
 * @param {Translate} t
 * @returns {Section[]}
 */
export function positionGrid(model, run, t) {
  const last = model.norm === "post" ? "norm" : "residual";
  return model.texts.map((text) => {
    const { id, stack } = within(model, text);
    const steps = axes(model, run, id).rows.map((step) => ({ ...step, short: step.reads !== null }));
    const stages = networks(model).filter((one) => one.stack === stack).map(({ at, layer }) => ({ at: `${at}.${last}`, ...layerName(t, layer), layer: layer + 1 }));
    return {
      title: blockName(stack, t),
      columns: steps.map(plainStep),
      rows: [{ at: `${text}.input`, name: t("input"), short: "0", layer: 0 }, ...stages].map(({ at, name, short, layer }) => ({
        name,
        short,
        cells: steps.map((step, token) => {
          const stream = { stage: streamAfter(t, blockName(stack, t), layer), word: plainStep(step) };
          return { name: nameOf(at, token), at, head: null, token, says: t("{place}, at {token}", { place: stream.stage, token: stream.word }), stream };
        }),
      })),
    };
  });
}

/** @param {Translate} t @param {string} block @param {number} layer  from 1; 0: the input */
const streamAfter = (t, block, layer) => (layer ? t("{block}, layer {layer}", { block, layer }) : t("{block}, input", { block }));

/** @param {Translate} t @param {number} layer */
const layerName = (t, layer) => ({ name: t("Layer {n}", { n: layer + 1 }), short: String(layer + 1) });

