/** Requests about collections: ordered lists of links that the holder of a key can change. */

import { Problem } from "./problem.js";
import { json } from "./reply.js";

/** @typedef {{link: string, title: string, note: string}} Item */
/** @typedef {{title: string, note: string, items: Item[]}} Document */
/** @typedef {Document & {id: string, url: string, version: number, created: string, changed: string}} Collection */
/** @typedef {{id: string, url: string, edit_url: string, edit_key: string, expires: string | null}} Created */
/**
 * What a link of this server shows.
 * @typedef {{link: string, kind: "workspace" | "lab" | "share" | "lesson" | "figure", title: string, says: string, page: string, query: string, options: Record<string, string>, share: string, gone: boolean, fits: boolean, picture: boolean, questions: import("../../ask/question.js").Question[]}} Shown
 */

const path = (/** @type {string} */ id) => `/api/collections/${encodeURIComponent(id)}`;
/** The ETag of a version; 0: of any. @param {number} version */
const tag = (version) => (version ? `"${version}"` : "*");

/** @param {import("./connection.js").Connection} connection */
export function collections({ ask, read, send }) {
  return {
    /** @param {Document} document @returns {Promise<Created>} */
    createCollection: async (document) => json(await send("/api/collections", document, "application/json")),

    /** @param {string} id @returns {Promise<Collection>} */
    readCollection: (id) => read(path(id)),

    /**
     * @param {string} id
     * @param {Document} document
     * @param {string} key  the edit key
     * @param {number} version  that is replaced; 0: any. Another one is a Problem `collection-changed`.
     * @returns {Promise<Collection>}
     */
    async changeCollection(id, { title, note, items }, key, version) {
      const headers = { "Edit-Key": encodeURIComponent(key), "If-Match": tag(version) };
      return json(await send(path(id), { title, note, items }, "application/json", undefined, { method: "PUT", headers }));
    },

    /** @param {string} id @param {string} key */
    async deleteCollection(id, key) {
      await ask(path(id), { method: "DELETE", headers: { "Edit-Key": encodeURIComponent(key) } });
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
