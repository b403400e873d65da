/** Continue a text with the model: one stream at a time; another run cancels it. */

import { Problem } from "../core/wire/problem.js";
import { asked, inForce } from "../core/wire/request.js";
import { createAsker } from "../core/wire/retry.js";

/** @import { Page } from "../core/store/store.js" */
/**
 * @typedef {object} Written
 * @property {unknown} of  the run that it continues
 * @property {string} text  so far
 * @property {number[]} ids  when it has ended
 * @property {boolean} ended
 * @property {Problem | null} problem
 */

/**
 * @param {Pick<import("../core/store/data-sources.js").Source, "lines">} source
 * @param {() => void} changed
 */
export function createContinuation(source, changed) {
  const asker = createAsker();
  /** @type {Written | null} */
  let written = null;

  /** @param {Partial<Written>} patch */
  function set(patch) {
    if (written) written = { ...written, ...patch };
    changed();
  }

  /** @param {Page} page */
  async function start({ model, link, trace }) {
    const { source: text, model: id, chat } = link;
    const body = asked(model, { source: text, model: id, chat, interventions: inForce(link) });
    written = { of: trace?.id, text: "", ids: [], ended: false, problem: null };
    changed();
    const fails = (/** @type {Problem} */ problem) => set({ ended: true, problem });
    const end = await asker.ask(async (signal) => {
      for await (const { step, end } of source.lines("/api/decode", body, signal)) {
        if (signal.aborted) return null;
        if (step) set({ text: grown(step) });
        if (end) set({ text: end.output.text, ids: end.output.tokens.map((/** @type {{id: number}} */ { id }) => id), ended: true });
      }
      return true;
    }, fails);
    if (end instanceof Problem) fails(end);
  }

  return {
    /** What was written for a run; null: nothing. @param {unknown} run */
    of: (run) => (written?.of === run ? written : null),
    start,
    stop() {
      asker.stop();
      set({ ended: true });
    },
    /** Cancel the stream of any other run. @param {unknown} run */
    keep(run) {
      if (written === null || written.of === run) return;
      asker.stop();
      written = null;
    },
  };
}

/** The text after a step: what it read, and the token that it chose. @param {any} step */
const grown = ({ hypotheses: [{ text }], beams: [{ token }] }) => text + (token.special ? "" : token.text);
