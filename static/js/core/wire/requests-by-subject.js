/** Requests about rooms, training runs, heads over many sentences, collections, studies and assignments. */

import { completed } from "./model-description.js";
import { Problem, connectionProblem, json, tensors } from "./reply.js";

/**
 * @import {
 *   AnswerRequest, AnsweredReply, AnswersReply, AnswersSummary, AssignmentCreated, AssignmentReply, AssignmentRequest,
 *   CheckReply, CheckRequest, ClassReply, CollectionCreated, CollectionReply, CorpusCreated, CorpusReply, CorpusRequest,
 *   FoundRowsReply, GalleryReply, HeadExamplesReply, KeptReply, LinkReply, MembersReply, QuestionReply, QuestionRequest,
 *   RecordReply, RemovalReply, RoomCreated, RoomPatch, RoomRecord, RoomReply, RunCreated, RunReply, RunsReply, SeatReply,
 *   StageRequest, ParticipantReply, StudyAnswers, StudyReply, StudyRequest, StudyResults, SubmissionRequest,
 *   SurveyReply, TryReply, TryRequest, WallReply, WorkCreated, WorkRequest,
 * } from "./schemas.d.ts"
 */
/** @import { ModelInfo } from "./model-description.js" */

/** @typedef {import("../store/store.js").Highlight & {figure?: string}} Pointer  what the presenter points at; figure: where, on a page with several */
/** @typedef {Omit<RoomReply, "pointer"> & {pointer: Pointer | null}} RoomState */
/** @typedef {QuestionReply["entry"]} Entry  how a question is answered */
/** @typedef {QuestionReply["stage"]} Stage */
/** @typedef {RoomCreated & {driver?: boolean}} RoomAccess  driver: the key can only present */
/** @typedef {{member: string | null, exploring: boolean}} Reader  member: null for a screen */

const JSON_TYPE = "application/json";

/** @param {import("./connection.js").Connection} connection */
export function rooms({ ask, read, send, events }) {
  const roomPath = (/** @type {string} */ code) => `/api/rooms/${encodeURIComponent(code)}`;
  const bearer = (/** @type {string} */ key) => ({ Authorization: `Bearer ${key}` });
  const askWithKey = async (/** @type {RoomCreated} */ { code, key }, /** @type {string} */ part, method = "GET") =>
    ask(`${roomPath(code)}${part}`, { method, headers: bearer(key) });
  return {
    /** @param {string} link @returns {Promise<RoomCreated>} */
    openRoom: async (link) => json(await send("/api/rooms", { state: { link } }, JSON_TYPE)),

    /** @param {RoomCreated} room @param {{link: string, pointer: Pointer | null}} state @param {AbortSignal} [signal] @returns {Promise<RoomState>} */
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

    /** @param {RoomCreated} room @returns {Promise<ClassReply>} */
    classCounts: async (room) => json(await askWithKey(room, "/class")),

    /** How many have answered in the present vote. @param {string} code @returns {Promise<AnsweredReply>} */
    answeredCount: (code) => read(`${roomPath(code)}/answered`),

    /** The questions that were asked, as a QTI package. @param {RoomCreated} room @param {string} lang */
    roomQuestions: async (room, lang) => (await askWithKey(room, `/questions.zip?lang=${lang}`)).blob().catch(connectionProblem),

    /** Every link that was presented, in order. @param {RoomCreated} room @returns {Promise<RecordReply>} */
    roomRecord: async (room) => json(await askWithKey(room, "/record")),

    /** @param {RoomCreated} room @returns {Promise<SeatReply>} */
    handOver: async (room) => json(await askWithKey(room, "/driver", "POST")),

    /** @param {RoomCreated} room */
    takeBack: async (room) => void (await askWithKey(room, "/driver", "DELETE")),

    /** Ask the room. @param {RoomCreated} room @param {QuestionRequest} question @returns {Promise<RoomState>} */
    askRoom: async ({ code, key }, question) =>
      json(await send(`${roomPath(code)}/question`, question, JSON_TYPE, undefined, { method: "PUT", headers: bearer(key) })),

    /** Go on to a stage. @param {RoomCreated} room @param {StageRequest} next @returns {Promise<RoomState>} */
    goOn: async ({ code, key }, next) =>
      json(await send(`${roomPath(code)}/question`, next, JSON_TYPE, undefined, { method: "PATCH", headers: bearer(key) })),

    /** Set the timer of the question; 0: none. @param {RoomCreated} room @param {number} seconds @returns {Promise<RoomState>} */
    setTimer: async ({ code, key }, seconds) => json(await send(`${roomPath(code)}/question/timer`, { seconds }, JSON_TYPE, undefined, { method: "PUT", headers: bearer(key) })),

    /** @param {RoomCreated} room */
    endQuestion: async (room) => void (await askWithKey(room, "/question", "DELETE")),

    /** @param {string} code @param {AnswerRequest} answer */
    answerRoom: async (code, answer) => void (await send(`${roomPath(code)}/answers`, answer, JSON_TYPE)),

    /** Hand in a work, which is checked on a run. @param {string} code @param {TryRequest} work @returns {Promise<TryReply>} */
    handIn: async (code, work) => json(await send(`${roomPath(code)}/tries`, work, JSON_TYPE)),

    /** The works that the class sees. @param {string} code @param {string | null} member  null: a screen @returns {Promise<GalleryReply>} */
    readGallery: (code, member) => read(`${roomPath(code)}/gallery${member ? `?${new URLSearchParams({ member })}` : ""}`),

    /** The answers to the present question. @param {RoomCreated} room @returns {Promise<AnswersReply>} */
    readAnswers: async (room) => json(await askWithKey(room, "/answers")),

    /** @param {RoomCreated} room @param {string} id */
    removeAnswer: async (room, id) => void (await askWithKey(room, `/answers/${encodeURIComponent(id)}`, "DELETE")),

    /** All answers as CSV. @param {RoomCreated} room */
    answersTable: async (room) => (await askWithKey(room, "/answers.csv")).blob().catch(connectionProblem),

    /** Everything that was asked, answered and presented. @param {RoomCreated} room @returns {Promise<RoomRecord>} */
    wholeRecord: async (room) => json(await askWithKey(room, "/answers.json")),

    /** Close the room to newcomers, pause exploring, open the wall, or the reverse. @param {RoomCreated} room @param {RoomPatch} changes @returns {Promise<RoomState>} */
    adjustRoom: async ({ code, key }, changes) => json(await send(roomPath(code), changes, JSON_TYPE, undefined, { method: "PATCH", headers: bearer(key) })),

    /** Send what a member explores. @param {string} code @param {WorkRequest} work @returns {Promise<WorkCreated>} */
    sendWork: async (code, work) => json(await send(`${roomPath(code)}/work`, work, JSON_TYPE, undefined, { method: "PUT" })),

    /** What the members explore. @param {RoomCreated} room @returns {Promise<WallReply>} */
    readWorks: async (room) => json(await askWithKey(room, "/work")),

    /** @param {RoomCreated} room @returns {Promise<MembersReply>} */
    listMembers: async (room) => json(await askWithKey(room, "/members")),

    /** Close the room and remove members. @param {RoomCreated} room @param {string[]} members  their ids @returns {Promise<RemovalReply>} */
    removeMembers: async ({ code, key }, members) => json(await send(`${roomPath(code)}/removals`, { members }, JSON_TYPE, undefined, { headers: bearer(key) })),

    /** @param {RoomCreated} room */
    endRoom: async (room) => void (await askWithKey(room, "", "DELETE")),
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
/** @typedef {RunReply["state"]} RunState */
/** @typedef {Omit<RunReply, "model" | "options"> & {model: ModelInfo | null, options: Options}} RunInfo */

/** @param {import("./connection.js").Connection} connection */
export function trainingRuns({ ask, read, send, follow }) {
  const runPath = (/** @type {string} */ id) => `/api/runs/${encodeURIComponent(id)}`;
  return {
    /** @returns {Promise<RunsReply>} */
    offeredRuns: () => read("/api/runs"),

    /** @param {Options} options @returns {Promise<RunCreated>} */
    startRun: async (options) => json(await send("/api/runs", options, JSON_TYPE)),

    /** @param {string} id @returns {Promise<RunInfo>} */
    async readRun(id) {
      const run = await read(runPath(id));
      return { ...run, model: run.model && completed(run.model) };
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

    /** @param {string} id @param {{step: number, options: Options}} from @returns {Promise<RunCreated>} */
    forkRun: async (id, from) => json(await send(`${runPath(id)}/fork`, from, JSON_TYPE)),

    /** @param {string} id @param {string} key @param {{step: number, name?: string}} choice @returns {Promise<KeptReply>} */
    keepRun: async (id, key, choice) =>
      json(await send(`${runPath(id)}/keep`, choice, JSON_TYPE, undefined, { headers: { "Run-Key": key } })),

    /** @param {string} id @param {string} key  as it was told when the model was kept */
    async deleteModel(id, key) {
      await ask(`/api/models/${encodeURIComponent(id)}`, { method: "DELETE", headers: { "Model-Key": key } });
    },
  };
}

// What heads do over many sentences.

/** @typedef {{model: string, place: string, head: number, corpus?: string}} HeadAt  corpus: a reader's text in place of the model's own sentences */

/** @param {HeadAt} headPlace */
const surveyPath = ({ model, place, head }) => `${of(model)}/${place}/${head}`;

/** @param {HeadAt} headPlace @returns {Record<string, string>} */
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
     * @returns {Promise<SurveyReply>}
     */
    headSurvey: (model, corpus, signal) => read(`${of(model)}${corpus && `?${new URLSearchParams({ corpus })}`}`, signal),

    /**
     * Sentences at each tenth of a ranking.
     * @param {HeadAt} headPlace
     * @param {string} by
     * @param {AbortSignal} [signal]
     * @returns {Promise<HeadExamplesReply>}
     */
    headExamples: (headPlace, by, signal) => read(`${surveyPath(headPlace)}/examples?${new URLSearchParams({ by, ...over(headPlace) })}`, signal),

    /**
     * Rows of a head that match.
     * @param {HeadAt} headPlace
     * @param {Record<string, string>} criteria
     * @param {AbortSignal} [signal]
     * @returns {Promise<FoundRowsReply>}
     */
    headRows: (headPlace, criteria, signal) => read(`${surveyPath(headPlace)}/rows?${new URLSearchParams({ ...criteria, ...over(headPlace) })}`, signal),

    /**
     * Index a text of the reader's.
     * @param {CorpusRequest} text
     * @returns {Promise<CorpusCreated>}  key: what deletes it
     */
    sendCorpus: async (text) => json(await send("/api/corpora", text, "application/json")),

    /** @param {string} id @returns {Promise<CorpusReply>} */
    corpus: (id) => read(`/api/corpora/${encodeURIComponent(id)}`),

    /** @param {string} id @param {string} key  as it was told when the text was sent */
    async deleteCorpus(id, key) {
      await ask(`/api/corpora/${encodeURIComponent(id)}`, { method: "DELETE", headers: { "Corpus-Key": key } });
    },
  };
}

// Requests about collections: ordered lists of links that the holder of a key can change.

/** @typedef {Pick<CollectionReply, "title" | "note" | "items">} Document */

const collectionPath = (/** @type {string} */ id) => `/api/collections/${encodeURIComponent(id)}`;
/** The ETag of a version; 0: of any. @param {number} version */
const tag = (version) => (version ? `"${version}"` : "*");

/** @param {import("./connection.js").Connection} connection */
export function collections({ ask, read, send }) {
  return {
    /** @param {Document} document @returns {Promise<CollectionCreated>} */
    createCollection: async (document) => json(await send("/api/collections", document, "application/json")),

    /** @param {string} id @param {string} [key]  the edit key, for what only the owner gets @returns {Promise<CollectionReply>} */
    readCollection: async (id, key) => (key ? json(await ask(collectionPath(id), { headers: { "Edit-Key": encodeURIComponent(key) } })) : read(collectionPath(id))),

    /** The prepared questions, as a QTI package. @param {string} id @param {string} key @param {string} lang */
    collectionQuestions: async (id, key, lang) => (await ask(`${collectionPath(id)}/questions.zip?lang=${lang}`, { headers: { "Edit-Key": encodeURIComponent(key) } })).blob().catch(connectionProblem),

    /**
     * @param {string} id
     * @param {Document} document
     * @param {string} key  the edit key
     * @param {number} version  that is replaced; 0: any. Another one is a Problem `collection-changed`.
     * @returns {Promise<CollectionReply>}
     */
    async changeCollection(id, { title, note, items }, key, version) {
      const headers = { "Edit-Key": encodeURIComponent(key), "If-Match": tag(version) };
      return json(await send(collectionPath(id), { title, note, items }, "application/json", undefined, { method: "PUT", headers }));
    },

    /** @param {string} id  or the name of one on the shelf @param {string} lang @param {string} [key]  for a copy with what only the owner gets @returns {Promise<CollectionCreated>} */
    copyCollection: async (id, lang, key) => json(await send(`${collectionPath(id)}/copies?lang=${lang}`, {}, JSON_TYPE, undefined, key ? { headers: { "Edit-Key": encodeURIComponent(key) } } : {})),

    /** Put it on the shelf for languages; none: take it off. @param {string} id @param {import("./schemas.d.ts").Listing["languages"]} languages @param {string} key */
    async listCollection(id, languages, key) {
      const headers = { "Edit-Key": encodeURIComponent(key) };
      if (languages.length) await send(`${collectionPath(id)}/listing`, { languages }, JSON_TYPE, undefined, { method: "PUT", headers });
      else await ask(`${collectionPath(id)}/listing`, { method: "DELETE", headers });
    },

    /** @param {string} id @param {string} key */
    async deleteCollection(id, key) {
      await ask(collectionPath(id), { method: "DELETE", headers: { "Edit-Key": encodeURIComponent(key) } });
    },

    /** @param {string} link  of this server @param {string} lang @returns {Promise<LinkReply>} */
    async link(link, lang) {
      if (!link.trim()) throw new Problem("not-a-link", { field: "link" });
      return read(`/api/links?${new URLSearchParams({ link: link.trim(), lang })}`);
    },
  };
}

/** The address of a picture of what a link shows. @param {string} link @param {string} lang */
export const pictureOf = (link, lang) => `/api/links/picture?${new URLSearchParams({ link, lang })}`;

// Requests about studies: a test before and after, with participants in random arms.

const studyPath = (/** @type {string} */ id) => `/api/studies/${encodeURIComponent(id)}`;

/** @param {import("./connection.js").Connection} connection */
export function studies({ ask, read, send }) {
  return {
    /** @param {StudyRequest} study @returns {Promise<AssignmentCreated>} */
    createStudy: async (study) => json(await send("/api/studies", study, JSON_TYPE)),

    /** @param {string} id @returns {Promise<StudyReply>} */
    readStudy: async (id) => read(studyPath(id)),

    /** @param {string} id @param {string} member @param {string} lang @returns {Promise<ParticipantReply>} */
    takePart: async (id, member, lang) => json(await send(`${studyPath(id)}/participants?lang=${lang}`, { member }, JSON_TYPE)),

    /** @param {string} id @param {StudyAnswers} answers @param {string} lang @returns {Promise<ParticipantReply>} */
    submitTest: async (id, answers, lang) => json(await send(`${studyPath(id)}/answers?lang=${lang}`, answers, JSON_TYPE)),

    /** @param {string} id @param {string} key @param {string} lang @returns {Promise<StudyResults>} */
    studyResults: async (id, key, lang) => json(await ask(`${studyPath(id)}/results?lang=${lang}`, bearer(key))),

    /** All answers as CSV. @param {string} id @param {string} key @returns {Promise<Blob>} */
    studyTable: async (id, key) => (await ask(`${studyPath(id)}/answers.csv`, bearer(key))).blob().catch(connectionProblem),

    /** @param {string} id @param {string} key */
    deleteStudy: async (id, key) => void (await ask(studyPath(id), { method: "DELETE", ...bearer(key) })),
  };
}

// Requests about assignments: questions with a link, answered in one's own time.

const assignmentPath = (/** @type {string} */ id) => `/api/assignments/${encodeURIComponent(id)}`;
const bearer = (/** @type {string} */ token) => ({ headers: { Authorization: `Bearer ${encodeURIComponent(token)}` } });

/** @param {import("./connection.js").Connection} connection */
export function assignments({ ask, read, send }) {
  return {
    /** @param {AssignmentRequest} assignment @returns {Promise<AssignmentCreated>} */
    createAssignment: async (assignment) => json(await send("/api/assignments", assignment, JSON_TYPE)),

    /** Read the questions, with the numbers that are revealed to the owner of a token. @param {string} id @param {string} [token]  the key, or that of a student @returns {Promise<AssignmentReply>} */
    readAssignment: async (id, token) => (token ? json(await ask(assignmentPath(id), bearer(token))) : read(assignmentPath(id))),

    /** Check on a run whether a work reaches the goal of a question. @param {string} id @param {CheckRequest} work @returns {Promise<CheckReply>} */
    checkWork: async (id, work) => json(await send(`${assignmentPath(id)}/checks`, work, JSON_TYPE)),

    /** Send a student's answers, instead of those sent before. @param {string} id @param {SubmissionRequest} submission */
    submitAnswers: async (id, submission) => void (await send(`${assignmentPath(id)}/answers`, submission, JSON_TYPE)),

    /** @param {string} id @param {string} key @returns {Promise<AnswersSummary>} */
    sumUpAnswers: async (id, key) => json(await ask(`${assignmentPath(id)}/answers`, bearer(key))),

    /** Answers as CSV: all of them, or a student's own. @param {string} id @param {string} token  the key, or that of a student */
    assignmentTable: async (id, token) => (await ask(`${assignmentPath(id)}/answers.csv`, bearer(token))).blob().catch(connectionProblem),

    /** Everything of an assignment, as a file. @param {string} id @param {string} key */
    assignmentRecord: async (id, key) => (await ask(`${assignmentPath(id)}/answers.json`, bearer(key))).blob().catch(connectionProblem),

    /** @param {string} id @param {string} key */
    deleteAssignment: async (id, key) => void (await ask(assignmentPath(id), { method: "DELETE", ...bearer(key) })),
  };
}
