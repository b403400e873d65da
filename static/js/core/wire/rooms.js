/** Requests about rooms. */

import { cut, json } from "./reply.js";

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
  const path = (/** @type {string} */ code) => `/api/rooms/${encodeURIComponent(code)}`;
  const bearer = (/** @type {string} */ key) => ({ Authorization: `Bearer ${key}` });
  const own = async (/** @type {OpenRoom} */ { code, key }, /** @type {string} */ part, method = "GET") =>
    ask(`${path(code)}${part}`, { method, headers: bearer(key) });
  return {
    /** @param {string} link @returns {Promise<OpenRoom>} */
    openRoom: async (link) => json(await send("/api/rooms", { state: { link } }, JSON_TYPE)),

    /** @param {OpenRoom} room @param {{link: string, pointer: Pointer | null}} state @param {AbortSignal} [signal] @returns {Promise<RoomState>} */
    present: async ({ code, key }, state, signal) =>
      json(await send(`${path(code)}/state`, state, JSON_TYPE, signal, { method: "PUT", headers: bearer(key) })),

    /**
     * @param {string} code
     * @param {Reader} [reader]
     * @param {{since?: number, signal?: AbortSignal}} [wait]  since: wait for a state after this number
     * @returns {Promise<RoomState>}
     */
    roomState: (code, reader, { since, signal } = {}) => read(`${path(code)}/state?${queryOf(reader, since)}`, signal),

    /**
     * The present state, then the newest after each change; null for a sign of life.
     * @param {string} code @param {Reader} reader @param {AbortSignal} signal
     * @returns {AsyncGenerator<RoomState | null, void, void>}
     */
    roomEvents: (code, reader, signal) => events(`${path(code)}/events?${queryOf(reader)}`, signal),

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
      json(await send(`${path(code)}/question`, question, JSON_TYPE, undefined, { method: "PUT", headers: bearer(key) })),

    /** Go on to a stage. @param {OpenRoom} room @param {{stage: Stage, truth?: object}} next @returns {Promise<RoomState>} */
    goOn: async ({ code, key }, next) =>
      json(await send(`${path(code)}/question`, next, JSON_TYPE, undefined, { method: "PATCH", headers: bearer(key) })),

    /** @param {OpenRoom} room */
    endQuestion: async (room) => void (await own(room, "/question", "DELETE")),

    /** @param {string} code @param {{member: string, n: number, answer: string[], nickname?: string}} given */
    answerRoom: async (code, given) => void (await send(`${path(code)}/answers`, given, JSON_TYPE)),

    /** The answers to the present question. @param {OpenRoom} room @returns {Promise<{n: number, answers: GivenAnswer[]}>} */
    readAnswers: async (room) => json(await own(room, "/answers")),

    /** @param {OpenRoom} room @param {string} id */
    removeAnswer: async (room, id) => void (await own(room, `/answers/${encodeURIComponent(id)}`, "DELETE")),

    /** All answers as CSV. @param {OpenRoom} room */
    answersTable: async (room) => (await own(room, "/answers.csv")).blob().catch(cut),

    /** Close the room to newcomers, or open it again. @param {OpenRoom} room @param {boolean} closed @returns {Promise<RoomState>} */
    closeRoom: async ({ code, key }, closed) => json(await send(path(code), { closed }, JSON_TYPE, undefined, { method: "PATCH", headers: bearer(key) })),

    /** @param {OpenRoom} room @returns {Promise<Members>} */
    listMembers: async (room) => json(await own(room, "/members")),

    /** Close the room and remove members. @param {OpenRoom} room @param {string[]} members  their ids @returns {Promise<{removed: number}>} */
    removeMembers: async ({ code, key }, members) => json(await send(`${path(code)}/removals`, { members }, JSON_TYPE, undefined, { headers: bearer(key) })),

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
