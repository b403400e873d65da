/**
 * The sweep in which every head is switched off, made uniform or set to its mean; or every sublayer
 * is switched off, or every pair of heads of an attention.
 */

import { four, two } from "../../lib/numbers.js";
import { el } from "../../lib/dom.js";
import { quoted } from "../../core/draw/token.js";
import { counted, outputKind } from "../../core/wire/reply.js";
import { plainLabel } from "../../core/wire/tokens.js";
import { inNats, key, likelihood, pairKey, sublayerKey, theWhole, whole, writes } from "./before-after.js";
import { sumOver, partTensors, substitutingPairs, strongest, headTensors } from "./head-sweep.js";
import { sublayerName, placeOfChange } from "../../core/store/model-part-names.js";
import { withSameTarget, isSameChange, touchesHead } from "../../core/store/interventions.js";
import { headGrid, pairGrid, partsOf, sublayerGrid, tokenGrid } from "./sweep-grids.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Sweep } from "./head-sweep.js" */
/** @import { Kind } from "./sweep.js" */
/** @import { Cell } from "./sweep-grids.js" */
/** @import { Child } from "../../lib/dom.js" */

/** Below this effect in nats, no head is called necessary: it prints as 0.00. */
const NOTHING = 0.005;
/** The smallest limit of the colour scale, in nats, so that small effects do not look large. */
const FAINT = 0.1;

/** @param {Context} context @returns {Kind} */
export function ablations(context) {
  const { store, t } = context;
  const chosen = () => store.get().link.options;
  const parts = () => partsOf(chosen());
  const part = () => /** @type {"heads" | "tokens" | "sublayers" | "pairs"} */ (parts());

  /** @param {import("./before-after.js").Runs} runs */
  function sections({ before }) {
    const { model, link } = store.get();
    if (!model) return [];
    const written = () => counted(before.output).map((index) => ({ index, word: plainLabel(writes(before)[index]) }));
    return { heads: () => headGrid(model, t), tokens: () => tokenGrid(model, link, t, written()), sublayers: () => sublayerGrid(model, t), pairs: () => pairGrid(model, link, t) }[part()]();
  }

  /** The change that a cell stands for. @param {Cell} cell */
  function change({ place, head, heads }) {
    if (heads) return { at: place, heads, do: chosen().ablation };
    return { at: place, ...(head === null ? {} : { head }), do: chosen().ablation };
  }

  return {
    whole: true,

    row: (_, { before }) => (part() !== "tokens" && chosen().written !== null && chosen().written < before.output.tokens.length ? chosen().written : null),

    scene(sweep, row, runs, list) {
      const { before } = runs;
      const { model } = store.get();
      const rows = row === null ? counted(before.output) : [row];
      const kind = outputKind(model);
      const subject = row === null ? whole(t, kind) : plainLabel(writes(before)[row]);
      const grid = sections(runs);
      /** @param {Cell} cell */
      const rowsOfCell = ({ written }) => (written === undefined ? rows : [written]);
      const values = grid.flatMap((section) => section.rows.flatMap(({ cells }) => cells.map((cell) => (cell ? (effectOf(sweep, cell, rowsOfCell(cell)) ?? 0) : 0))));
      const describe = part() === "pairs" ? pairLabel : effectLabel;
      return {
        sections: grid,
        // As everywhere, what helps the translation is orange: a part without which it is less probable.
        value: (cell) => effectOf(sweep, cell, rowsOfCell(cell)),
        sign: -1,
        limit: Math.max(FAINT, ...values.map(Math.abs)),
        describe: (cell) => (effectOf(sweep, cell, rows) === null ? t("{place}: not tried yet", { place: cell.label }) : describe(t, /** @type {Sweep} */ (sweep), cell, rowsOfCell(cell))),
        on(cell) {
          if (cell.head !== null) return touchesHead(list, cell.place, cell.head);
          const present = withSameTarget(list, change(cell));
          return present !== null && isSameChange(present, change(cell));
        },
        label: {
          tokens: t("Effect of each head on each token. Arrow keys move, Enter switches the head."),
          heads: t("Effect of each head on: {what}. Arrow keys move, Enter switches the head.", { what: subject }),
          sublayers: t("Effect of each sublayer on: {what}. Arrow keys move, Enter switches the sublayer.", { what: subject }),
          pairs: t("What each pair of heads costs beyond the sum of both, for: {what}. Arrow keys move, Enter switches both heads.", { what: subject }),
        }[part()],
      };
    },

    note: () => ({ heads: key, tokens: key, sublayers: sublayerKey, pairs: pairKey })[part()](t, outputKind(store.get().model)),
    change,

    /** Describe the part that matters most. */
    finding(sweep, row, runs) {
      const { before } = runs;
      const { model } = store.get();
      const rows = row === null ? counted(before.output) : [row];
      const token = row === null ? theWhole(t, outputKind(model)) : quoted(writes(before)[row]);
      if (part() === "tokens") return tokenFound(context, sweep, sections(runs));
      return part() === "pairs" ? pairFound(context, sweep, rows, token) : partFound(context, sweep, rows, token);
    },

    numbers(sweep) {
      const { model } = store.get();
      if (!model) return {};
      return ["heads", "tokens"].includes(parts()) ? headTensors(sweep, model) : partTensors(sweep);
    },
  };
}

/** What a cell shows: of a pair, what it costs beyond both heads. @param {Sweep | null} sweep @param {Cell} cell @param {number[]} rows */
function effectOf(sweep, { name, effect: effectName = name }, rows) {
  const effect = sweep?.effects[effectName];
  return effect ? sumOver(effect.interaction ?? effect.delta, rows) : null;
}

/** @param {import("../../lib/i18n.js").Translate} t @param {Sweep} sweep @param {Cell} cell @param {number[]} rows */
function effectLabel(t, { effects }, { name, effect = name, label: place }, rows) {
  const delta = sumOver(effects[effect].delta, rows);
  return t("{place}: {likely} ({number} nats), divergence {divergence}", { place, likely: likelihood(t, delta), number: four(delta), divergence: four(sumOver(effects[effect].divergence, rows)) });
}

/** @param {import("../../lib/i18n.js").Translate} t @param {Sweep} sweep @param {Cell} cell @param {number[]} rows */
function pairLabel(t, sweep, cell, rows) {
  const { delta, interaction } = sweep.effects[cell.name];
  if (!interaction) return effectLabel(t, sweep, cell, rows);
  const [total, excess] = [sumOver(delta, rows), sumOver(interaction, rows)];
  return t("{place}: together {likely} ({number} nats); each alone adds up to {sum}, a difference of {more}", {
    place: cell.label, likely: likelihood(t, total), number: four(total), sum: four(total - excess), more: four(excess),
  });
}

/** @param {Context} context @param {Sweep} sweep @param {number[]} rows @param {Child} token @returns {Child[]} */
function partFound({ store, t, phrase }, sweep, rows, token) {
  const { model, link } = store.get();
  const [first] = strongest(sweep, rows, 1);
  const { ablation } = link.options;
  const values = { token, likely: likelihood(t, first.delta), change: inNats(first.delta) };
  if (first.head === null) {
    const place = el("b", {}, sublayerName(model, first.place.replace(/\.output$/, ""), t));
    return phrase(t("{place} matters most: without it, {token} is {likely} ({change} nats)."), { ...values, place });
  }
  if (first.delta > -NOTHING) return phrase(t("Switching off any single head hardly affects {token}."), { token });
  const place = el("b", {}, placeOfChange({ at: first.place, head: first.head, do: "zero" }, t, model));
  if (ablation === "uniform")
    return phrase(t("{place} matters most: with uniform attention, {token} is {likely} ({change} nats)."), { ...values, place });
  if (ablation === "mean")
    return phrase(t("{place} matters most: with its mean output, {token} is {likely} ({change} nats)."), { ...values, place });
  return phrase(t("{place} matters most: without it, {token} is {likely} ({change} nats)."), { ...values, place });
}

/** The head and the token that depends on it most. @param {Context} context @param {Sweep} sweep @param {import("./sweep-grids.js").Section[]} sections @returns {Child[]} */
function tokenFound({ store, t, phrase }, sweep, sections) {
  const cells = sections.flatMap(({ columns, rows }) => rows.flatMap((row) => row.cells.flatMap((cell, n) => (cell ? [{ cell, word: columns[n], delta: effectOf(sweep, cell, [cell.written ?? 0]) ?? 0 }] : []))));
  const first = cells.reduce((best, candidate) => (candidate.delta < best.delta ? candidate : best), cells[0]);
  if (!first || first.delta > -NOTHING) return phrase(t("No token depends on a single one of these heads."));
  const place = el("b", {}, placeOfChange({ at: first.cell.place, head: first.cell.head, do: "zero" }, t, store.get().model));
  return phrase(t("{token} depends most on a single head, {place}: once it is changed, the token is {likely} ({change} nats)."), {
    token: el("b", {}, first.word), place, likely: likelihood(t, first.delta), change: inNats(first.delta),
  });
}

/** The pair in which each head stands in for the other most. @param {Context} context @param {Sweep} sweep @param {number[]} rows @param {Child} token @returns {Child[]} */
function pairFound({ store, t, phrase }, sweep, rows, token) {
  const { model } = store.get();
  const [first] = substitutingPairs(sweep, rows);
  if (!first || first.interaction > -FAINT) return phrase(t("No two of these heads stand in for each other: off together, they cost about the sum of each alone."));
  const { place, heads, delta, interaction } = first;
  return phrase(t("{place} stand in for each other most: together, {token} is {likely} ({change} nats), {more} nats more than each alone adds up to."), {
    place: el("b", {}, placeOfChange({ at: place, heads, do: "zero" }, t, model)),
    token,
    likely: likelihood(t, delta),
    change: inNats(delta),
    more: two(-interaction),
  });
}
