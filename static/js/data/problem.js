/** What could not be had from the server, and why. */

/** @typedef {import("./api.js").Excess} Excess */

/** What could not be had, and why: `kind` is the stable end of the problem document's type. */
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
}

/**
 * What went wrong, where that is something to tell; a mistake of ours goes on as it is.
 * @param {unknown} error
 * @returns {Problem}
 */
export function failure(error) {
  if (error instanceof Problem) return error;
  throw error;
}
