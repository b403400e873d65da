/**
 * What the exported graphs of model/explain compute from a run: the logit lens, what adds to a logit or to a
 * contrast, the tokens whose embeddings are most alike, and what each head does.
 */

import { Problem } from "../core/wire/reply.js";

/** @import { TokenReply } from "../core/wire/schemas.d.ts" */
/** @import { Summary } from "../core/wire/safetensors.js" */
/** @import { GraphOutput } from "./graph-changes.js" */
/** @import { Ort, OrtSession, OrtTensor, Tensors } from "./graph-passes.js" */

/** @typedef {{inputs: string[], outputs: GraphOutput[]}} DerivedDescription */
/** @typedef {{source: number[], rows: number, written: number[]}} RunIds  source: as read; rows: of the target, as read */
/** @typedef {ReturnType<typeof createDerived>} Derived */

/** A contrast names the token, or the most probable other one: "inside.contrast.1234.total". */
const CONTRAST = /^(inside\.contrast\.)(runner-up|\d{1,9})\.(\w+)$/;
const RUNNER_UP = "runner-up";
const LAST = "inside.lens.candidates";

/**
 * @param {Ort} ort
 * @param {Record<string, DerivedDescription>} descriptions  by graph
 * @param {(graph: string) => Promise<OrtSession>} open
 */
export function createDerived(ort, descriptions, open) {
  /** @type {Record<string, Promise<OrtSession>>} */
  const sessions = {};
  const outputs = new Map(Object.entries(descriptions).flatMap(([graph, described]) => described.outputs.map((output) => [output.name, { graph, output }])));

  /** The output of a graph that a name is of. @param {string} name */
  const outputName = (name) => name.replace(CONTRAST, "$1$3");
  const partOf = (/** @type {string} */ name) => (name === outputName(name) && name.startsWith("inside.contrast.") ? undefined : outputs.get(outputName(name)));

  /**
   * @param {string} graph
   * @param {string[]} outputNames  outputs
   * @param {Tensors} values
   * @param {Record<string, number[]>} ids  by input
   */
  async function run(graph, outputNames, values, ids) {
    const session = await (sessions[graph] ??= open(graph));
    const feeds = descriptions[graph].inputs.map((name) => {
      if (ids[name]) return [name, new ort.Tensor("int64", BigInt64Array.from(ids[name], BigInt), [ids[name].length])];
      const { type, data, dims } = values[name];
      return [name, new ort.Tensor(type, data, dims.slice(1))];
    });
    return session.run(Object.fromEntries(feeds), outputNames);
  }

  return {
    /** @param {string} name @returns {GraphOutput | undefined} */
    output(name) {
      const part = partOf(name);
      return part && { ...part.output, name };
    },

    /** The tensors of a run that some of these need. @param {string[]} names */
    inputs: (names) => [...new Set(names.flatMap((name) => descriptions[/** @type {{graph: string}} */ (partOf(name)).graph].inputs))].filter((name) => !/\.(ids|written|against)$/.test(name)),

    /**
     * @param {string[]} names
     * @param {Tensors} values  of the run, with the batch axis
     * @param {RunIds} run
     * @returns {Promise<Tensors>}  likewise
     */
    async tensors(names, values, { source, rows, written }) {
      if (names.some((name) => partOf(name)?.graph === "inside") && rows !== written.length) throw new Problem("unsupported", { field: "pad_to", detail: "this needs a server" });
      /** @type {Tensors} */
      const computed = {};
      const ids = { "source.ids": source, "target.written": written, "target.against": written };
      const contrasts = new Set(names.map((name) => CONTRAST.exec(name)?.[2] ?? ""));
      for (const contrast of contrasts) {
        const ofContrast = names.filter((name) => (CONTRAST.exec(name)?.[2] ?? "") === contrast);
        const against = contrast === RUNNER_UP ? runnersUp((await run("inside", [LAST], values, ids))[LAST], written) : contrast ? written.map(() => Number(contrast)) : written;
        for (const graph of new Set(ofContrast.map((name) => /** @type {{graph: string}} */ (partOf(name)).graph))) {
          const ofGraph = ofContrast.filter((name) => partOf(name)?.graph === graph);
          const results = await run(graph, ofGraph.map(outputName), values, { ...ids, "target.against": against });
          for (const name of ofGraph) computed[name] = withBatch(results[outputName(name)]);
        }
      }
      return computed;
    },
  };
}

/** @param {OrtTensor} tensor @returns {OrtTensor} */
const withBatch = ({ type, dims, data }) => ({ type, dims: [1, ...dims], data });

/**
 * The most probable token of each row that is not written, as the last layer has it.
 * @param {OrtTensor} candidates  (layer, row, rank)
 * @param {number[]} written
 */
function runnersUp({ dims: [layers, rows, ranks], data }, written) {
  return written.map((id, row) => {
    const first = ((layers - 1) * rows + row) * ranks;
    return Number(data[first]) === id ? Number(data[first + 1]) : Number(data[first]);
  });
}

// What each head does in a sentence, by the exported graphs of model/explain/patterns.py. The page only
// compares the tokens.

/** @typedef {{names: string[], outputs: Record<string, string[]>}} PatternDescription  names: of patterns; outputs: of each graph */
/** @typedef {{weights: OrtTensor, mask: OrtTensor, queries: TokenReply[], keys: TokenReply[], twoTexts: boolean}} RecordedHeads  with the batch axis; queries: in cross-attention what rows write */
/** @typedef {{values: Record<string, OrtTensor>, outputs: Map<string, GraphOutput>, texts: Record<string, TokenReply[]>, written: TokenReply[]}} RecordedRun */

const PATTERN = "pattern";

/**
 * @param {Ort} ort
 * @param {PatternDescription} description
 * @param {(graph: string) => Promise<OrtSession>} open
 */
export function createSummaries(ort, description, open) {
  /** @type {Record<string, Promise<OrtSession>>} */
  const sessions = {};

  /** @param {RecordedHeads} heads @returns {Promise<Summary>} */
  async function summary({ weights, mask, queries, keys, twoTexts }) {
    const graph = twoTexts ? "cross-patterns" : "self-patterns";
    const session = await (sessions[graph] ??= open(graph));
    const flags = (/** @type {boolean[]} */ list, /** @type {number[]} */ shape) => new ort.Tensor("bool", Uint8Array.from(list, Number), shape);
    const shape = [queries.length, keys.length];
    const feeds = {
      weights: new ort.Tensor("float32", weights.data, weights.dims.slice(1)),
      mask: new ort.Tensor("bool", mask.data, shape),
      "queries.special": flags(queries.map(({ special }) => special), [queries.length]),
      "keys.special": flags(keys.map(({ special }) => special), [keys.length]),
      "pairs.same": flags(samePairs(queries, keys, twoTexts), shape),
    };
    const outputs = await session.run(feeds);
    const measured = description.outputs[graph].filter((name) => name !== PATTERN).map((name) => [name, [...outputs[name].data].map((value) => (Number.isNaN(value) ? null : value))]);
    return { ...Object.fromEntries(measured), pattern: [...outputs[PATTERN].data].map((place) => description.names[Number(place)]) };
  }

  /**
   * @param {string[]} places  of attentions
   * @param {RecordedRun} run
   */
  return async (places, { values, outputs, texts, written }) => {
    /** @type {Record<string, Summary>} */
    const summaries = {};
    for (const place of places) {
      const [weights, mask] = ["weights", "mask"].map((name) => `${place}.${name}`);
      const { query, key } = /** @type {GraphOutput} */ (outputs.get(weights)).over;
      const twoTexts = query !== key;
      summaries[place] = await summary({ weights: values[weights], mask: values[mask], queries: twoTexts ? written : texts[query], keys: texts[key], twoTexts });
    }
    return summaries;
  };
}

/**
 * Whether a key is the query's word elsewhere, row by row.
 * @param {TokenReply[]} queries
 * @param {TokenReply[]} keys
 * @param {boolean} twoTexts
 */
function samePairs(queries, keys, twoTexts) {
  const [rows, columns] = [queries, keys].map((tokens) => tokens.map(({ text }) => text.trim().toLowerCase()));
  return rows.flatMap((word, i) => columns.map((column, j) => word === column && !queries[i].special && !keys[j].special && (twoTexts || i !== j)));
}
