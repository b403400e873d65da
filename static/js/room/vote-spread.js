/**
 * What a teacher decides by while votes come in, as peer instruction does: how the answers are
 * spread, the share that is right, what to do next, and after the second vote the gain.
 */

/** Of the votes: if fewer are right, explain; from here to `GO_ON_ABOVE`, discuss and vote again. */
export const EXPLAIN_BELOW = 0.3;
export const GO_ON_ABOVE = 0.7;

/** @typedef {"explain" | "discuss" | "go-on"} Advice */
/** @typedef {{count: number, right: number | null}} Vote */

/** @param {Vote} vote @returns {number | null}  null: nobody has answered, or nothing is right or wrong */
export const shareRight = ({ count, right }) => (count > 0 && right !== null ? right / count : null);

/** @param {Vote} vote @returns {Advice | null} */
export function advice(vote) {
  const share = shareRight(vote);
  if (share === null) return null;
  return share < EXPLAIN_BELOW ? "explain" : share <= GO_ON_ABOVE ? "discuss" : "go-on";
}

/**
 * Hake's normalised gain: how much of what could still become right did.
 * @param {Vote} first @param {Vote} second
 * @returns {number | null}  null: without two votes, or if everybody was right at first
 */
export function gain(first, second) {
  const [before, after] = [shareRight(first), shareRight(second)];
  return before === null || after === null || before === 1 ? null : (after - before) / (1 - before);
}
