/**
 * What tells the model where a token stands: the encoding of each position as waves, how alike two
 * positions are, why moving on is a rotation, and what attention would notice without it.
 */

import { Problem } from "../../data/problem.js";
import { h } from "../../lib/dom.js";
import { choice, list, whole } from "../../state/options.js";
import { controls } from "../../parts/controls.js";
import { wording } from "../../parts/problem-wording.js";
import { createLikeness } from "./similarity.js";
import * as shuffled from "./reordering.js";
import { numbers, questions, size, table } from "./encodings.js";
import { createTurn } from "./rotation.js";
import { createWaves } from "./encoding-waves.js";

/** @typedef {import("../../state/types.js").View} View */
/** @typedef {import("../../state/types.js").Context} Context */

/**
 * @typedef {object} Part  one of the four pictures
 * @property {HTMLElement} element
 * @property {(found: any) => void} draw
 * @property {() => void} light
 * @property {() => void} destroy
 * @property {() => import("../../state/types.js").Picture | null} picture
 * @property {() => import("../../data/computed-tensors.js").Shown | null} [numbers]  absent: those of the table
 */

/** Beyond any table; how long one may be the server says. */
const MOST = 9_999_999;

/** @type {View} */
export const positions = {
  id: "positions",
  name: (t) => t("Positions"),
  about: (t) =>
    t(
      "Attention by itself does not know the order of words. A fixed pattern of waves is added to each token, another one at every position; neighbours get similar patterns, and moving on by k is the same rotation everywhere. Shuffle the words to see what is lost without it.",
    ),
  capabilities: ["positions"],
  frame: { rail: "none", inspector: false, caption: false, legend: "signed", tells: true },
  options: {
    part: choice("waves", "likeness", "turn", "shuffle"),
    length: whole(0, MOST),
    width: whole(0, MOST),
    dims: list(),
    measure: choice("cosine", "dot"),
    at: whole(0, MOST, 2),
    by: whole(0, MOST, 1),
    pair: whole(0, MOST, 0),
    seed: whole(0, 9999, 1),
  },
  needs: (page) => (page.link.options.part === "shuffle" ? shuffled.needs(page) : []),
  asks: (page) => (page.link.options.part === "shuffle" ? shuffled.questions(page) : questions(page)),
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const parts = controls(context, [
    {
      option: "part",
      label: t("Look at"),
      values: {
        waves: t("waves"),
        likeness: t("similarity"),
        turn: t("rotation"),
        shuffle: t("shuffled words"),
      },
    },
  ]);
  const measure = controls(context, [
    { option: "measure", label: t("Measure"), values: { cosine: t("cosine"), dot: t("dot product") } },
  ]);
  const fields = [
    field(context, "length", t("Length"), () => size(store.get())?.length),
    field(context, "width", "d_model", () => size(store.get())?.d_model),
  ];
  const bad = h("p", { className: "bad", role: "alert", hidden: true });
  const sizes = h("div", { className: "options" }, ...fields.map((one) => one.element), measure);
  const place = h("div", { className: "part" });
  root.append(h("div", { className: "positions" }, parts, sizes, bad, place));
  /** @type {Part | null} */
  let part = null;
  let shown = "";

  function draw() {
    const page = store.get();
    const { options } = page.link;
    parts.refresh();
    measure.refresh();
    fields.forEach((one) => one.draw());
    measure.hidden = options.part !== "likeness";
    sizes.hidden = options.part === "shuffle";
    if (!part || shown !== options.part) {
      part?.destroy();
      shown = options.part;
      part = /** @type {Part} */ (make(shown)(context));
      place.replaceChildren(part.element);
    }
    const found = shown === "shuffle" ? undefined : table(page);
    bad.hidden = !(found instanceof Problem);
    place.hidden = found instanceof Problem;
    if (found instanceof Problem) bad.textContent = limit(context, found);
    else if (found || shown === "shuffle") part.draw(found);
  }

  return {
    draw,
    light: () => part?.light(),
    destroy: () => (part?.destroy(), root.replaceChildren()),
    picture: () => part?.picture() ?? null,
    numbers() {
      if (shown === "shuffle") return part?.numbers?.() ?? null;
      const found = table(store.get());
      return found && !(found instanceof Problem) ? numbers(store.get(), found) : null;
    },
  };
}

/** @param {string} part */
const make = (part) =>
  ({ waves: createWaves, likeness: createLikeness, turn: createTurn, shuffle: shuffled.createShuffle })[part] ??
  createWaves;

/**
 * A size of the table; emptied, it is the sentence's or the model's own.
 * @param {Context} context
 * @param {"length" | "width"} option
 * @param {string} label
 * @param {() => number | undefined} present
 */
function field({ store, t }, option, label, present) {
  const input = h("input", { type: "number", min: "1", step: "1", inputMode: "numeric" });
  const own = h("button", { type: "button", className: "button quiet" }, t("as here"));
  own.title = option === "length" ? t("as long as the sentence") : t("as wide as the model");
  input.addEventListener("change", () => {
    const value = input.value.trim() === "" ? null : Number(input.value);
    const right = value === null || (Number.isInteger(value) && value >= 0 && value <= MOST);
    if (right) store.choose({ [option]: value });
    else input.value = String(present() ?? "");
  });
  own.addEventListener("click", () => store.choose({ [option]: null }));
  return {
    element: h("div", { className: "option" }, h("label", {}, label, " ", input), own),
    draw() {
      if (document.activeElement !== input) input.value = String(present() ?? "");
      own.hidden = store.get().link.options[option] === null;
    },
  };
}

/** What the server said of a size, in the reader's language. @param {Context} context @param {Problem} problem */
function limit({ t }, problem) {
  const range = /from (\d+) to (\d+)/.exec(problem.detail);
  if (problem.kind !== "out-of-range" || !range) return wording(t, problem);
  const values = { low: range[1], high: range[2] };
  return problem.field === "d_model"
    ? t("d_model must be from {low} to {high}.", values)
    : t("The length must be from {low} to {high}.", values);
}
