/**
 * The state of the zoo's page as a link: a task, some of its models, a text, and a head of each
 * model.
 */

import { placeOf } from "../core/wire/model-description.js";

/** @import { ModelInfo } from "../core/wire/model-description.js" */
/** @typedef {import("../core/wire/schemas.d.ts").ZooModelReply & {info: ModelInfo}} ZooModel */
/** @typedef {{tasks: import("../core/wire/schemas.d.ts").ZooTaskReply[], models: ZooModel[]}} Zoo */
/** @typedef {{place: string, head: number}} HeadPlace  an attention, and a head of it */
/**
 * @typedef {object} ZooState
 * @property {string} task
 * @property {string[]} models  by name, in the order of the task's models
 * @property {string} source  "": draw an example
 * @property {Record<string, HeadPlace>} headsByModel  by model; a model without an entry shows its best head
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
export function zooWithModels({ tasks, models }, infos) {
  const infoById = Object.fromEntries(infos.map((info) => [info.id, info]));
  return { tasks, models: models.filter(({ id }) => infoById[id]).map((model) => ({ ...model, info: infoById[model.id] })) };
}

/**
 * @param {string} query
 * @param {Zoo} zoo
 * @returns {ZooState}  a valid state; whatever does not exist is left out
 */
export function parse(query, zoo) {
  const parameters = new URLSearchParams(query);
  const tasks = new Set(zoo.models.map(({ task }) => task));
  const requestedTask = parameters.get("task") ?? START.task;
  const task = tasks.has(requestedTask) ? requestedTask : (zoo.models[0]?.task ?? "");
  const requestedModels = parameters.get("models")?.split(",") ?? (parameters.has("task") ? [] : START.models);
  const state = stateOfTask(zoo, task, requestedModels);
  const places = (parameters.get("at") ?? "").split(",").map((text) => read(text, zoo));
  return { ...state, source: parameters.get("source") ?? "", headsByModel: Object.fromEntries(places.filter((entry) => entry !== null)) };
}

/**
 * A task with the requested models, or its first ones.
 * @param {Zoo} zoo
 * @param {string} task
 * @param {string[]} [requested]
 * @returns {ZooState}
 */
export function stateOfTask(zoo, task, requested = []) {
  const names = zoo.models.filter((model) => model.task === task).map(({ name }) => name);
  const existing = names.filter((name) => requested.includes(name));
  return { task, models: existing.length ? existing : names.slice(0, FIRST), source: "", headsByModel: {} };
}

/** @param {string} text  "sort:encoder.1.self.2" @param {Zoo} zoo @returns {[string, HeadPlace] | null} */
function read(text, zoo) {
  const [, name, place, digits] = /^([\w-]+):([\w.]+)\.(\d+)$/.exec(text) ?? [];
  const model = zoo.models.find((model) => model.name === name);
  const head = Number(digits);
  const attention = model?.info.attentions.find((attention) => attention.place === place);
  return attention && head < attention.heads ? [name, { place, head }] : null;
}

/** @param {ZooState} state @returns {string}  a query string without "?" */
export function format({ task, models, source, headsByModel }) {
  const query = new URLSearchParams({ task, models: models.join(",") });
  if (source) query.set("source", source);
  const heads = models.filter((name) => headsByModel[name]).map((name) => `${name}:${headsByModel[name].place}.${headsByModel[name].head}`);
  if (heads.length) query.set("at", heads.join(","));
  return query.toString();
}

/** The seed that is served. @param {ZooModel} model */
const servedSeed = ({ seeds }) => seeds.find((seed) => seed.shipped) ?? seeds[0];

/**
 * All heads in the order in which they run, with how often the largest weight of each is on a token
 * that determines the answer.
 * @param {ZooModel} model
 * @returns {(HeadPlace & {share: number | null})[]}  null: not measured, because its rows determine no
 *   answer
 */
export function headShares(model) {
  const { looks: shares } = servedSeed(model);
  return model.info.attentions.flatMap(({ place, heads: count }) =>
    Array.from({ length: count }, (_, head) => ({ place, head, share: shares[place]?.[head] ?? null })),
  );
}

/**
 * The head that looks at the right token most often.
 * @param {ZooModel} model
 * @returns {HeadPlace & {share: number | null}}
 */
export const bestHead = (model) => headShares(model).reduce((a, b) => ((b.share ?? -1) > (a.share ?? -1) ? b : a));

/** A head as in a link of the workspace. @param {ZooModel} model @param {HeadPlace} at */
export function headInLink({ info }, { place, head }) {
  const { block = "", layer = 0 } = placeOf(info, place) ?? {};
  return { block, layer, head };
}

/**
 * The link to the workspace with the same text, model and head.
 * @param {ZooModel} model
 * @param {string} source
 * @param {HeadPlace} headPlace
 * @param {string} lang
 */
export function workspaceLink(model, source, headPlace, lang) {
  const { block, layer, head } = headInLink(model, headPlace);
  const query = { model: model.id, source, view: "attention", block, layer: String(layer), head: String(head), lang };
  return `/?${new URLSearchParams(query)}`;
}
