/**
 * Questions for predictions, and what a kind of question works with. Only the data that a kind
 * needs at the time is requested.
 */

import { quoted } from "../core/draw/token.js";
import { frozen, served } from "../core/store/data-sources.js";
import { format, mergeStates, parse } from "../core/store/link.js";
import { hiddenOf, unitAt } from "../core/store/model-part-names.js";
import { axes, blockAt } from "../core/wire/model-description.js";
import { request } from "../core/wire/request.js";
import { plane } from "../core/wire/safetensors.js";
import { two } from "../lib/numbers.js";
import { linkTo } from "../views/create-figure.js";
import { OPTIONS } from "../views/index.js";

/** @import { State } from "../core/store/link.js" */
/** @import { ModelInfo } from "../core/wire/model-description.js" */
/** @import { Entry } from "../core/wire/requests-by-subject.js" */
/** @import { Trace } from "../core/wire/safetensors.js" */
/** @import { Described } from "../lib/dom.js" */

/** Plain data: it can be stored with a share and sent to a room. @typedef {import("../core/wire/schemas.d.ts").Asked} Question */
/**
 * Plain data: the id of the chosen answer, or one text per field, as typed.
 * @typedef {string[]} Answer
 */
/**
 * @typedef {object} Choice  one of the possible answers, or a field to fill in
 * @property {string} id
 * @property {Described | string} label
 * @property {string} [term]  the special token that it is, which a reader may not know
 */
/**
 * @typedef {object} AnswerSources  where the data comes from
 * @property {import("../core/store/data-sources.js").Source} source
 * @property {(body: object) => Promise<import("../lab/steps.js").Answer>} compute  a step
 *   by hand, as POST /api/lab answers
 * @property {() => Promise<Question>} [stated]  the question with what it states of its answer, if the
 *   page gets that only when it is revealed
 */
/**
 * @typedef {object} Inquiry  what a kind of question works with
 * @property {Question} question
 * @property {State} state  of its link
 * @property {() => Promise<ModelInfo>} model
 * @property {(addresses: (model: ModelInfo) => string[], changes?: Partial<State>) => Promise<Trace>} run
 * @property {AnswerSources["compute"]} compute
 * @property {AnswerSources["stated"]} [stated]
 * @property {import("../core/figure/types.js").PageContext["t"]} t
 * @property {import("../core/figure/types.js").PageContext["phrase"]} phrase
 */
/**
 * @typedef {object} Revealed  the right answer
 * @property {string[]} [right]  ids of choices; of equal ones all
 * @property {Record<string, number>} [shares]  of the choices, from 0 to 1
 * @property {number[]} [numbers]  one per field
 * @property {(string | Described)[]} says  one sentence on what the model did; may be empty
 */
/**
 * @typedef {object} Kind
 * @property {(t: Inquiry["t"]) => string} name  for a menu of kinds
 * @property {boolean} [shareable]  whether the numbers of a share can answer it
 * @property {(state: State, model: ModelInfo | null) => boolean} fits  whether it can be asked
 *   about what a link shows
 * @property {(question: Question) => Entry} entry  how it is answered
 * @property {(inquiry: Inquiry) => Promise<(string | Described)[]>} words  the question in words, for
 *   someone who did not write any
 * @property {(inquiry: Inquiry) => Promise<Choice[]>} choices
 * @property {(inquiry: Inquiry) => Promise<Revealed>} reveal
 * @property {"all" | "before"} [shows]  how much of what is written a reader must see to answer: all,
 *   or what is before the row; absent: nothing
 */

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {AnswerSources} sources
 * @param {Question} question
 * @returns {Inquiry}
 */
export function ask({ t, phrase }, { source, compute, stated }, question) {
  const state = mergeStates(linkTo(), parse(question.link, OPTIONS));
  async function model() {
    const models = await source.models();
    return models.find(({ id }) => id === state.model) ?? models[0];
  }
  return {
    question,
    state,
    model,
    compute,
    stated,
    t,
    phrase,
    async run(addresses, changes = {}) {
      const modelInfo = await model();
      return source.trace(request(modelInfo, { ...state, ...changes }, addresses(modelInfo)));
    },
  };
}

// Where the answers to a question come from: the stored numbers of a share, or the models served.

/**
 * @param {import("../core/wire/api.js").Api} api
 * @param {string | null} [share]  its id
 * @returns {AnswerSources}
 */
export function answerSources(api, share) {
  const compute = (/** @type {object} */ body) => api.lab(body);
  if (!share) return { source: served(api), compute };
  const source = frozen(api, { id: share, initial: linkTo(), options: OPTIONS });
  /** @type {Promise<import("../core/store/data-sources.js").Opened> | null} */
  let opening = null;
  const open = /** @type {NonNullable<typeof source.open>} */ (source.open);
  const opened = () =>
    (opening ??= open(linkTo()).catch((error) => {
      opening = null; // it can be tried again
      throw error;
    }));
  return {
    compute,
    source: {
      ...source,
      open: opened,
      // The share's own model, which may no longer be served.
      models: async () => [/** @type {import("../core/wire/model-description.js").ModelInfo} */ ((await opened()).model)],
      trace: async (request, signal) => (await opened(), source.trace(request, signal)),
    },
  };
}

/** The place on which a share opens, as a query string; "": it has none. @param {import("../core/wire/api.js").Api} api @param {string} share  its id */
export async function placeIn(api, share) {
  const opened = await answerSources(api, share).source.open?.(linkTo());
  return opened?.link ? format(opened.link, OPTIONS) : "";
}

// At which token is a hidden unit of a feed-forward network largest? One choice for each token.

/** @param {Inquiry} inquiry */
async function unitsAt({ run, model, state }) {
  const info = await model();
  const [network] = hiddenOf({ model: info, link: state });
  const trace = await run(() => [network.name]);
  const tokens = axes(info, trace, blockAt({ model: info, link: state }).id).rows.map(({ reads, writes }) => reads ?? writes);
  return { tokens, values: unitAt(plane(trace.tensors[network.name]), state.options.unit) };
}

/** @type {Kind} */
export const largestUnit = {
  name: (t) => t("At which token is this unit largest?"),
  fits: ({ view, options }) => view === "feed-forward" && options.unit !== null,
  entry: () => "choice",
  async words({ t, state }) {
    return [t("At which token is unit {n} largest?", { n: state.options.unit + 1 })];
  },
  async choices(inquiry) {
    return (await unitsAt(inquiry)).tokens.flatMap((label, i) => (label.special ? [] : [{ id: String(i), label: quoted(label) }]));
  },
  async reveal(inquiry) {
    const { tokens, values } = await unitsAt(inquiry);
    const offered = values.map((value, i) => (tokens[i].special ? -Infinity : value));
    const best = offered.indexOf(Math.max(...offered));
    return { right: [String(best)], says: inquiry.phrase(inquiry.t("Unit {n} is largest at {token}: {value}."), { n: String(inquiry.state.options.unit + 1), token: quoted(tokens[best]), value: two(values[best]) }) };
  },
};
