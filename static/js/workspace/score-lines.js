/** The calculation of a cell's score, line by line, by the model's scoring. */

import { isDot } from "../core/compute/scoring.js";
import { four, factored } from "../lib/numbers.js";
import { el } from "../lib/render.js";

/** @import { Translate } from "../lib/i18n.js" */
/** @import { Working } from "../core/compute/softmax-row.js" */
/** @import { Scoring } from "../core/compute/scoring.js" */
/** @typedef {{w: ArrayLike<number> | null, b: ArrayLike<number> | null}} Learned  of the head */

/** The number of channels of an additive score that are shown separately. */
const CHANNELS = 2;

/** @param {string} name @param {...import("../lib/render.js").Child} value */
export const line = (name, ...value) => el("div", {}, el("dt", {}, name), el("dd", {}, ...value));

/**
 * @param {Translate} t
 * @param {Scoring} scoring
 * @param {Working} work
 * @param {Learned} learned
 */
export function scoreLines(t, scoring, work, learned) {
  const { scored, score, width } = work;
  const placed = scored.pi !== null;
  const strong = (/** @type {number} */ value) => el("b", {}, four(value));
  const own = isDot(scoring)
    ? dotLines(t, scoring, work, placed)
    : [...channels(t, work, learned), line("w · tanh", t("{sum}, over {count} channels", { sum: four(scored.sum), count: width }))];
  if (!placed) return isDot(scoring) ? own : [...own, line(t("score"), strong(score))];
  const sign = scoring.placed === "relative" ? "+" : "·";
  return [
    ...own,
    line("π", t("{pi}, of this offset", { pi: four(/** @type {number} */ (scored.pi)) })),
    line(t("score"), `${four(scored.plain)} ${sign} ${factored(/** @type {number} */ (scored.pi))} = `, strong(score)),
  ];
}

/** @param {Translate} t @param {Scoring} scoring @param {Working} work @param {boolean} placed */
function dotLines(t, { kind }, { scored, width, score }, placed) {
  const end = placed ? four(scored.plain) : el("b", {}, four(score));
  if (kind === "dot") return placed ? [line("q · k", end)] : [line(t("score"), "q · k = ", end)];
  return [line("q · k", four(scored.sum)), line(placed ? "q · k / √d" : t("score"), `${four(scored.sum)} / √${width} = `, end)];
}

/**
 * The channels that contribute most.
 * @param {Translate} t
 * @param {Working} work
 * @param {Learned} learned
 */
function channels(t, { q, k, scored: { terms } }, { w, b }) {
  if (!w) return [];
  const order = [...terms.keys()].sort((a, c) => Math.abs(terms[c]) - Math.abs(terms[a])).slice(0, CHANNELS);
  return order.map((c) => {
    const sum = [q[c], k[c], ...(b ? [b[c]] : [])].map((value, i) => (i ? factored(value) : four(value))).join(" + ");
    return el(
      "div",
      { className: "long" },
      el("dt", {}, t("channel {n}", { n: c + 1 })),
      el("dd", {}, `${factored(w[c])} · tanh(${sum}) = ${four(terms[c])}`),
    );
  });
}
