/** Why a request failed. */

/** @import { Excess } from "./connection.js" */

/** Problems that may disappear when the request is repeated. */
const PASSING = new Set([
  ...["offline", "unloaded", "busy", "internal", "garbled", "unexpected"],
  "stopped", "queued",
  ...["storage-busy", "storage-unavailable", "too-many-requests"],
  ...["room-changes", "rooms-full", "too-many-rooms", "too-many-room-tries"],
]);

/**
 * A failed request: `kind` is the last part of the problem document's type. The page adds its own
 * kinds: `stopped` (by the reader), `offline` (no reply, or a truncated one), `garbled` (a reply that cannot be parsed),
 * `unexpected` (a bug in the page), `queued` (a busy server gets the sentence next), `unloaded` (`offline` where nothing was loaded before), `frozen` (not in a share), `not-given` (not among the given
 * numbers).
 */
export class Problem extends Error {
  /**
   * @param {string} kind
   * @param {{detail?: string, field?: string, retryAfter?: number | null, excess?: Excess | null}} [fields]
   */
  constructor(kind, { detail = "", field = "", retryAfter = null, excess = null } = {}) {
    super(detail || kind);
    this.kind = kind;
    this.detail = detail;
    this.field = field;
    this.retryAfter = retryAfter;
    this.excess = excess;
  }

  /** Whether repeating the request may help. */
  get passing() {
    return PASSING.has(this.kind);
  }

  /** The same problem where there is no earlier result. */
  first() {
    return this.kind === "offline" ? new Problem("unloaded") : this;
  }

  /** The same problem when there will be no automatic retry. */
  final() {
    const { kind, detail, field, excess } = this;
    return new Problem(kind, { detail, field, excess });
  }
}

/**
 * Convert an error to a Problem. A bug in the page becomes one too, and is logged.
 * @param {unknown} error
 * @returns {Problem}
 */
export function failure(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem("unexpected", { detail: error instanceof Error ? error.message : String(error) });
}
