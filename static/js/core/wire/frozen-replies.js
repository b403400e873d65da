/** Reads what a share holds: its run, and the frozen replies to its additional requests. */

import { sharedTrace } from "./long-texts.js";
import { completed } from "./model-description.js";
import { connectionProblem, sound, tensors } from "./reply.js";
import { stateFromBody as stated } from "./request.js";
import { readArrays, readDocument, readSafetensors } from "./safetensors.js";

/** @import { Share } from "./api.js" */

const BINARY = { headers: { Accept: "application/octet-stream" } };

/** @param {Pick<import("./connection.js").Connection, "ask">} connection */
export function sharedData({ ask }) {
  return {
    /** @param {string} id @returns {Promise<Share>} */
    async readShare(id) {
      const response = await ask(`/api/shares/${encodeURIComponent(id)}`, BINARY);
      const file = await response.arrayBuffer().catch(connectionProblem);
      return sound(() => {
        const share = readDocument(file, "share");
        const model = completed(share.model);
        const state = stated(model, share.state);
        return { ...share, model, state, trace: sharedTrace(readSafetensors(file), model, state) };
      });
    },

    /**
     * Weights in 8 bits that a handout has beside the rest of its run.
     * @param {Share} share
     * @param {string} name
     * @returns {Promise<import("./safetensors.js").Tensor>}
     */
    async readRounded({ id, trace: { rounded: about, tensors } }, name) {
      const { error, exact, tensors: entries } = /** @type {import("./safetensors.js").RoundedWeights} */ (about);
      const response = await ask(`/api/shares/${encodeURIComponent(id)}/rounded/${Object.keys(entries).indexOf(name)}`, BINARY);
      const file = await response.arrayBuffer().catch(connectionProblem);
      return sound(() => {
        const { codes, levels, sums = null } = /** @type {Record<string, any>} */ (readArrays(file));
        const exactHead = exact.name === name ? { head: exact.head, values: /** @type {Float32Array} */ (tensors[`${name}:${exact.head}`].data) } : null;
        return { ...entries[name], dtype: "rounded", data: codes, rounded: { levels, sums, error, exact: exactHead } };
      });
    },

    /**
     * The frozen reply to one of a share's additional requests.
     * @param {Share} share
     * @param {number} n  its index
     * @returns {Promise<import("../store/view-requests.js").Answer>}
     */
    async readAnswer({ id, asks }, n) {
      const response = await ask(`/api/shares/${encodeURIComponent(id)}/asks/${n}`, BINARY);
      const file = await tensors(response);
      return "parameters" in asks[n] ? file.tensors : file;
    },
  };
}
