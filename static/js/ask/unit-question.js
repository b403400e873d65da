/** At which token is a hidden unit of a feed-forward network largest? One choice for each token. */

import { quoted } from "../core/draw/token.js";
import { hiddenOf, unitAt } from "../core/store/model-part-names.js";
import { axes, blockAt } from "../core/wire/model.js";
import { plane } from "../core/wire/wire.js";
import { two } from "../lib/numbers.js";

/** @import { Inquiry } from "./question.js" */

/** @param {Inquiry} inquiry */
async function unitsAt({ run, model, state }) {
  const info = await model();
  const [network] = hiddenOf({ model: info, link: state });
  const trace = await run(() => [network.name]);
  const tokens = axes(info, trace, blockAt({ model: info, link: state }).id).rows.map(({ reads, writes }) => reads ?? writes);
  return { tokens, values: unitAt(plane(trace.tensors[network.name]), state.options.unit) };
}

/** @type {import("./question.js").Kind} */
export const largestUnit = {
  name: (t) => t("At which token is this unit largest?"),
  fits: ({ view, options }) => view === "feed-forward" && options.unit !== null,
  entry: () => "choice",
  async words({ t, state }) {
    return [t("At which token is unit {n} largest?", { n: state.options.unit + 1 })];
  },
  async choices(inquiry) {
    return (await unitsAt(inquiry)).tokens.flatMap((label, i) => (label.special ? [] : [{ id: String(i), label: quoted(label) }]));
  },
  async reveal(inquiry) {
    const { tokens, values } = await unitsAt(inquiry);
    const offered = values.map((value, i) => (tokens[i].special ? -Infinity : value));
    const best = offered.indexOf(Math.max(...offered));
    return { right: [String(best)], says: inquiry.phrase(inquiry.t("Unit {n} is largest at {token}: {value}."), { n: String(inquiry.state.options.unit + 1), token: quoted(tokens[best]), value: two(values[best]) }) };
  },
};
