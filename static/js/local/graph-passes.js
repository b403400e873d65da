/** Passes of the model's graphs by ONNX Runtime: one reads the source, one writes with a cache. */

import { changeInputs, changedTensor, hiddenTokens, neutralInputs, withOwnRows } from "./graph-changes.js";

/** @import { Change } from "../core/store/interventions.js" */
/** @import { GraphDescription, GraphTensor, Span } from "./graph-changes.js" */
/** @typedef {{type: string, dims: readonly number[], data: any}} OrtTensor */
/** @typedef {{run: (feeds: Record<string, any>, fetches?: string[]) => Promise<Record<string, OrtTensor>>}} OrtSession */
/** @typedef {{Tensor: new (type: any, data: any, dims: number[]) => any}} Ort  of onnxruntime-web */
/** @typedef {Record<string, OrtTensor>} Tensors  by name, with the batch axis */
/**
 * @typedef {object} OpenGraph
 * @property {OrtSession} session
 * @property {GraphDescription} description
 * @property {number} heads
 * @property {{channel: number, feature: number, hidden: number}} widths
 */
/** @typedef {{reader: OpenGraph, writer: OpenGraph, means: Record<string, Float32Array>}} OpenModel  reader: the graph that reads the source */
/** @typedef {ReturnType<typeof createPasses>} Passes */
/** @typedef {{ids: number[], memory: OrtTensor, visible: Uint8Array, tensors: Tensors}} ReadSource */

/**
 * @param {Ort} ort
 * @param {OpenModel} model
 * @param {number} pad  the id of padding, which nothing attends to
 */
export function createPasses(ort, { reader, writer, means }, pad) {
  const tensor = (/** @type {GraphTensor} */ { dtype, data, shape }) => new ort.Tensor(dtype, data, shape);
  const neutral = new Map([reader, writer].map((graph) => [graph, tensorsOf(neutralInputs(graph.description))]));
  const caches = writer.description.texts.filter(({ name }) => name.startsWith("past."));

  /** @param {Record<string, GraphTensor>} inputs */
  function tensorsOf(inputs) {
    return Object.fromEntries(Object.entries(inputs).map(([name, input]) => [name, tensor(input)]));
  }

  /** @param {OpenGraph} graph @param {Change[]} changes @param {Span} span */
  function changed(graph, changes, span) {
    const width = (/** @type {string} */ name) => widthOf(name, graph.widths);
    return { ...neutral.get(graph), ...tensorsOf(changeInputs(graph.description, changes, { heads: graph.heads, width, means }, span)) };
  }

  const ids = (/** @type {number[][]} */ rows) => new ort.Tensor("int64", BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0].length]);
  const flags = (/** @type {Uint8Array} */ list, count = 1) => new ort.Tensor("bool", repeated(list, count), [count, list.length]);
  const isReal = (/** @type {number[]} */ row) => Uint8Array.from(row, (id) => Number(id !== pad));
  /** One pass after another: of two at once, each would take twice as long. @type {Promise<unknown>} */
  let last = Promise.resolve();

  /**
   * @param {OpenGraph} graph
   * @param {Record<string, any>} texts  the inputs that are no changes
   * @param {Change[]} changes
   * @param {Span} span
   * @param {string[]} fetched
   * @returns {Promise<Tensors>}
   */
  async function run(graph, texts, changes, span, fetched) {
    /** @param {Change[]} inForce @param {string[]} names @returns {Promise<Tensors>} */
    const pass = (inForce, names) => {
      const next = last.then(() => graph.session.run({ ...texts, ...changed(graph, inForce, span) }, names));
      last = next.catch(() => {});
      return next;
    };
    const names = graph.description.outputs.map(({ name }) => name);
    const tensors = { name: (/** @type {Change} */ change) => changedTensor(graph.description, change), order: (/** @type {string} */ name) => names.indexOf(name) };
    const [rows] = Object.values(span);
    return pass(await withOwnRows(changes, rows, tensors, pass), fetched);
  }

  return {
    /**
     * @param {number[]} source
     * @param {Change[]} changes
     * @param {string[]} fetched  tensors of the reader
     * @returns {Promise<ReadSource>}
     */
    async read(source, changes, fetched) {
      const length = source.length;
      const visible = visibleTokens(length, hiddenTokens(changes, "source"));
      const feeds = { source: ids([source]), "source.real": flags(isReal(source)), "source.visible": flags(visible) };
      const tensors = await run(reader, feeds, changes, { source: { start: 0, rows: length, keys: length } }, ["memory", ...fetched]);
      return { ids: source, memory: tensors.memory, visible, tensors };
    },

    /**
     * The writer over the next ids, after those whose keys and values are in `past`.
     * @param {ReadSource} read
     * @param {number[][]} targets  the rows of a batch, all of the same length
     * @param {Tensors | null} past  of the pass before
     * @param {Change[]} changes
     * @param {string[]} fetched
     * @returns {Promise<Tensors>}
     */
    async write(read, targets, past, changes, fetched) {
      const [count, rows] = [targets.length, targets[0].length];
      const start = past ? past["cache.0.k"].dims[2] : 0;
      const length = start + rows;
      const { data, dims } = read.memory;
      const feeds = {
        target: ids(targets),
        "target.real": flags(Uint8Array.from([...Array(start).fill(1), ...isReal(targets[0])]), count),
        "target.visible": flags(visibleTokens(length, hiddenTokens(changes, "target")), count),
        memory: count === 1 ? read.memory : new ort.Tensor("float32", repeated(data, count), [count, ...dims.slice(1)]),
        "source.real": flags(isReal(read.ids), count),
        "source.visible": flags(read.visible, count),
        ...Object.fromEntries(caches.map(({ name, axes }) => [name, past?.[name.replace("past", "cache")] ?? new ort.Tensor("float32", new Float32Array(0), [count, Number(axes[1]), 0, Number(axes[3])])])),
      };
      // The rows of the pass are the first text's.
      const span = { target: { start, rows, keys: length }, source: { start: 0, rows: read.ids.length, keys: read.ids.length } };
      return run(writer, feeds, changes, span, fetched);
    },

    /**
     * The keys and values of a batch whose row i is a copy of row rows[i].
     * @param {Tensors} past
     * @param {number[]} rows
     * @returns {Tensors}
     */
    selected(past, rows) {
      return Object.fromEntries(this.cache.map((name) => {
        const { data, dims } = past[name];
        const size = data.length / dims[0];
        const copied = new Float32Array(rows.length * size);
        rows.forEach((row, index) => copied.set(data.subarray(row * size, (row + 1) * size), index * size));
        return [name, new ort.Tensor("float32", copied, [rows.length, ...dims.slice(1)])];
      }));
    },

    /** The outputs that the next step reads. */
    cache: caches.map(({ name }) => name.replace("past", "cache")),
  };
}

/**
 * @template {Float32Array | Uint8Array} T
 * @param {T} numbers
 * @param {number} count
 * @returns {T}
 */
function repeated(numbers, count) {
  if (count === 1) return numbers;
  const all = /** @type {T} */ (new /** @type {any} */ (numbers.constructor)(numbers.length * count));
  for (let index = 0; index < count; index++) all.set(/** @type {any} */ (numbers), index * numbers.length);
  return all;
}

/** @param {number} length @param {number[]} hidden */
function visibleTokens(length, hidden) {
  const visible = new Uint8Array(length).fill(1);
  for (const index of hidden) if (index < length) visible[index] = 0;
  return visible;
}

/** @param {string} name  of a tensor @param {OpenGraph["widths"]} widths */
function widthOf(name, { channel, feature, hidden }) {
  if (name.endsWith(".hidden")) return hidden;
  return /\.(q|k|v|mix)$/.test(name) ? channel : feature;
}
