/** Stream the search: one stream at a time; a newer one cancels the older one. */

import { request } from "../../core/wire/request.js";
import { Problem } from "../../core/wire/problem.js";
import { createAsker } from "../../core/wire/retry.js";
import { continues, decodeOf, shownRun } from "./continued-run.js";
import { keyOf } from "../../core/store/view-requests.js";
import { NOTHING, heard, recorded } from "./decoding-steps.js";
import { wanted } from "./attention-rows.js";

/** @import { Page } from "../../core/store/store.js" */
/** @import { Run } from "./decoding-steps.js" */
/** @typedef {{run: Run, key: string, frozen: boolean, waiting: boolean, problem: Problem | null}} Heard */

/** The number of candidates requested per step: as many as a share's trace has. */
const CANDIDATES = 10;

/**
 * @param {Pick<import("../../core/store/data-sources.js").Source, "lines">} source
 * @param {() => void} changed
 */
export function createFeed(source, changed) {
  const asker = createAsker();
  /** @type {Heard} */
  let state = { run: NOTHING, key: "", frozen: false, waiting: true, problem: null };

  /** @param {Partial<Heard>} patch */
  function set(patch) {
    state = { ...state, ...patch };
    changed();
  }

  /** @param {string} key @param {object} body */
  async function listen(key, body) {
    state = { ...state, key };
    const fails = (/** @type {Problem} */ problem) => set({ waiting: false, problem });
    const end = await asker.ask(async (signal) => {
      let run = NOTHING;
      // Keep the previous steps until new ones arrive.
      state = { ...state, frozen: false, waiting: true, problem: null };
      for await (const line of source.lines("/api/decode", body, signal)) {
        if (signal.aborted) return null;
        run = heard(run, line);
        if (run.steps.length) set({ run });
      }
      if (!run.output) throw new Problem("offline");
      return run;
    }, fails);
    if (end instanceof Problem) fails(end);
    else if (end) set({ waiting: false });
  }

  return {
    get: () => state,
    stop: asker.stop,

    /** Retry after a failure. */
    retry() {
      state = { ...state, key: "", problem: null };
      changed();
    },

    /** Request what the link selects. @param {Page} page */
    follow(page) {
      const { share, live, status } = page;
      if (share && !live) {
        const trace = shownRun(page, wanted(page));
        return void (trace && thaw(page.model, trace));
      }
      // A model of one text takes it under another name.
      const body = page.model && asked(page);
      if (!body || status === "empty" || status === "failed") return;
      const key = keyOf({ trace: body });
      if (key !== state.key) void listen(key, body);
    },
  };

  /** @param {Page["model"]} model @param {import("../../core/wire/wire.js").Trace} trace */
  function thaw(model, trace) {
    if (state.key === trace.id) return;
    const run = recorded(model, trace) ?? NOTHING;
    state = { run, key: trace.id, frozen: true, waiting: false, problem: null };
  }
}

/**
 * The request for the same run as the page's trace; a target becomes a prefix.
 * @param {Page} page
 * @returns {object | null}  null: the tokens of the target are not known yet
 */
function asked(page) {
  const { link, model, trace, status } = page;
  const {
    target,
    pad_to: _,
    select: __,
    ...run
  } = /** @type {Record<string, unknown>} */ (request(model, link, []));
  if (continues(page)) return { ...run, decode: decodeOf(page), candidates: CANDIDATES };
  if (target === undefined) return { ...run, candidates: CANDIDATES };
  if (!trace || status !== "ready") return null;
  const prefix = trace.output.tokens.map(({ id }) => id);
  return { ...run, decode: { method: "greedy", prefix }, candidates: CANDIDATES };
}
