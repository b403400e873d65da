/** The sweep in which part after part is taken from the run of another sentence. */

import { four, hundredths } from "../../lib/numbers.js";
import { prose } from "../../lib/i18n.js";
import { el } from "../../lib/render.js";
import { quoted } from "../../core/draw/token.js";
import { counted } from "../../core/wire/reply.js";
import { labels, languages, plain } from "../../core/wire/tokens.js";
import { typed } from "../../core/wire/attentions.js";
import { mostDifferent, reach, recoveredTensors } from "./head-sweep.js";
import { writing } from "./before-after.js";
import { where } from "../../core/store/model-part-names.js";
import { found, pathEndName, same } from "../../core/store/interventions.js";
import { writes } from "./row-picker.js";
import { mixGrid, partsOf, positionGrid, sublayerGrid } from "./sweep-grids.js";
import { along, otherRun } from "./sweep-request.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Runs } from "./before-after.js" */
/** @import { Sweep } from "./head-sweep.js" */
/** @import { Kind } from "./sweep.js" */
/** @import { Section, Cell } from "./sweep-grids.js" */

/** The smallest limit of the colour scale, so that small shares do not look large. */
const FAINT = 0.1;
/** From this share on, a token of the stream carries the difference. */
const HALF = 0.5;
/** Below this share, nothing is said to arrive. */
const LITTLE = 0.01;

/** @param {Context} context @returns {Kind} */
export function patches(context) {
  const { store, t } = context;
  const chosen = () => store.get().link.options;

  /** @param {Runs} runs */
  function sections({ before }) {
    const { model } = store.get();
    if (!model) return [];
    const grids = { heads: mixGrid, sublayers: sublayerGrid, positions: () => positionGrid(model, before, t) };
    return grids[/** @type {keyof typeof grids} */ (partsOf(chosen()))](model, t);
  }

  /** The change that a cell stands for: exactly what the sweep has tried. @param {Cell} cell @param {Sweep | null} sweep @param {Runs} runs */
  function change({ at, head, token }, sweep, { before }) {
    const { model, link } = store.get();
    const text = textOf(model, at);
    const pairs = sweep?.other?.rows[text] ?? [];
    const rows = token === null ? pairs : pairs.filter(([, ours]) => ours === token);
    const { target, ...decode } = /** @type {any} */ (writing(link, before));
    return { at, ...(head === null ? {} : { head }), do: { patch: { ...otherRun(store.get()), ...(target === null ? decode : { target }), rows, ...along(store.get()) } } };
  }

  return {
    whole: false,

    row(sweep, { before }) {
      const { written } = chosen();
      const rows = counted(before.output);
      if (written !== null && rows.includes(written)) return written;
      return sweep && rows.length ? mostDifferent(sweep, rows) : null;
    },

    scene(sweep, row, runs, list) {
      const share = (/** @type {string} */ name) => (row === null ? null : (sweep?.effects[name]?.recovered?.[row] ?? null));
      const done = sweep !== null && sweep.done === sweep.total;
      const there = sections(runs).map((section) => ({
        ...section,
        // A token without a counterpart cannot be patched, and some models lack some of the parts.
        rows: section.rows.map((line) => ({ ...line, cells: line.cells.map((cell) => (cell && done && !sweep.effects[cell.name] ? null : cell)) })),
      }));
      return {
        sections: there,
        value: ({ name }) => share(name),
        sign: 1,
        most: sweep && row !== null ? Math.max(reach(sweep, ({ recovered }) => recovered?.[row] ?? 0), FAINT) : FAINT,
        says: ({ name, says: place }) => {
          const value = share(name);
          if (value === null) return sweep?.effects[name] ? t("{place}: there is no difference to recover", { place }) : t("{place}: not tried yet", { place });
          return t("{place}: {share} of the difference ({number} nats)", { place, share: four(value), number: four(sweep?.effects[name].contrast[row ?? 0] ?? 0) });
        },
        on(cell) {
          const wanted = change(cell, sweep, runs);
          const present = found(list, wanted);
          return present !== null && same(present, wanted);
        },
        label: t("Share of the difference that each part recovers: {what}. Arrow keys move, Enter takes the part from the other sentence.", { what: row === null ? "" : plain(writes(runs.before)[row]) }),
      };
    },

    note: () => {
      const { to } = along(store.get());
      const words = t("The number is the share of the difference between both sentences that this part recovers when it alone is taken from the other one: 0 is none of it, 1 is all of it. The difference is measured in the log-odds of the two words. Orange: towards the other sentence; blue: away from it. Click to take the part from the other sentence; click again to restore.");
      if (!to) return words;
      return prose([words, t("Only the direct path counts: all other parts between are frozen as they were, and only {end} is computed from the change.", { end: pathEndName(to, t, store.get().model) })]);
    },
    change,

    finding(sweep, row, runs) {
      if (row === null) return [];
      const [, lang] = languages(runs.before.direction);
      const [against] = labels([{ ...sweep.against[row], start: 0, end: 0 }], lang);
      const values = { token: quoted(writes(runs.before)[row]), other: quoted(against) };
      if (sweep.other?.contrast[row] === null) return context.say(t("{token} has no counterpart in the other sentence, so there is nothing to compare."), values);
      if (!Object.values(sweep.effects).some(({ recovered }) => (recovered?.[row] ?? null) !== null))
        return context.say(t("Both sentences favour {token} over {other} equally: there is no difference to recover."), values);
      const share = (/** @type {Cell} */ cell) => sweep.effects[cell.name]?.recovered?.[row] ?? -Infinity;
      const { to } = along(store.get());
      if (to) return pathFound(context, sections(runs), share, { ...values, end: el("b", {}, pathEndName(to, t, store.get().model)) });
      const says = { heads: headsFound, sublayers: sublayersFound, positions: positionsFound };
      return says[/** @type {keyof typeof says} */ (partsOf(chosen()))](context, sections(runs), share, values);
    },

    numbers: (sweep) => recoveredTensors(sweep),
  };
}

/** The text whose rows a tensor has. @param {import("../../core/store/store.js").Page["model"]} model @param {string} at */
function textOf(model, at) {
  const [first] = at.split(".");
  if (model?.texts.includes(first)) return first;
  return model?.attentions.find(({ stack }) => stack === first)?.query ?? typed(model);
}

/** @typedef {(context: Context, sections: Section[], share: (cell: Cell) => number, values: Record<string, import("../../lib/render.js").Child>) => import("../../lib/render.js").Child[]} Finding */

/** @param {Section[]} sections */
const cellsOf = (sections) => sections.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells.filter((cell) => cell !== null)));

/** @param {Cell[]} cells @param {(cell: Cell) => number} share */
const largest = (cells, share) => cells.reduce((best, cell) => (share(cell) > share(best) ? cell : best), cells[0]);

/** The attention whose heads together recover most, and the range of each of them. @type {Finding} */
function headsFound({ store, t, say }, sections, share, values) {
  const cells = cellsOf(sections);
  const best = largest(cells.filter(({ head }) => head === null), share);
  const shares = cells.filter(({ at, head }) => at === best.at && head !== null).map(share);
  const rest = cells.filter(({ at, head }) => at !== best.at && head !== null).map(share);
  return say(t("{token} rather than {other}: {place} accounts for {all} % of the difference, its heads {least} to {most} % each, any other head at most {rest} %."), {
    ...values,
    place: el("b", {}, where({ at: best.at.replace(/\.mix$/, ""), do: "" }, t, store.get().model)),
    all: percent(share(best)),
    least: percent(Math.min(...shares)),
    most: percent(Math.max(...shares)),
    rest: percent(Math.max(0, ...rest)),
  });
}

/** @type {Finding} */
function sublayersFound({ t, say }, sections, share, values) {
  const best = largest(cellsOf(sections), share);
  return say(t("{token} rather than {other}: {place} accounts for {all} % of the difference."), { ...values, place: el("b", {}, best.says), all: percent(share(best)) });
}

/** Along one path: the part that carries most to its end. @type {Finding} */
function pathFound({ t, say }, sections, share, values) {
  const best = largest(cellsOf(sections), share);
  if (share(best) < LITTLE) return say(t("{token} rather than {other}: hardly anything acts directly on {end}."), values);
  return say(t("{token} rather than {other}: of what acts directly on {end}, {place} accounts for most: {all} % of the difference."), { ...values, place: el("b", {}, best.says), all: percent(share(best)) });
}

/** Up to where the word that differs carries the difference, and from where the row that writes does. @type {Finding} */
function positionsFound(context, sections, share, values) {
  const last = sections[sections.length - 1];
  const at = (/** @type {Section} */ { rows }, /** @type {number} */ n) => largest(/** @type {Cell[]} */ (rows[n].cells.filter(Boolean)), share);
  const first = at(sections[0], 0);
  const end = at(last, last.rows.length - 1);
  const column = (/** @type {Section} */ { rows }, /** @type {Cell} */ { token }) => rows.map(({ cells }) => cells[token ?? 0]);
  const carrying = (/** @type {Section} */ section, /** @type {Cell} */ cell) => column(section, cell).filter((one) => one && share(one) >= HALF);
  const [until, from] = [carrying(sections[0], first).at(-1), carrying(last, end)[0]];
  if (!until || !from) return sublayersFound(context, sections, share, values);
  const { t, say } = context;
  return say(t("{token} rather than {other}: the difference is at {word} up to {place}, and at {row} from {later} on."), {
    ...values,
    word: el("b", {}, until.stream?.word),
    place: String(until.stream?.stage),
    row: el("b", {}, from.stream?.word),
    later: String(from.stream?.stage),
  });
}

/** @param {number} share */
const percent = (share) => (share < 0 ? `−${hundredths(-share)}` : hundredths(share));
