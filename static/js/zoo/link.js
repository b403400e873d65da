/**
 * The state of the zoo's page as a link: a task, some of its models, a text, and a head of each
 * model.
 */

import { placeOf } from "../core/wire/attentions.js";

/** @import { ModelInfo } from "../core/wire/model.js" */
/** @typedef {import("../core/wire/schemas.d.ts").ZooModelReply & {info: ModelInfo}} ZooModel */
/** @typedef {{tasks: import("../core/wire/schemas.d.ts").ZooTaskReply[], models: ZooModel[]}} Zoo */
/** @typedef {{place: string, head: number}} At  an attention, and a head of it */
/**
 * @typedef {object} ZooState
 * @property {string} task
 * @property {string[]} models  by name, in the order of the task's models
 * @property {string} source  "": draw an example
 * @property {Record<string, At>} at  by model; a model without an entry shows its best head
 */

/** Number of models shown at first. */
const FIRST = 2;
const START = { task: "reverse", models: ["reverse", "reverse-rotary"] };

/**
 * The zoo, with each model's description.
 * @param {import("../core/wire/schemas.d.ts").ZooReply} told
 * @param {ModelInfo[]} infos
 * @returns {Zoo}
 */
export function joined({ tasks, models }, infos) {
  const known = Object.fromEntries(infos.map((info) => [info.id, info]));
  return { tasks, models: models.filter(({ id }) => known[id]).map((one) => ({ ...one, info: known[one.id] })) };
}

/**
 * @param {string} query
 * @param {Zoo} zoo
 * @returns {ZooState}  a valid state; whatever does not exist is left out
 */
export function parse(query, zoo) {
  const said = new URLSearchParams(query);
  const tasks = new Set(zoo.models.map(({ task }) => task));
  const asked = said.get("task") ?? START.task;
  const task = tasks.has(asked) ? asked : (zoo.models[0]?.task ?? "");
  const wanted = said.get("models")?.split(",") ?? (said.has("task") ? [] : START.models);
  const state = chosen(zoo, task, wanted);
  const at = (said.get("at") ?? "").split(",").map((one) => read(one, zoo));
  return { ...state, source: said.get("source") ?? "", at: Object.fromEntries(at.filter((one) => one !== null)) };
}

/**
 * A task with the requested models, or its first ones.
 * @param {Zoo} zoo
 * @param {string} task
 * @param {string[]} [wanted]
 * @returns {ZooState}
 */
export function chosen(zoo, task, wanted = []) {
  const names = zoo.models.filter((one) => one.task === task).map(({ name }) => name);
  const there = names.filter((name) => wanted.includes(name));
  return { task, models: there.length ? there : names.slice(0, FIRST), source: "", at: {} };
}

/** @param {string} text  "sort:encoder.1.self.2" @param {Zoo} zoo @returns {[string, At] | null} */
function read(text, zoo) {
  const [, name, place, digits] = /^([\w-]+):([\w.]+)\.(\d+)$/.exec(text) ?? [];
  const model = zoo.models.find((one) => one.name === name);
  const head = Number(digits);
  const there = model?.info.attentions.find((one) => one.place === place);
  return there && head < there.heads ? [name, { place, head }] : null;
}

/** @param {ZooState} state @returns {string}  a query string without "?" */
export function format({ task, models, source, at }) {
  const query = new URLSearchParams({ task, models: models.join(",") });
  if (source) query.set("source", source);
  const heads = models.filter((name) => at[name]).map((name) => `${name}:${at[name].place}.${at[name].head}`);
  if (heads.length) query.set("at", heads.join(","));
  return query.toString();
}

/** The seed that is served. @param {ZooModel} model */
export const shipped = ({ seeds }) => seeds.find((one) => one.shipped) ?? seeds[0];

/**
 * All heads in the order in which they run, with how often the largest weight of each is on a token
 * that determines the answer.
 * @param {ZooModel} model
 * @returns {(At & {share: number | null})[]}  null: not measured, because its rows determine no
 *   answer
 */
export function heads(model) {
  const { looks } = shipped(model);
  return model.info.attentions.flatMap(({ place, heads: count }) =>
    Array.from({ length: count }, (_, head) => ({ place, head, share: looks[place]?.[head] ?? null })),
  );
}

/**
 * The head that looks at the right token most often.
 * @param {ZooModel} model
 * @returns {At & {share: number | null}}
 */
export const best = (model) => heads(model).reduce((a, b) => ((b.share ?? -1) > (a.share ?? -1) ? b : a));

/** A head as in a link of the workspace. @param {ZooModel} model @param {At} at */
export function linked({ info }, { place, head }) {
  const { block = "", layer = 0 } = placeOf(info, place) ?? {};
  return { block, layer, head };
}

/**
 * The link to the workspace with the same text, model and head.
 * @param {ZooModel} model
 * @param {string} source
 * @param {At} at
 * @param {string} lang
 */
export function workspace(model, source, at, lang) {
  const { block, layer, head } = linked(model, at);
  const query = { model: model.id, source, view: "attention", block, layer: String(layer), head: String(head), lang };
  return `/?${new URLSearchParams(query)}`;
}
