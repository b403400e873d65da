/**
 * How the model knows where a token is: the encoding as waves, the similarity of positions, moving
 * as a rotation, attention without positions, and what a position is added to.
 */

import { Problem } from "../../core/wire/reply.js";
import { h, render } from "../../lib/dom.js";
import { choiceOption, listOption, integerOption } from "../../core/store/link-options.js";
import { modelOfLink } from "../../core/store/link.js";
import { controls } from "../../core/figure/controls.js";
import { wording } from "../../core/figure/problem-wording.js";
import { createLikeness, createWaves } from "./encoding-panels.js";
import * as shuffled from "./reordering.js";
import * as relative from "./offsets.js";
import * as vectors from "./token-vectors.js";
import { kindOf, positionSentence } from "../../core/compute/positions.js";
import { numbers, questions, size, table } from "./encodings.js";
import { createTurn } from "./rotation.js";

/** @import { View, Context } from "../../core/figure/types.js" */

/**
 * @typedef {object} Part  one of the pictures
 * @property {HTMLElement} element
 * @property {(found: any) => void} draw
 * @property {() => void} light
 * @property {() => void} destroy
 * @property {() => import("../../core/figure/types.js").Picture | null} picture
 * @property {() => import("../../lib/dom.js").Child[]} [finding]  the summary sentence; absent
 *   or empty: where the positions act
 * @property {() => import("../../core/compute/computed-tensors.js").ComputedTensors | null} [numbers]  absent: those
 *   of the table
 */

/**
 * Parts that show attention of a run, not only a table.
 * @type {Record<string, Pick<typeof shuffled, "needs" | "questions">>}
 */
const RUNS = { shuffle: shuffled, offsets: relative, tokens: vectors };

/** Larger than any table; the server sets the limit. */
const MOST = 9_999_999;

/** @type {View} */
export const positions = {
  id: "positions",
  name: (t) => t("Positions"),
  about: (t) =>
    t(
      "Attention by itself does not know the order of words. Positions provide it: as a pattern of waves or a learned " +
      "row added to each token, as a rotation of q and k, or as a number for the distance of two tokens. " +
      "Shuffle the words to see what is lost without positions.",
    ),
  capabilities: ["positions"],
  frame: { rail: "none", inspector: false, caption: false, legend: "signed", tells: true },
  options: {
    part: choiceOption("waves", "likeness", "turn", "offsets", "shuffle", "tokens"),
    length: integerOption(0, MOST),
    width: integerOption(0, MOST),
    dims: listOption(),
    measure: choiceOption("cosine", "dot"),
    at: integerOption(0, MOST, 2),
    by: integerOption(0, MOST, 1),
    channels: integerOption(0, MOST, 0),
    seed: integerOption(0, 9999, 1),
  },
  settle: (page) => {
    const { link } = page;
    const part = partOf(page);
    return !modelOfLink(page) || part === link.options.part ? link : { ...link, options: { ...link.options, part } };
  },
  needs: (page) => RUNS[partOf(page)]?.needs(page) ?? [],
  asks: (page) => RUNS[partOf(page)]?.questions(page) ?? questions(page),
  lights: ({ model }) => {
    const { site } = kindOf(model);
    return site === "input" ? [{ part: "embedding" }] : site === "layer" ? [{ part: "residual" }] : [];
  },
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const parts = controls(context, [
    {
      option: "part",
      label: t("Look at"),
      values: () => named(context),
    },
  ]);
  const measure = controls(context, [
    { option: "measure", label: t("Measure"), values: { cosine: t("cosine"), dot: t("dot product") } },
  ]);
  const fields = [
    field(context, "length", t("Length"), () => size(store.get())?.length),
    field(context, "width", t("Width"), () => size(store.get())?.d_model),
  ];
  const bad = h("p", { className: "bad", role: "alert", hidden: true });
  const sizes = h("div", { className: "options" }, ...fields.map((sizeField) => sizeField.element), measure);
  const bar = h("div", { className: "options" }, parts, sizes);
  const place = h("div", { className: "part" });
  const locationNote = h("p", { className: "note where-positions" });
  const { line: finding, inner } = context.finding();
  root.append(h("div", { className: "positions" }, inner, locationNote, bar, bad, place));
  /** @type {Part | null} */
  let part = null;
  let shownPart = "";

  function draw() {
    const page = store.get();
    const selected = partOf(page);
    const { base } = kindOf(page.model);
    parts.refresh();
    measure.refresh();
    fields.forEach((sizeField) => sizeField.draw());
    measure.hidden = selected !== "likeness";
    fields.forEach((sizeField, i) => (sizeField.element.hidden = base === "rotary" || (base === "learned" && i === 1)));
    sizes.hidden = selected in RUNS;
    if (!part || shownPart !== selected) {
      part?.destroy();
      shownPart = selected;
      part = /** @type {Part} */ (make(shownPart)(context));
      place.replaceChildren(part.element);
    }
    const tabled = !(shownPart in RUNS);
    const encodingTable = tabled ? table(page) : undefined;
    bad.hidden = !(encodingTable instanceof Problem);
    place.hidden = encodingTable instanceof Problem;
    if (encodingTable instanceof Problem) bad.textContent = limit(context, encodingTable);
    else if (encodingTable || !tabled) part.draw(encodingTable);
    tell();
  }

  /**
   * Show the part's finding and where the positions act; the latter is the caption of parts without
   * a finding.
   */
  function tell() {
    const sentence = part?.finding?.() ?? [];
    const acts = positionSentence(t, kindOf(store.get().model));
    render(finding, sentence.length ? sentence : acts);
    locationNote.textContent = sentence.length ? acts : "";
    locationNote.hidden = !sentence.length;
  }

  return {
    draw,
    light: () => (part?.light(), tell()),
    destroy: () => (part?.destroy(), root.replaceChildren()),
    picture: () => part?.picture() ?? null,
    numbers() {
      if (shownPart in RUNS) return part?.numbers?.() ?? null;
      const encodingTable = table(store.get());
      return encodingTable && !(encodingTable instanceof Problem) ? numbers(store.get(), encodingTable) : null;
    },
  };
}

/** The parts for each kind of positions, the default first. @type {Record<string, string[]>} */
const PARTS = {
  sinusoidal: ["waves", "likeness", "turn", "shuffle", "tokens"],
  learned: ["waves", "likeness", "shuffle", "tokens"],
  rotary: ["waves", "shuffle", "tokens"],
  relative: ["offsets", "shuffle", "tokens"],
  none: ["shuffle", "tokens"],
};

/**
 * The current part: that of the link, or the first one for these positions.
 * @param {import("../../core/store/store.js").Page} page
 * @returns {string}
 */
function partOf({ model, link }) {
  const parts = PARTS[kindOf(model).base];
  return parts.includes(link.options.part) ? link.options.part : parts[0];
}

/** @param {Context} context @returns {Record<string, string>} */
function named({ store, t }) {
  const { base } = kindOf(store.get().model);
  /** @type {Record<string, string>} */
  const names = {
    waves: base === "learned" ? t("table") : base === "rotary" ? t("angles") : t("waves"),
    likeness: t("similarity"),
    turn: t("rotation"),
    offsets: t("offsets"),
    shuffle: t("shuffled words"),
    tokens: t("tokens and vectors"),
  };
  return Object.fromEntries(PARTS[base].map((part) => [part, names[part]]));
}

/** @param {string} part */
const make = (part) =>
  ({ waves: createWaves, likeness: createLikeness, turn: createTurn, offsets: relative.createOffsets, shuffle: shuffled.createShuffle, tokens: vectors.createTokenVectors })[part] ??
  createWaves;

/**
 * A field for a size of the table; if empty, the sentence's or the model's size.
 * @param {Context} context
 * @param {"length" | "width"} option
 * @param {string} label
 * @param {() => number | undefined} present
 */
function field({ store, t }, option, label, present) {
  const input = h("input", { type: "number", min: "1", step: "1", inputMode: "numeric" });
  const reset = h("button", { type: "button", className: "button quiet" }, t("reset"));
  reset.title = option === "length" ? t("as long as the sentence") : t("as wide as the model");
  input.addEventListener("change", () => {
    const value = input.value.trim() === "" ? null : Number(input.value);
    const right = value === null || (Number.isInteger(value) && value >= 0 && value <= MOST);
    if (right) store.choose({ [option]: value });
    else input.value = String(present() ?? "");
  });
  reset.addEventListener("click", () => store.choose({ [option]: null }));
  return {
    element: h("div", { className: "option" }, h("label", {}, label, " ", input), reset),
    draw() {
      if (document.activeElement !== input) input.value = String(present() ?? "");
      reset.hidden = store.get().link.options[option] === null;
    },
  };
}

/**
 * The server's limit for a size, in the reader's language.
 * @param {Context} context
 * @param {Problem} problem
 */
function limit({ t }, problem) {
  const range = /from (\d+) to (\d+)/.exec(problem.detail);
  if (problem.kind !== "out-of-range" || !range) return wording(t, problem);
  const values = { low: range[1], high: range[2] };
  return problem.field === "d_model"
    ? t("The width must be from {low} to {high}.", values)
    : t("The length must be from {low} to {high}.", values);
}
