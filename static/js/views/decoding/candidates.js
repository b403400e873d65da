/** What could be written at this step: the most probable tokens as bars, and the mass of all others. */

import { prose } from "../../lib/i18n.js";
import { four, two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { token } from "../../draw/token.js";
import { labels } from "../../data/tokens.js";
import { chances, onPath } from "../../compute/decoding-steps.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("./current-step.js").Scene} Scene */
/** @typedef {import("../../compute/decoding-steps.js").Candidate} Candidate */

/**
 * @param {Context} context
 * @param {{pick: (hypothesis: number, id: number) => void, turn: (hypothesis: number) => void}} actions
 */
export function createCandidates({ t, own }, { pick, turn }) {
  const title = h("h3", {}, t("What could come next"));
  const beams = h("div", { className: "choice hypotheses", role: "group", "aria-label": t("Beam") });
  const list = h("ol", { className: "candidates" });
  const note = h("p", { className: "note" });
  const element = h("section", { className: "next" }, title, beams, list, note);

  /** @param {Scene} scene */
  function show(scene) {
    const { step, hypothesis, plan } = scene;
    const before = step.hypotheses[hypothesis];
    const beam = taken(scene);
    const draw = step.forced ? null : chances(before, beam, plan.temperature);
    element.classList.toggle("drawn", draw !== null);
    beams.replaceChildren(...(step.hypotheses.length > 1 ? tabs(scene) : []));
    list.replaceChildren(
      header(draw !== null),
      ...before.candidates.map((one, rank) => row(scene, one, rank + 1, draw?.[rank] ?? null)),
      ...missing(scene),
      rest(before.rest),
    );
    note.textContent = advice(scene);
  }

  /** @param {Scene} scene */
  function advice({ page, plan, step, frozen }) {
    if (frozen && page.link.target === null && plan.method === "beam")
      return t("A share keeps the path, not the search: the other beams need a live run.");
    if (frozen && page.link.target === null && plan.method === "sample")
      return t("A share keeps what was drawn, not what it was drawn from: that needs a live run.");
    if (page.share) return "";
    const click = t("Click another token: the sentence goes on from there.");
    if (plan.method !== "sample" || step.forced) return click;
    const pool = step.beams[0]?.pool;
    return pool ? prose([t("Drawn from {pool} tokens; the others were left out.", { pool }), click]) : click;
  }

  /** @param {Scene} scene */
  function tabs({ step, hypothesis, lang }) {
    return step.hypotheses.map(({ text, score }, n) => {
      const radio = h("input", {
        type: "radio",
        className: "hidden",
        name: own("decoding-hypothesis"),
        checked: n === hypothesis,
      });
      radio.addEventListener("change", () => turn(n));
      return h(
        "label",
        {},
        radio,
        h(
          "span",
          {},
          h("b", {}, String(n + 1)),
          " ",
          h("span", { lang }, tail(text)),
          " ",
          h("span", { className: "score" }, two(score)),
        ),
      );
    });
  }

  /** @param {boolean} drawn */
  const header = (drawn) =>
    h(
      "li",
      { className: "heads" },
      h("span", {}),
      h("span", {}),
      h("span", {}),
      ...heading(t("probability"), "p"),
      ...(drawn ? heading(t("in the draw"), t("drawn")) : []),
      h("span", { className: "log" }, t("ln p")),
    );

  /** @param {Scene} scene @param {Candidate} one @param {number} rank @param {number | null} chance  of being drawn */
  function row(scene, one, rank, chance) {
    const { hypothesis, page } = scene;
    const written = one.id === taken(scene)?.token.id;
    const out = chance === 0;
    const button = h(
      "button",
      { type: "button", disabled: page.share !== null },
      ...cells(one, rank, chance),
    );
    button.dataset.id = String(one.id);
    button.classList.toggle("written-one", written);
    button.classList.toggle("out", out);
    if (written) button.setAttribute("aria-current", "true");
    if (written) button.append(h("span", { className: "hidden" }, t("written")));
    if (out) button.append(h("span", { className: "hidden" }, t("left out")));
    button.addEventListener("click", () => pick(hypothesis, one.id));
    return h("li", {}, button);

    /** @param {Candidate} one @param {number} rank @param {number | null} chance */
    function cells({ text, special, id, probability, logprob }, rank, chance) {
      const name =
        text === null
          ? h("span", { className: "token unknown" }, `#${id}`)
          : token(label(text, special, scene.lang));
      return [
        h("span", { className: "rank" }, String(rank)),
        name,
        track(probability),
        h("span", { className: "p" }, four(probability)),
        chance !== null && h("span", { className: "p chance" }, out ? t("out") : four(chance)),
        h("span", { className: "log" }, two(logprob)),
      ];
    }
  }

  /** What was written though it is not among the most probable. @param {Scene} scene */
  function missing(scene) {
    const before = scene.step.hypotheses[scene.hypothesis];
    const beam = taken(scene);
    if (!beam || before.candidates.some(({ id }) => id === beam.token.id)) return [];
    const logprob = beam.logprob - before.logprob;
    const { id, text, special } = beam.token;
    const rank = beam.rank ?? scene.rank;
    const drawn = !scene.step.forced && beam.drawn ? beam.drawn : null;
    const one = { id, text, special, logprob, probability: Math.exp(logprob), kept: true };
    const made = row(scene, one, rank ?? 0, drawn);
    made.classList.add("far");
    if (!rank) made.querySelector(".rank")?.replaceChildren("…");
    return [made];
  }

  /** @param {number} mass */
  const rest = (mass) =>
    h(
      "li",
      { className: "rest" },
      h("span", {}, ""),
      h("span", {}, t("all others")),
      track(mass),
      h("span", { className: "p" }, four(mass)),
    );

  return { element, show };
}

/** @param {Scene} scene @returns {import("../../compute/decoding-steps.js").Beam | undefined}  what was written after the hypothesis that is shown */
export function taken({ step, hypothesis, ids }) {
  const beam = onPath(step, ids);
  return beam?.parent === hypothesis
    ? beam
    : step.beams.find(({ parent, state }) => parent === hypothesis && state !== "pruned");
}

/** @param {string} text @param {boolean | undefined} special @param {string} lang */
const label = (text, special, lang) =>
  labels([{ text, special: special ?? text === "<eos>", id: 0, start: 0, end: 0 }], lang)[0];

/** A column's name, and a shorter one for phones. @param {string} name @param {string} short */
const heading = (name, short) => [
  h("span", { className: "long" }, name),
  h("span", { className: "short", "aria-hidden": "true" }, short),
];

/** @param {number} share */
function track(share) {
  const bar = h("span", { className: "bar" });
  bar.style.width = `${share * 100}%`;
  return h("span", { className: "track" }, bar);
}

/** The end of a text, which is what tells beams apart. @param {string} text */
const tail = (text) => ([...text].length > 10 ? `…${[...text].slice(-9).join("")}` : text);
