/** Questions about weights: where a row looks, and which head looks at a cell. */

import { attention, axes, extent, place } from "../../data/attentions.js";
import { plane, row } from "../../data/wire.js";
import { quoted, step } from "../../draw/token.js";
import { two } from "../../lib/numbers.js";

/** @typedef {import("./question.js").Kind} Kind */
/** @typedef {import("./question.js").Asked} Asked */

/** Weights that are equal as printed count as equal. */
const ALIKE = 0.005;

/** Where does this word look? One choice for each visible token. @type {Kind} */
export const looks = {
  entry: "choice",
  async choices({ run, model, state }) {
    const trace = await run((known) => [place(known, state, "mask")]);
    const found = await model();
    const open = row(plane(trace.tensors[place(found, state, "mask")]), state.query ?? 0);
    const { cols } = axes(found, trace, state.block);
    return cols.flatMap(({ writes }, i) => (open[i] ? [{ id: String(i), label: quoted(writes) }] : []));
  },
  async reveal({ run, model, state, t, say }) {
    const trace = await run((known) => ["weights", "mask"].map((name) => place(known, state, name)));
    const found = await model();
    const weights = [...row(/** @type {import("../../data/wire.js").Matrix} */ (attention(found, trace, state)), state.query ?? 0)];
    const { rows, cols } = axes(found, trace, state.block);
    const right = largest(weights);
    const best = Number(right[0]);
    const words = { query: step(rows[state.query ?? 0]), key: quoted(cols[best].writes), weight: two(weights[best]) };
    const says = say(t("The head gives {key} the largest weight in the row of {query}: {weight}."), words);
    return { right, shares: byIndex(weights.map((one) => one || 0)), says };
  },
};

/** Which head does this? One choice for each head of the layer. @type {Kind} */
export const head = {
  entry: "choice",
  async choices({ model, state, t }) {
    const { heads } = extent(await model(), state.block);
    return Array.from({ length: heads }, (_, i) => ({ id: String(i), label: t("Head {n}", { n: i + 1 }) }));
  },
  async reveal({ run, model, state, t, say }) {
    const trace = await run((known) => ["weights", "mask"].map((name) => place(known, state, name)));
    const found = await model();
    const { heads } = extent(found, state.block);
    const weights = Array.from({ length: heads }, (_, head) => {
      const matrix = /** @type {import("../../data/wire.js").Matrix} */ (attention(found, trace, { ...state, head }));
      return row(matrix, state.query ?? 0)[state.key ?? 0] || 0;
    });
    const right = largest(weights);
    const { rows, cols } = axes(found, trace, state.block);
    const words = {
      query: step(rows[state.query ?? 0]),
      key: quoted(cols[state.key ?? 0].writes),
      n: Number(right[0]) + 1,
      weight: two(weights[Number(right[0])]),
    };
    return { right, shares: byIndex(weights), says: say(t("From {query} to {key}, head {n} gives the most: {weight}."), words) };
  },
};

/** @param {number[]} weights @returns {string[]}  where the largest are, the first one first */
function largest(weights) {
  const most = Math.max(...weights.filter((one) => !Number.isNaN(one)));
  const first = weights.indexOf(most);
  const others = weights.flatMap((one, i) => (i !== first && one > most - ALIKE ? [i] : []));
  return [first, ...others].map(String);
}

/** @param {number[]} weights @returns {Record<string, number>} */
const byIndex = (weights) => Object.fromEntries(weights.map((one, i) => [String(i), one]));
