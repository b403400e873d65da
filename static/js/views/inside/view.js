/**
 * Inside one step of the decoder: what each layer would predict, what each part adds to the logit
 * of the written token, and how the translation's probability depends on the selected head.
 */

import { axes, between, blockOf, predicting } from "../../data/attentions.js";
import { lit } from "../../state/highlight.js";
import { prose } from "../../lib/i18n.js";
import { change, four, tiny, two } from "../../lib/numbers.js";
import { waitingLine } from "../../parts/waiting.js";
import { h } from "../../lib/dom.js";
import { el, render } from "../../lib/render.js";
import { quoted } from "../../draw/token.js";
import { about, adds, contributions, lens, needed, settled, slopes, strongest } from "../../compute/logit-lens.js";
import { legible } from "../../draw/paint.js";
import { colour, css, diverging } from "../../draw/scale.js";
import { labels, languages } from "../../data/tokens.js";
import { headTable } from "./head-contributions.js";
import { ledgerTable } from "./logit-breakdown.js";
import { lensTable } from "./logit-lens.js";
import { slopes as gradients } from "./gradients.js";

/** @typedef {import("../../state/types.js").View} View */
/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/logit-lens.js").Sum} Sum */

/**
 * In multiples of the font size: the width from which there are two columns, their gap, the width
 * of a candidate, and of what is beside them.
 */
const [PAIR, GAP, CANDIDATE, BESIDE] = [75, 4, 6.4, 13];
/** In multiples of the font size: the width of the attentions' names, and of a head's number. */
const [NAMES, HEAD] = [8, 3.6];
/** The smallest limit of the colour scale, in logits, so that small values do not look large. */
const FAINT = 0.5;

/** @type {View} */
export const inside = {
  id: "inside",
  name: (t) => t("Inside"),
  about: (t) =>
    t(
      "The parts of one decoder row. The logit lens reads each layer's stream as if it were the last: the tokens that " +
      "the model would write if it stopped there. Below that is what each head adds to the logit of the " +
      "written token, orange if it raises it, blue if it lowers it; all parts together are the logit. " +
      "Gradient × attention shows how much the translation's log-probability depends on each weight of the " +
      "selected head.",
    ),
  blocks: ({ predicts }) => predicts,
  capabilities: ["lens"],
  frame: { rail: "both", inspector: false, caption: false, legend: "none", twice: 480 },
  needs: ({ model, link }) => (blockOf(model, link.block).predicts ? needed(model, link) : []),
  lights: ({ model }) => [{ part: "output" }, { part: "residual", stack: predicting(model).stack }],
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const { line: finding, inner } = context.finding();
  const heads = headTable(context, pick);
  const gradient = gradients(context);
  const body = h("div", { className: "inside", hidden: true });
  const waiting = waitingLine(context, t("Looking inside …"));
  root.append(...(inner ? [inner] : []), waiting.element, body);

  /** The highlighted decoder row. */
  function row() {
    const page = store.get();
    return lit(page, store.hovered()).query ?? lit(page, null).query ?? 0;
  }

  /** @param {import("./head-contributions.js").At} at */
  function pick(at) {
    store.go({ ...at, query: row(), key: null }, "chosen");
    context.announce(t("Layer {layer}, head {head}", { layer: at.layer + 1, head: at.head + 1 }));
  }

  /** Render the tables of the highlighted row. */
  function paint() {
    const { trace, link, model } = store.get();
    const at = row();
    const [layers, sum] = trace ? [lens(model, trace, at), contributions(model, trace, at)] : [null, null];
    const token = trace && about(model, trace, at);
    if (!trace || !layers || !token || (adds(model) && !sum)) return;
    const theme = context.theme();
    const { columns, count } = columnsOf(context.room().width / theme.size, sum);
    const [, lang] = languages(trace.direction);
    const { writes, id } = predicting(model);
    const written = writes ? axes(model, trace, id).rows[at].writes : labels([{ ...token, start: 0, end: 0 }], lang)[0];
    if (sum) heads.draw(sum, painter(diverging(theme), Math.max(sum.most.head, FAINT)), link);
    const meaning = el("p", { className: "note" }, t("Orange raises the logit; blue lowers it."));
    body.dataset.columns = String(columns);
    render(finding, found(context, written, layers, sum));
    render(
      body,
      section("of-lens", t("Logit lens"), lensTable(t, layers, { written, lang, count }), reading(t, lensRemarks(t, layers.length))),
      sum && section("of-heads", t("What each head adds to the logit"), heads.element, meaning, reading(t, headRemarks(t, model))),
      sum && section("of-parts", t("Logit breakdown"), ledgerTable(t, sum, painter(diverging(theme), Math.max(sum.most.part, FAINT))), meaning),
      sum && el("section", { className: "of-sum" }, el("p", { className: "balance" }, balanced(context, written, sum)), reading(t, sumRemarks(t))),
      !sum && el("p", { className: "note" }, t("This model's logits are not a sum of contributions: the computation after its last layer is not linear.")),
      slopes(model) && gradient.element,
    );
  }

  function draw() {
    const { trace, link, model } = store.get();
    if (!trace || !model || !blockOf(model, link.block).predicts) return;
    const ready = lens(model, trace, row()) !== null && (!adds(model) || contributions(model, trace, row()) !== null);
    const still = !ready && !body.hidden;
    const silent = predicting(model).writes ? !trace.output.tokens[row()] : trace.tokens[predicting(model).query][row()]?.text === "<pad>";
    waiting.show(!ready && !still, silent ? t("This row is padding, so it writes nothing.") : undefined);
    body.hidden = silent || (!ready && !still);
    if (silent) render(finding);
    if (body.hidden) return;
    paint();
    if (slopes(model)) gradient.draw();
    body.dataset.drawn = "";
  }

  function light() {
    if (body.hidden) return draw();
    paint();
    if (slopes(store.get().model)) gradient.light();
  }

  return {
    draw,
    light,
    destroy: () => (gradient.destroy(), root.replaceChildren()),
    picture: gradient.picture,
  };
}

/**
 * @param {string} className
 * @param {string} title
 * @param {import("../../lib/render.js").Child} table  scrolls, also with the keyboard, if it is too
 *   wide
 * @param {import("../../lib/render.js").Child[]} remarks  how to read it
 */
const section = (className, title, table, ...remarks) =>
  el(
    "section",
    { className },
    el("h3", {}, title),
    el("div", { className: "scroller", tabIndex: 0, role: "group", "aria-label": title }, table),
    remarks,
  );

/** @param {Context["t"]} t @param {string[]} remarks  on request: the view opens on what it shows */
const reading = (t, remarks) =>
  el("details", { className: "reading" }, el("summary", {}, t("How to read this")), el("p", { className: "note" }, prose(remarks)));

/**
 * @param {number} letters  that fit into a line
 * @param {Sum | null} sum
 * @returns {{columns: number, count: number}}  number of columns of sections, and of candidates per
 *   layer
 */
function columnsOf(letters, sum) {
  const heads = sum?.heads ?? [];
  const half = (letters - GAP) / 2;
  const columns = letters >= PAIR && half >= NAMES + HEAD * (heads[0]?.values[0].length ?? 0) ? 2 : 1;
  const each = columns === 2 ? half : letters;
  return { columns, count: Math.min(Math.max(Math.floor((each - BESIDE) / CANDIDATE), 2), 5) };
}

/**
 * @param {Context} context
 * @param {import("../../data/tokens.js").Label} written
 * @param {import("../../compute/logit-lens.js").Layer[]} layers
 * @param {Sum | null} sum
 */
function found({ store, t, say }, written, layers, sum) {
  const first = settled(layers);
  const token = { token: quoted(written), layer: (first ?? 0) + 1, rank: layers[layers.length - 1].rank };
  const said =
    first === null
      ? say(t("{token} is at rank {rank} after the last layer."), token)
      : say(t("{token} is most probable from layer {layer} on."), token);
  if (!sum) return said;
  const best = strongest(sum);
  const values = {
    at: best.layer + 1,
    head: best.head + 1,
    value: change(best.value),
    logit: two(sum.logit),
  };
  const added =
    between(blockOf(store.get().model, best.block))
      ? say(t("Cross-attention head {head} of layer {at} adds most to its logit of {logit}: {value}."), values)
      : say(t("Self-attention head {head} of layer {at} adds most to its logit of {logit}: {value}."), values);
  // After a full-width full stop no space is needed.
  const full = String(said.at(-1)).endsWith("。");
  return [...said, full ? "" : " ", ...added];
}

/** @param {Context} context @param {import("../../data/tokens.js").Label} written @param {Sum} sum */
function balanced({ t, say }, written, { sum, logit }) {
  return say(t("All parts together: {sum}. The model's logit of {token}: {logit}. Difference: {off}."), {
    sum: four(sum),
    token: quoted(written),
    logit: four(logit),
    off: el("span", { className: "off" }, tiny(Math.abs(sum - logit))),
  });
}

/** @param {import("../../draw/scale.js").Stops} stops @param {number} most @returns {import("./head-contributions.js").Paint} */
function painter(stops, most) {
  return (value) => {
    const ground = colour(stops, (value / most + 1) / 2);
    return { "background-color": css(ground), color: legible(ground) };
  };
}

/** @param {Context["t"]} t @param {number} layers */
const lensRemarks = (t, layers) => [
  t("Exact for layer {n}, the last: this is the model's own output.", { n: layers }),
  t("An approximation for the others: their streams go through the output matrix as if no layer came after, which they were not trained for."),
];

/** @param {Context["t"]} t @param {import("../../data/attentions.js").Model} model */
const headRemarks = (t, model) => [
  model && model.texts.length > 1 && t("Only decoder heads add to the logit directly; encoder heads contribute through cross-attention."),
  t("Click a head to see its attention below."),
].filter((line) => typeof line === "string");

/** @param {Context["t"]} t */
const sumRemarks = (t) => [
  t("Exact as a sum: with the mean and σ of every layer norm as they were in this run, the logit is the sum of these parts."),
  t("Only an approximation of the effect of removing a part: without it, σ and all later layers would change."),
  t("Only differences between logits matter: raising all logits equally changes no probability."),
];
