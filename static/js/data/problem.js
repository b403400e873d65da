/** What could not be had from the server, and why. */

/** @typedef {import("./connection.js").Excess} Excess */

/** Problems that may be gone when the same is asked again. */
const PASSING = new Set([
  ...["offline", "busy", "internal", "garbled", "unexpected"],
  ...["storage-busy", "storage-unavailable", "too-many-requests"],
]);

/**
 * What could not be had, and why: `kind` is the stable end of the problem document's type. The page
 * adds its own: `offline` (no answer, or half of one), `garbled` (an answer that is not what it
 * claims to be), `unexpected` (a mistake of the page itself), `frozen` (not in a share), `not-given` (not among
 * given numbers).
 */
export class Problem extends Error {
  /**
   * @param {string} kind
   * @param {{detail?: string, field?: string, retryAfter?: number | null, excess?: Excess | null}} [more]
   */
  constructor(kind, { detail = "", field = "", retryAfter = null, excess = null } = {}) {
    super(detail || kind);
    this.kind = kind;
    this.detail = detail;
    this.field = field;
    this.retryAfter = retryAfter;
    this.excess = excess;
  }

  /** Whether asking the same again may help. */
  get passing() {
    return PASSING.has(this.kind);
  }

  /** The same, when it is not asked again by itself. */
  final() {
    const { kind, detail, field, excess } = this;
    return new Problem(kind, { detail, field, excess });
  }
}

/**
 * What went wrong, as something to tell. A mistake of ours is told too, and reported.
 * @param {unknown} error
 * @returns {Problem}
 */
export function failure(error) {
  if (error instanceof Problem) return error;
  console.error(error);
  return new Problem("unexpected", { detail: error instanceof Error ? error.message : String(error) });
}
