/** Requests about rooms. */

import { completed } from "./model.js";
import { Problem } from "./problem.js";
import { cut, json, tensors } from "./reply.js";

/** @import { ModelInfo } from "./model.js" */

/** @typedef {import("../store/store.js").Lit & {figure?: string}} Pointer  what the presenter points at; figure: where, on a page with several */
/**
 * @typedef {object} RoomState
 * @property {number} seq  a higher one is newer
 * @property {string} link  path, query and fragment of what is presented
 * @property {Pointer | null} pointer
 * @property {RoomQuestion | null} [question]
 * @property {boolean} handed  whether someone presents from the driver's seat
 * @property {boolean} [closed]  whether it is closed to newcomers
 * @property {boolean} over  whether the room has ended
 */
/** @typedef {"choice" | "numbers" | "shares" | "text"} Entry  how a question is answered */
/** @typedef {"first" | "discuss" | "second" | "closed" | "revealed"} Stage */
/** @typedef {{count: number, chosen: Record<string, number>, others?: number, mean: number[], right: number | null, distance: number | null, rows: number[][]}} Results  chosen: the most frequent answers; others: how many answers are not among them; rows: as shares of 1, the nearest to the model's first */
/**
 * @typedef {object} RoomQuestion
 * @property {number} n
 * @property {Entry} entry
 * @property {{kind: string, link: string, page?: string, scene?: string, value?: number, within?: number, words?: string}} ask
 * @property {Stage} stage
 * @property {boolean} [nicknames]  whether students may add a nickname
 * @property {{first: Results, second: Results} | null} [results]  once revealed
 */
/** @typedef {{id: string, vote: string, answer: string[], nickname?: string}} GivenAnswer */
/** @typedef {{code: string, url: string, key: string}} OpenRoom */
/** @typedef {OpenRoom & {driver?: boolean}} Seat  driver: the key can only present */
/** @typedef {{seq: number, joined: number, following: number, in_step: number, exploring: number, answered: number}} ClassCounts */
/** @typedef {{closed: boolean, at: number, network: number | null, members: {id: string, network: number, joined: number, here: boolean, answered: boolean}[]}} Members  at: the time of the server, in seconds; network: that of this page */
/** @typedef {{member: string | null, exploring: boolean}} Reader  member: null for a screen */

const JSON_TYPE = "application/json";

/** @param {import("./connection.js").Connection} connection */
export function rooms({ ask, read, send, events }) {
  const roomPath = (/** @type {string} */ code) => `/api/rooms/${encodeURIComponent(code)}`;
  const bearer = (/** @type {string} */ key) => ({ Authorization: `Bearer ${key}` });
  const own = async (/** @type {OpenRoom} */ { code, key }, /** @type {string} */ part, method = "GET") =>
    ask(`${roomPath(code)}${part}`, { method, headers: bearer(key) });
  return {
    /** @param {string} link @returns {Promise<OpenRoom>} */
    openRoom: async (link) => json(await send("/api/rooms", { state: { link } }, JSON_TYPE)),

    /** @param {OpenRoom} room @param {{link: string, pointer: Pointer | null}} state @param {AbortSignal} [signal] @returns {Promise<RoomState>} */
    present: async ({ code, key }, state, signal) =>
      json(await send(`${roomPath(code)}/state`, state, JSON_TYPE, signal, { method: "PUT", headers: bearer(key) })),

    /**
     * @param {string} code
     * @param {Reader} [reader]
     * @param {{since?: number, signal?: AbortSignal}} [wait]  since: wait for a state after this number
     * @returns {Promise<RoomState>}
     */
    roomState: (code, reader, { since, signal } = {}) => read(`${roomPath(code)}/state?${queryOf(reader, since)}`, signal),

    /**
     * The present state, then the newest after each change; null for a sign of life.
     * @param {string} code @param {Reader} reader @param {AbortSignal} signal
     * @returns {AsyncGenerator<RoomState | null, void, void>}
     */
    roomEvents: (code, reader, signal) => events(`${roomPath(code)}/events?${queryOf(reader)}`, signal),

    /** @param {OpenRoom} room @returns {Promise<ClassCounts>} */
    classCounts: async (room) => json(await own(room, "/class")),

    /** Every link that was presented, in order. @param {OpenRoom} room @returns {Promise<{states: {seq: number, at: number, link: string}[]}>} */
    roomRecord: async (room) => json(await own(room, "/record")),

    /** @param {OpenRoom} room @returns {Promise<{key: string, url: string, qr: string}>} */
    handOver: async (room) => json(await own(room, "/driver", "POST")),

    /** @param {OpenRoom} room */
    takeBack: async (room) => void (await own(room, "/driver", "DELETE")),

    /** Ask the room. @param {OpenRoom} room @param {{entry: Entry, ask: object, nicknames: boolean}} question @returns {Promise<RoomState>} */
    askRoom: async ({ code, key }, question) =>
      json(await send(`${roomPath(code)}/question`, question, JSON_TYPE, undefined, { method: "PUT", headers: bearer(key) })),

    /** Go on to a stage. @param {OpenRoom} room @param {{stage: Stage, truth?: object}} next @returns {Promise<RoomState>} */
    goOn: async ({ code, key }, next) =>
      json(await send(`${roomPath(code)}/question`, next, JSON_TYPE, undefined, { method: "PATCH", headers: bearer(key) })),

    /** @param {OpenRoom} room */
    endQuestion: async (room) => void (await own(room, "/question", "DELETE")),

    /** @param {string} code @param {{member: string, n: number, answer: string[], nickname?: string}} given */
    answerRoom: async (code, given) => void (await send(`${roomPath(code)}/answers`, given, JSON_TYPE)),

    /** The answers to the present question. @param {OpenRoom} room @returns {Promise<{n: number, answers: GivenAnswer[]}>} */
    readAnswers: async (room) => json(await own(room, "/answers")),

    /** @param {OpenRoom} room @param {string} id */
    removeAnswer: async (room, id) => void (await own(room, `/answers/${encodeURIComponent(id)}`, "DELETE")),

    /** All answers as CSV. @param {OpenRoom} room */
    answersTable: async (room) => (await own(room, "/answers.csv")).blob().catch(cut),

    /** Close the room to newcomers, or open it again. @param {OpenRoom} room @param {boolean} closed @returns {Promise<RoomState>} */
    closeRoom: async ({ code, key }, closed) => json(await send(roomPath(code), { closed }, JSON_TYPE, undefined, { method: "PATCH", headers: bearer(key) })),

    /** @param {OpenRoom} room @returns {Promise<Members>} */
    listMembers: async (room) => json(await own(room, "/members")),

    /** Close the room and remove members. @param {OpenRoom} room @param {string[]} members  their ids @returns {Promise<{removed: number}>} */
    removeMembers: async ({ code, key }, members) => json(await send(`${roomPath(code)}/removals`, { members }, JSON_TYPE, undefined, { headers: bearer(key) })),

    /** @param {OpenRoom} room */
    endRoom: async (room) => void (await own(room, "", "DELETE")),
  };
}

/** @param {Reader} [reader] @param {number} [since] */
function queryOf(reader, since) {
  const query = new URLSearchParams();
  if (reader?.member) query.set("member", reader.member);
  if (reader?.exploring) query.set("exploring", "true");
  if (since !== undefined) query.set("since", String(since));
  return query;
}

// Requests about training runs.

/** @typedef {Record<string, string | number | null>} Options  as `POST /api/runs` takes them */
/** @typedef {"queued" | "starting" | "running" | "paused" | "finished" | "stopped" | "failed"} RunState */
/** @typedef {{unit: string, shortest: number, usual: number, most: number, example: string[]}} Task */
/**
 * @typedef {object} Offered  what this server can train
 * @property {number} training  number of running runs
 * @property {number} waiting
 * @property {number} minutes
 * @property {Options} defaults
 * @property {Record<string, Task>} tasks
 * @property {Record<string, {low: number, high: number}>} ranges
 */
/**
 * @typedef {object} Snapshot
 * @property {number} step
 * @property {number | null} loss  null: no longer a number
 * @property {number} accuracy
 * @property {number} seconds
 * @property {string[]} written  the answer to each probe
 */
/**
 * @typedef {object} RunInfo
 * @property {string} id
 * @property {RunState} state
 * @property {string | null} why
 * @property {number | null} place
 * @property {number} step
 * @property {Options} options
 * @property {number} learning_rate
 * @property {{id: string, step: number} | null} parent
 * @property {number} events
 * @property {ModelInfo | null} model
 * @property {{source: string, target: string}[]} probes
 * @property {Snapshot[]} snapshots
 */
/** @typedef {{id: string, url: string, key: string}} Created */
/** @typedef {{id: string, name: string, key: string, url: string}} Kept  key: what deletes it */

/** @param {import("./connection.js").Connection} connection */
export function trainingRuns({ ask, read, send, follow }) {
  const runPath = (/** @type {string} */ id) => `/api/runs/${encodeURIComponent(id)}`;
  return {
    /** @returns {Promise<Offered>} */
    offeredRuns: () => read("/api/runs"),

    /** @param {Options} options @returns {Promise<Created>} */
    startRun: async (options) => json(await send("/api/runs", options, JSON_TYPE)),

    /** @param {string} id @returns {Promise<RunInfo>} */
    async readRun(id) {
      const told = await read(runPath(id));
      return { ...told, model: told.model && completed(told.model) };
    },

    /**
     * Events from number `since` on, then new ones as they happen.
     * @param {string} id
     * @param {number} since
     * @param {AbortSignal} signal
     * @returns {AsyncGenerator<any, void, void>}
     */
    runEvents: (id, since, signal) => follow(`${runPath(id)}/events?since=${since}`, signal),

    /** @param {string} id @param {number} step @param {number} probe @param {AbortSignal} [signal] */
    async runSnapshot(id, step, probe, signal) {
      const headers = { Accept: "application/octet-stream" };
      return tensors(await ask(`${runPath(id)}/snapshots/${step}?probe=${probe}`, { headers, signal }));
    },

    /** @param {string} id @param {string} key @param {object} change @returns {Promise<RunInfo>} */
    changeRun: async (id, key, change) =>
      json(await send(runPath(id), change, JSON_TYPE, undefined, { method: "PATCH", headers: { "Run-Key": key } })),

    /** @param {string} id @param {{step: number, options: Options}} from @returns {Promise<Created>} */
    forkRun: async (id, from) => json(await send(`${runPath(id)}/fork`, from, JSON_TYPE)),

    /** @param {string} id @param {string} key @param {{step: number, name?: string}} what @returns {Promise<Kept>} */
    keepRun: async (id, key, what) =>
      json(await send(`${runPath(id)}/keep`, what, JSON_TYPE, undefined, { headers: { "Run-Key": key } })),

    /** @param {string} id @param {string} key  as it was told when the model was kept */
    async deleteModel(id, key) {
      await ask(`/api/models/${encodeURIComponent(id)}`, { method: "DELETE", headers: { "Model-Key": key } });
    },
  };
}

// What heads do over many sentences.

/** @typedef {{place: string, head: number, divergence: number}} SimilarHead */
/**
 * @typedef {object} SurveyedHead
 * @property {string} place
 * @property {number} head
 * @property {number} rows
 * @property {Record<string, number | null>} measures
 * @property {Record<string, number | null>} patterns  share of rows in which each holds
 * @property {{pattern: string, share: number}[]} described
 * @property {SimilarHead[]} similar
 * @property {{zero: number | null, mean: number | null} | null} cost
 */
/** @typedef {{model: string, title: string, sentences: number, indexed: number, heads: SurveyedHead[]}} HeadSurvey */
/** @typedef {{source: string, direction: string | null, target: string | null}} IndexedSentence */
/** @typedef {{index: number, text: string}} FoundToken */
/** @typedef {{sentence: IndexedSentence, query: FoundToken, key: FoundToken, weight: number}} FoundRow */
/** @typedef {{rows: number, sentences: number, of: number, found: FoundRow[]}} FoundRows */
/** @typedef {{by: string, examples: {sentence: IndexedSentence, value: number}[]}} HeadExamples */
/** @typedef {{model: string, place: string, head: number, corpus?: string}} HeadAt  corpus: a reader's text in place of the model's own sentences */
/** @typedef {{id: string, given: number, state: "queued" | "running" | "done" | "failed", done: number, of: number, why: string | null, expires: string}} CorpusInfo */

/** @param {HeadAt} at */
const surveyPath = ({ model, place, head }) => `${of(model)}/${place}/${head}`;

/** @param {HeadAt} at @returns {Record<string, string>} */
const over = ({ corpus }) => (corpus ? { corpus } : {});

/** @param {string} model */
const of = (model) => `/api/models/${encodeURIComponent(model)}/heads`;

/** @param {import("./connection.js").Connection} connection */
export function headSurveys({ ask, read, send }) {
  return {
    /**
     * All heads of a model.
     * @param {string} model
     * @param {string} corpus  a reader's text, or ""
     * @param {AbortSignal} [signal]
     * @returns {Promise<HeadSurvey>}
     */
    headSurvey: (model, corpus, signal) => read(`${of(model)}${corpus && `?${new URLSearchParams({ corpus })}`}`, signal),

    /**
     * Sentences at each tenth of a ranking.
     * @param {HeadAt} at
     * @param {string} by
     * @param {AbortSignal} [signal]
     * @returns {Promise<HeadExamples>}
     */
    headExamples: (at, by, signal) => read(`${surveyPath(at)}/examples?${new URLSearchParams({ by, ...over(at) })}`, signal),

    /**
     * Rows of a head that match.
     * @param {HeadAt} at
     * @param {Record<string, string>} wanted
     * @param {AbortSignal} [signal]
     * @returns {Promise<FoundRows>}
     */
    headRows: (at, wanted, signal) => read(`${surveyPath(at)}/rows?${new URLSearchParams({ ...wanted, ...over(at) })}`, signal),

    /**
     * Index a text of the reader's.
     * @param {{model: string, text: string, split: string, title: string}} text
     * @returns {Promise<CorpusInfo & {key: string}>}  key: what deletes it
     */
    sendCorpus: async (text) => json(await send("/api/corpora", text, "application/json")),

    /** @param {string} id @returns {Promise<CorpusInfo>} */
    corpus: (id) => read(`/api/corpora/${encodeURIComponent(id)}`),

    /** @param {string} id @param {string} key  as it was told when the text was sent */
    async deleteCorpus(id, key) {
      await ask(`/api/corpora/${encodeURIComponent(id)}`, { method: "DELETE", headers: { "Corpus-Key": key } });
    },
  };
}

// Requests about collections: ordered lists of links that the holder of a key can change.

/** @typedef {{link: string, title: string, note: string}} Item */
/** @typedef {{title: string, note: string, items: Item[]}} Document */
/** @typedef {Document & {id: string, url: string, version: number, created: string, changed: string}} Collection */
/** @typedef {{id: string, url: string, edit_url: string, edit_key: string, expires: string | null}} CreatedCollection */
/**
 * What a link of this server shows.
 * @typedef {{link: string, kind: "workspace" | "lab" | "share" | "lesson" | "figure", title: string, says: string, page: string, query: string, options: Record<string, string>, share: string, gone: boolean, fits: boolean, picture: boolean, questions: import("../../ask/question.js").Question[]}} Shown
 */

const collectionPath = (/** @type {string} */ id) => `/api/collections/${encodeURIComponent(id)}`;
/** The ETag of a version; 0: of any. @param {number} version */
const tag = (version) => (version ? `"${version}"` : "*");

/** @param {import("./connection.js").Connection} connection */
export function collections({ ask, read, send }) {
  return {
    /** @param {Document} document @returns {Promise<CreatedCollection>} */
    createCollection: async (document) => json(await send("/api/collections", document, "application/json")),

    /** @param {string} id @returns {Promise<Collection>} */
    readCollection: (id) => read(collectionPath(id)),

    /**
     * @param {string} id
     * @param {Document} document
     * @param {string} key  the edit key
     * @param {number} version  that is replaced; 0: any. Another one is a Problem `collection-changed`.
     * @returns {Promise<Collection>}
     */
    async changeCollection(id, { title, note, items }, key, version) {
      const headers = { "Edit-Key": encodeURIComponent(key), "If-Match": tag(version) };
      return json(await send(collectionPath(id), { title, note, items }, "application/json", undefined, { method: "PUT", headers }));
    },

    /** @param {string} id @param {string} key */
    async deleteCollection(id, key) {
      await ask(collectionPath(id), { method: "DELETE", headers: { "Edit-Key": encodeURIComponent(key) } });
    },

    /** @param {string} link  of this server @param {string} lang @returns {Promise<Shown>} */
    async link(link, lang) {
      if (!link.trim()) throw new Problem("not-a-link", { field: "link" });
      return read(`/api/links?${new URLSearchParams({ link: link.trim(), lang })}`);
    },
  };
}

/** The address of a picture of what a link shows. @param {string} link @param {string} lang */
export const pictureOf = (link, lang) => `/api/links/picture?${new URLSearchParams({ link, lang })}`;

// Requests about assignments: questions with a link, answered in one's own time.

/** @typedef {{kind: string, link: string, words?: string, share?: string, page?: string, value?: number}} Asked  a question of the page */
/** @typedef {{right?: string[], numbers?: number[], within?: number}} Truth */
/** @typedef {{entry: Entry, ask: Asked}} Assigned  a question as students get it */
/** @typedef {{title: string, note: string, questions: (Assigned & {truth: Truth})[], reveal: "each" | "end", nicknames: boolean}} NewAssignment */
/** @typedef {{id: string, url: string, title: string, note: string, created: string, questions: Assigned[], reveal: "each" | "end", nicknames: boolean}} Assignment */
/** @typedef {{id: string, url: string, key: string, owner_url: string, expires: string}} MadeAssignment */
/** @typedef {{members: number, results: Results[]}} Summary  results: one per question */
/** @typedef {{member: string, nickname?: string, answers: (string[] | null)[]}} Submission */

const assignmentPath = (/** @type {string} */ id) => `/api/assignments/${encodeURIComponent(id)}`;
const bearer = (/** @type {string} */ token) => ({ headers: { Authorization: `Bearer ${encodeURIComponent(token)}` } });

/** @param {import("./connection.js").Connection} connection */
export function assignments({ ask, read, send }) {
  return {
    /** @param {NewAssignment} wanted @returns {Promise<MadeAssignment>} */
    createAssignment: async (wanted) => json(await send("/api/assignments", wanted, JSON_TYPE)),

    /** Read the questions, with the numbers that are revealed to the owner of a token. @param {string} id @param {string} [token]  the key, or that of a student @returns {Promise<Assignment>} */
    readAssignment: async (id, token) => (token ? json(await ask(assignmentPath(id), bearer(token))) : read(assignmentPath(id))),

    /** Send a student's answers, instead of those sent before. @param {string} id @param {Submission} submission */
    submitAnswers: async (id, submission) => void (await send(`${assignmentPath(id)}/answers`, submission, JSON_TYPE)),

    /** @param {string} id @param {string} key @returns {Promise<Summary>} */
    sumUpAnswers: async (id, key) => json(await ask(`${assignmentPath(id)}/answers`, bearer(key))),

    /** Answers as CSV: all of them, or a student's own. @param {string} id @param {string} token  the key, or that of a student */
    assignmentTable: async (id, token) => (await ask(`${assignmentPath(id)}/answers.csv`, bearer(token))).blob().catch(cut),

    /** @param {string} id @param {string} key */
    deleteAssignment: async (id, key) => void (await ask(assignmentPath(id), { method: "DELETE", ...bearer(key) })),
  };
}
