/** The sweep in which part after part is taken from the run of another sentence. */

import { quoted, token } from "../../core/draw/token.js";
import { bindTyping, contrastMenu } from "../../core/figure/controls.js";
import { otherSentence } from "../../core/store/comparison.js";
import { withSameTarget, pathEndName, isSameChange } from "../../core/store/interventions.js";
import { placeOfChange } from "../../core/store/model-part-names.js";
import { isFixed } from "../../core/store/share-contents.js";
import { typedText } from "../../core/wire/model-description.js";
import { counted } from "../../core/wire/reply.js";
import { bcp47, labels, languages, plainLabel } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { prose } from "../../lib/i18n.js";
import { four, hundredths } from "../../lib/numbers.js";
import { writes, writing } from "./before-after.js";
import { alignedColumns, mostDifferent, largestEffect, recoveredTensors } from "./head-sweep.js";
import { pathTo, mixGrid, otherRun, partsOf, positionGrid, sublayerGrid } from "./sweep-grids.js";

/** @import { Cell, Section } from "./sweep-grids.js" */
/** @import { Context } from "../../core/figure/types.js" */
/** @import { Kind } from "./sweep.js" */
/** @import { Runs } from "./before-after.js" */
/** @import { Sweep } from "./head-sweep.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */

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
  function change({ place, head, token }, sweep, { before }) {
    const { model, link } = store.get();
    const text = textOf(model, place);
    const pairs = sweep?.source?.rows[text] ?? [];
    const rows = token === null ? pairs : pairs.filter(([, ours]) => ours === token);
    const { target, ...decode } = /** @type {any} */ (writing(link, before));
    return { at: place, ...(head === null ? {} : { head }), do: { patch: { ...otherRun(store.get()), ...(target === null ? decode : { target }), rows, ...pathTo(store.get()) } } };
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
      const patchable = sections(runs).map((section) => ({
        ...section,
        // A token without a counterpart cannot be patched, and some models lack some of the parts.
        rows: section.rows.map((line) => ({ ...line, cells: line.cells.map((cell) => (cell && done && !sweep.effects[cell.name] ? null : cell)) })),
      }));
      return {
        sections: patchable,
        value: ({ name }) => share(name),
        sign: 1,
        limit: sweep && row !== null ? Math.max(largestEffect(sweep, ({ recovered }) => recovered?.[row] ?? 0), FAINT) : FAINT,
        describe: ({ name, label: place }) => {
          const value = share(name);
          if (value === null) return sweep?.effects[name] ? t("{place}: there is no difference to recover", { place }) : t("{place}: not tried yet", { place });
          return t("{place}: {share} of the difference ({number} nats)", { place, share: four(value), number: four(sweep?.effects[name].contrast[row ?? 0] ?? 0) });
        },
        on(cell) {
          const patch = change(cell, sweep, runs);
          const present = withSameTarget(list, patch);
          return present !== null && isSameChange(present, patch);
        },
        label: t("Share of the difference that each part recovers: {what}. Arrow keys move, Enter takes the part from the other sentence.", { what: row === null ? "" : plainLabel(writes(runs.before)[row]) }),
      };
    },

    note: () => {
      const { to } = pathTo(store.get());
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
      if (sweep.source?.contrast[row] === null) return context.phrase(t("{token} has no counterpart in the other sentence, so there is nothing to compare."), values);
      if (!Object.values(sweep.effects).some(({ recovered }) => (recovered?.[row] ?? null) !== null))
        return context.phrase(t("Both sentences favour {token} over {other} equally: there is no difference to recover."), values);
      const share = (/** @type {Cell} */ cell) => sweep.effects[cell.name]?.recovered?.[row] ?? -Infinity;
      const { to } = pathTo(store.get());
      if (to) return pathFound(context, sections(runs), share, { ...values, end: el("b", {}, pathEndName(to, t, store.get().model)) });
      const findings = { heads: headsFound, sublayers: sublayersFound, positions: positionsFound };
      return findings[/** @type {keyof typeof findings} */ (partsOf(chosen()))](context, sections(runs), share, values);
    },

    numbers: (sweep) => recoveredTensors(sweep),
  };
}

/** The text whose rows a tensor has. @param {import("../../core/store/store.js").Page["model"]} model @param {string} place */
function textOf(model, place) {
  const [first] = place.split(".");
  if (model?.texts.includes(first)) return first;
  return model?.attentions.find(({ stack }) => stack === first)?.query ?? typedText(model);
}

/** @typedef {(context: Context, sections: Section[], share: (cell: Cell) => number, values: Record<string, import("../../lib/dom.js").Child>) => import("../../lib/dom.js").Child[]} Finding */

/** @param {Section[]} sections */
const cellsOf = (sections) => sections.flatMap(({ rows }) => rows.flatMap(({ cells }) => cells.filter((cell) => cell !== null)));

/** @param {Cell[]} cells @param {(cell: Cell) => number} share */
const largest = (cells, share) => cells.reduce((best, cell) => (share(cell) > share(best) ? cell : best), cells[0]);

/** The attention whose heads together recover most, and the range of each of them. @type {Finding} */
function headsFound({ store, t, phrase }, sections, share, values) {
  const cells = cellsOf(sections);
  const best = largest(cells.filter(({ head }) => head === null), share);
  const shares = cells.filter(({ place, head }) => place === best.place && head !== null).map(share);
  const otherShares = cells.filter(({ place, head }) => place !== best.place && head !== null).map(share);
  return phrase(t("{token} rather than {other}: {place} accounts for {all} % of the difference, its heads {least} to {most} % each, any other head at most {rest} %."), {
    ...values,
    place: el("b", {}, placeOfChange({ at: best.place.replace(/\.mix$/, ""), do: "" }, t, store.get().model)),
    all: percent(share(best)),
    least: percent(Math.min(...shares)),
    most: percent(Math.max(...shares)),
    rest: percent(Math.max(0, ...otherShares)),
  });
}

/** @type {Finding} */
function sublayersFound({ t, phrase }, sections, share, values) {
  const best = largest(cellsOf(sections), share);
  return phrase(t("{token} rather than {other}: {place} accounts for {all} % of the difference."), { ...values, place: el("b", {}, best.label), all: percent(share(best)) });
}

/** Along one path: the part that carries most to its end. @type {Finding} */
function pathFound({ t, phrase }, sections, share, values) {
  const best = largest(cellsOf(sections), share);
  if (share(best) < LITTLE) return phrase(t("{token} rather than {other}: hardly anything acts directly on {end}."), values);
  return phrase(t("{token} rather than {other}: of what acts directly on {end}, {place} accounts for most: {all} % of the difference."), { ...values, place: el("b", {}, best.label), all: percent(share(best)) });
}

/** Up to where the word that differs carries the difference, and from where the row that writes does. @type {Finding} */
function positionsFound(context, sections, share, values) {
  const last = sections[sections.length - 1];
  const bestInRow = (/** @type {Section} */ { rows }, /** @type {number} */ n) => largest(/** @type {Cell[]} */ (rows[n].cells.filter(Boolean)), share);
  const first = bestInRow(sections[0], 0);
  const end = bestInRow(last, last.rows.length - 1);
  const column = (/** @type {Section} */ { rows }, /** @type {Cell} */ { token }) => rows.map(({ cells }) => cells[token ?? 0]);
  const carrying = (/** @type {Section} */ section, /** @type {Cell} */ cell) => column(section, cell).filter((candidate) => candidate && share(candidate) >= HALF);
  const [until, from] = [carrying(sections[0], first).at(-1), carrying(last, end)[0]];
  if (!until || !from) return sublayersFound(context, sections, share, values);
  const { t, phrase } = context;
  return phrase(t("{token} rather than {other}: the difference is at {word} up to {place}, and at {row} from {later} on."), {
    ...values,
    word: el("b", {}, until.stream?.word),
    place: String(until.stream?.stage),
    row: el("b", {}, from.stream?.word),
    later: String(from.stream?.stage),
  });
}

/** @param {number} share */
const percent = (share) => (share < 0 ? `−${hundredths(-share)}` : hundredths(share));

// The other sentence that parts are taken from, its tokens above those that they replace; and the contrast.

/** @param {Context} context */
export function sentencePair(context) {
  const { store, t } = context;
  const box = h("input", { type: "text", autocomplete: "off", spellcheck: false, id: context.uniqueId("patch-sentence") });
  bindTyping(box, { submit: () => store.choose({ b: box.value.trim(), against: null, written: null }, "typed"), submitOn: "leave" });
  const field = h("div", { className: "borrowed patched-from" }, h("label", { htmlFor: box.id }, t("Other sentence")), box);
  const pair = h("div", { className: "scroller", tabIndex: 0, role: "group", "aria-label": t("Tokens of both sentences, aligned") });
  const element = h("div", { className: "sentence-pair", hidden: true }, field, pair);

  return {
    element,

    /** @param {Sweep | null} sweep @param {Trace} run  the original one */
    show(sweep, run) {
      const page = store.get();
      const [lang] = languages(run.direction);
      element.hidden = false;
      if (document.activeElement !== box) box.value = otherSentence(page);
      box.lang = lang || bcp47("en");
      box.disabled = isFixed(page);
      render(pair, sweep?.source ? alignment(t, sweep, run, typedText(page.model)) : []);
    },
  };
}

/** @param {Context["t"]} t @param {Sweep} sweep @param {Trace} run @param {string} text */
function alignment(t, { source }, run, text) {
  const [lang] = languages(run.direction);
  const [theirs, ours] = [source?.tokens[text] ?? [], run.tokens[text] ?? []];
  const [above, below] = [labels(theirs, lang), labels(ours, lang)];
  const columns = alignedColumns(theirs.length, ours.length, source?.rows[text] ?? []);
  const differs = (/** @type {typeof columns[0]} */ { theirs: a, ours: b }) => a === null || b === null || theirs[a].id !== ours[b].id;
  const line = (/** @type {string} */ name, /** @type {"theirs" | "ours"} */ side, /** @type {typeof above} */ names) =>
    el("tr", {}, el("th", { scope: "row" }, name), columns.map((column) => {
      const tokenIndex = column[side];
      return el("td", { className: tokenIndex === null ? "none" : differs(column) ? "differs" : "" }, tokenIndex === null ? el("span", { className: "hidden" }, t("no token")) : token(names[tokenIndex]));
    }));
  return el("table", { className: "aligned-tokens" }, el("tbody", {}, line(t("Other sentence"), "theirs", above), line(t("This sentence"), "ours", below)));
}

/**
 * "Why this word rather than that one", with both to choose.
 * @param {Context} context
 * @param {Sweep} sweep
 * @param {number} row
 * @param {Trace} run
 * @param {HTMLElement} rows  the written tokens, one of which is chosen
 */
export function contrastQuestion({ store, t, phrase }, sweep, row, run, rows) {
  const [, lang] = languages(run.direction);
  const against = sweep.against[row];
  const candidates = sweep.candidates[row];
  const all = candidates.some(({ id }) => id === against.id) ? candidates : [against, ...candidates];
  const tokens = all.map((piece) => ({ value: String(piece.id), piece }));
  const select = contrastMenu(t, lang, { value: String(against.id), tokens, onChoice: (value) => store.choose({ against: Number(value), written: row }, "chosen") });
  return phrase(t("Why {token} rather than {other}?"), { token: rows, other: select });
}
