/**
 * The candidates of this step: the most probable tokens as bars, and the total probability of all
 * others.
 */

import { isFixed } from "../../core/store/share-contents.js";
import { prose } from "../../lib/i18n.js";
import { four, two } from "../../lib/numbers.js";
import { el, h, render } from "../../lib/dom.js";
import { shareBar } from "../../core/draw/colour-scales.js";
import { token } from "../../core/draw/token.js";
import { labels } from "../../core/wire/tokens.js";
import { chances, onPath } from "./decoding-steps.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Translate } from "../../lib/i18n.js" */
/** @import { Scene } from "./current-step.js" */
/** @import { Candidate } from "./decoding-steps.js" */

/**
 * @typedef {object} Actions
 * @property {(hypothesis: number, id: number) => void} pick
 * @property {(hypothesis: number) => void} turn
 */

/** @param {Context} context @param {Actions} actions */
export function createCandidates({ t, uniqueId }, { pick, turn }) {
  const element = h("section", { className: "next" });

  /** @param {Scene} scene */
  function show(scene) {
    const { step, hypothesis, plan } = scene;
    const before = step.hypotheses[hypothesis];
    const draw = step.forced ? null : chances(before, writtenBeam(scene), plan.temperature);
    const rows = before.candidates.map((candidate, rank) => row(t, scene, candidate, rank + 1, draw?.[rank] ?? null, pick));
    element.classList.toggle("drawn", draw !== null);
    render(
      element,
      el("h3", {}, t("What could come next")),
      el(
        "div",
        { className: "choice hypotheses", role: "group", "aria-label": t("Beam") },
        step.hypotheses.length > 1 && tabs(scene, uniqueId("decoding-hypothesis"), turn),
      ),
      el("ol", { className: "candidates" }, header(t, draw !== null), rows, missing(t, scene, pick), remainder(t, before.rest)),
      el("p", { className: "note" }, advice(t, scene)),
    );
  }

  return { element, show };
}

/** @param {Translate} t @param {Scene} scene */
function advice(t, { page, plan, step, frozen }) {
  if (frozen && page.link.target === null && plan.method === "beam")
    return prose([t("A share keeps the path, not the search."), ...(page.live ? [t("Open it live to see the other beams.")] : [])]);
  if (frozen && page.link.target === null && plan.method === "sample")
    return prose([t("A share keeps the sampled tokens, not the candidates."), ...(page.live ? [t("Open it live to see those.")] : [])]);
  if (isFixed(page)) return "";
  const click = t("Click another token, and the text continues from there.");
  if (plan.method !== "sample" || step.forced) return click;
  const pool = step.beams[0]?.pool;
  return pool ? prose([t("Sampled from {pool} tokens; the others were excluded.", { pool }), click]) : click;
}

/** @param {Scene} scene @param {string} name  of the radio buttons @param {Actions["turn"]} turn */
const tabs = ({ step, hypothesis, lang }, name, turn) =>
  step.hypotheses.map(({ text, score }, n) =>
    el(
      "label",
      {},
      el("input", { type: "radio", className: "hidden", name, checked: n === hypothesis, onchange: () => turn(n) }),
      el(
        "span",
        {},
        el("b", {}, String(n + 1)),
        " ",
        el("span", { lang }, tail(text)),
        " ",
        el("span", { className: "score" }, two(score)),
      ),
    ),
  );

/** @param {Translate} t @param {boolean} drawn */
const header = (t, drawn) =>
  el(
    "li",
    { className: "heads" },
    el("span", {}),
    el("span", {}),
    el("span", {}),
    heading(t("probability"), "p"),
    drawn && heading(t("sampling p"), t("sampled")),
    el("span", { className: "log" }, t("ln p")),
  );

/**
 * @param {Translate} t
 * @param {Scene} scene
 * @param {Candidate} candidate
 * @param {number | null} rank  null: unknown
 * @param {number | null} chance  sampling probability
 * @param {Actions["pick"]} pick
 * @param {string} [className]
 */
function row(t, scene, candidate, rank, chance, pick, className) {
  const { id, text, special, probability, logprob } = candidate;
  const written = id === writtenBeam(scene)?.token.id;
  const out = chance === 0;
  const props = {
    type: "button",
    className: [written && "written-one", out && "out"].filter(Boolean).join(" "),
    disabled: isFixed(scene.page),
    "data-id": id,
    "aria-current": written ? "true" : null,
    onclick: () => pick(scene.hypothesis, id),
  };
  const button = el(
    "button",
    props,
    el("span", { className: "rank" }, rank ? String(rank) : "…"),
    text === null ? el("span", { className: "token unknown" }, `#${id}`) : token(label(text, special, scene.lang)),
    shareBar(probability),
    el("span", { className: "p" }, four(probability)),
    chance !== null && el("span", { className: "p chance" }, out ? t("out") : four(chance)),
    el("span", { className: "log" }, two(logprob)),
    written && el("span", { className: "hidden" }, t("written")),
    out && el("span", { className: "hidden" }, t("left out")),
  );
  return el("li", { className }, button);
}

/**
 * The written token, if it is not among the most probable ones.
 * @param {Translate} t
 * @param {Scene} scene
 * @param {Actions["pick"]} pick
 */
function missing(t, scene, pick) {
  const before = scene.step.hypotheses[scene.hypothesis];
  const beam = writtenBeam(scene);
  if (!beam || before.candidates.some(({ id }) => id === beam.token.id)) return null;
  const logprob = beam.logprob - before.logprob;
  const { id, text, special } = beam.token;
  const drawn = !scene.step.forced && beam.drawn ? beam.drawn : null;
  const candidate = { id, text, special, logprob, probability: Math.exp(logprob), kept: true };
  return row(t, scene, candidate, beam.rank ?? scene.rank ?? null, drawn, pick, "far");
}

/** @param {Translate} t @param {number} mass */
const remainder = (t, mass) =>
  el(
    "li",
    { className: "rest" },
    el("span", {}),
    el("span", {}, t("all others")),
    shareBar(mass),
    el("span", { className: "p" }, four(mass)),
  );

/** @param {Scene} scene @returns {import("./decoding-steps.js").Beam | undefined}  what was written after the hypothesis that is shown */
function writtenBeam({ step, hypothesis, ids }) {
  const beam = onPath(step, ids);
  return beam?.parent === hypothesis
    ? beam
    : step.beams.find(({ parent, state }) => parent === hypothesis && state !== "pruned");
}

/** @param {string} text @param {boolean | undefined} special @param {string} lang */
const label = (text, special, lang) =>
  labels([{ text, special: special ?? text === "<eos>", id: 0, start: 0, end: 0 }], lang)[0];

/**
 * The name of a column, with a short form for phones.
 * @param {string} name
 * @param {string} short
 */
const heading = (name, short) => [
  el("span", { className: "long" }, name),
  el("span", { className: "short", "aria-hidden": "true" }, short),
];

/** The end of a text, in which beams differ. @param {string} text */
const tail = (text) => ([...text].length > 10 ? `…${[...text].slice(-9).join("")}` : text);
