/** How a translation is written: step by step, with what could have come, and where the model looked. */

import { lit } from "../blocks.js";
import { four } from "../caption.js";
import { h, quoted } from "../dom.js";
import { choice } from "../options.js";
import { wording } from "../parts/problems.js";
import { own, plan, said } from "../plan.js";
import { answer, traced } from "../questions.js";
import { file } from "../svg.js";
import { hypothesis, onPath, written } from "../theatre.js";
import { labels, languages } from "../tokens.js";
import { createBranches } from "./decoding/branches.js";
import { createCandidates } from "./decoding/candidates.js";
import { createFeed } from "./decoding/feed.js";
import { createLooks, needed } from "./decoding/looks.js";
import { methods } from "./decoding/method.js";
import { createScoring } from "./decoding/scoring.js";
import { createVersus } from "./decoding/versus.js";
import { createWriting } from "./decoding/writing.js";

/** @typedef {import("./index.js").View} View */
/** @typedef {import("../main.js").Context} Context */
/** @typedef {import("../store.js").Page} Page */
/** @typedef {import("../wire.js").Trace} Trace */
/**
 * @typedef {object} Scene  one step, with all that is known of it
 * @property {Page} page
 * @property {import("../theatre.js").Run} run
 * @property {boolean} frozen  only what a share's trace has
 * @property {boolean} waiting  more is to come
 * @property {import("../plan.js").Plan} plan
 * @property {number} at  the step, from 0: a decoder row
 * @property {import("../theatre.js").Step} step
 * @property {number} hypothesis  that is looked at, among the step's
 * @property {number[]} ids  of what is written
 * @property {import("../tokens.js").Label[]} labels  of what is written
 * @property {number[]} probabilities  of what is written; NaN where not known
 * @property {number | undefined} rank  of the token written now, where it is known
 * @property {boolean} agrees  whether the page's trace is of what is written
 * @property {Trace["output"] | null} other  the model's own translation, where another is shown
 * @property {string} lang  of the translation
 */

/** @type {View} */
export const decoding = {
  id: "decoding",
  name: (t) => t("Decoding"),
  about: (t) =>
    t(
      "A translation is written one token at a time. Go through it with Back and Next, or let it play: the bars are the tokens that could come next and how probable the model holds each to be, the columns are where it looks while it writes this one. Click another token and the sentence goes on from there. Beam search keeps several beginnings at once; sampling draws lots.",
    ),
  blocks: ["cross"],
  frame: { rail: "none", inspector: false, caption: false, legend: "none" },
  options: { heads_of: choice("mean", "head") },
  needs: (page) => [...needed(page), "decoder.probabilities", "decoder.candidates"],
  asks: (page) => (bent(page) ? [unbent(page)] : []),
  mount,
};

/** Whether something else than the model's own is written. @param {Page} page */
const bent = ({ link }) => link.target !== null || plan(link.decode).prefix.length > 0;

/** The model's own translation. @param {Page} page */
const unbent = (page) => traced(page, { target: null, pad_to: null, decode: own(page.link.decode), select: [] });

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const feed = createFeed(context.api, show);
  /** @type {Scene | null} */
  let scene = null;
  let chosen = { at: -1, hypothesis: -1 };
  /** @type {unknown[]} */
  let shown = [];

  const controls = methods(context);
  const trouble = h("p", { className: "problem", role: "alert", hidden: true });
  const finding = h("p", { className: "finding" });
  const line = createWriting(context, { go, scene: () => scene });
  const versus = createVersus(context, { undo });
  const candidates = createCandidates(context, { pick, turn: (n) => turn(scene?.at ?? 0, n) });
  const looks = createLooks(context);
  const branches = createBranches(context, { go: turn });
  const scoring = createScoring(context, { go });
  const parts = [line, versus, branches, candidates, looks, scoring];
  const step = h("div", { className: "the-step" }, candidates.element, looks.element);
  const theatre = h("div", { className: "theatre" }, controls, trouble, line.element, finding, versus.element, step, branches.element, scoring.element);
  root.append(theatre);

  /** @param {number} at */
  function go(at) {
    chosen = { at: -1, hypothesis: -1 };
    store.go({ query: at, key: null });
    if (scene) context.announce(finding.textContent ?? "");
  }

  /** Another beam of a step. @param {number} at @param {number} hypothesis */
  function turn(at, hypothesis) {
    chosen = { at, hypothesis };
    shown = [];
    if (scene?.at === at) show();
    else store.go({ query: at, key: null });
  }

  /** @param {number} row @param {number} id  to go on with after that hypothesis */
  function pick(row, id) {
    if (!scene || scene.page.share) return;
    const { ids } = scene.step.hypotheses[row];
    if (ids.every((one, i) => one === scene?.ids[i]) && scene.ids[scene.at] === id) return go(Math.min(scene.at + 1, scene.ids.length - 1));
    line.pause();
    store.go({ target: null, decode: said({ ...plan(scene.page.link.decode), prefix: [...ids, id] }), query: scene.at, key: null }, "push");
  }

  function undo() {
    const { decode } = store.get().link;
    store.go({ target: null, decode: own(decode) }, "push");
    context.announce(t("The model’s own translation again."));
  }

  function draw() {
    shown = [];
    show();
  }

  function show() {
    const page = store.get();
    feed.follow(page);
    const { run, frozen, waiting, problem } = feed.get();
    trouble.hidden = !problem;
    trouble.textContent = problem ? wording(t, problem) : "";
    controls.refresh();
    const next = set(page, { run, frozen, waiting }, chosen);
    if (!next) return;
    const key = [next.run, next.at, next.hypothesis, page.trace, page.answers, page.link.decode, page.link.target, waiting];
    if (key.every((part, i) => part === shown[i])) return;
    [scene, shown] = [next, key];
    theatre.dataset.method = page.link.target === null ? next.plan.method : "target";
    theatre.dataset.drawn = next.waiting || !next.agrees ? "partly" : "all";
    for (const part of parts) part.show(next);
    finding.replaceChildren(...told(context, next));
  }

  return {
    draw,
    light() {
      show();
      looks.light();
    },
    destroy() {
      feed.stop();
      line.destroy();
      root.replaceChildren();
    },
    get picture() {
      const drawn = branches.drawing();
      return drawn ? () => ({ svg: file(drawn, context.theme()) }) : undefined;
    },
  };
}

/**
 * @param {Page} page
 * @param {Pick<Scene, "run" | "frozen" | "waiting">} heard
 * @param {{at: number, hypothesis: number}} chosen
 * @returns {Scene | null}  null: nothing is written yet
 */
function set(page, { run, frozen, waiting }, chosen) {
  const pieces = written(run);
  const { trace, link } = page;
  if (!pieces.length || !trace) return null;
  const at = Math.min(link.query ?? lit(page, null).query ?? 0, pieces.length - 1, run.steps.length - 1);
  const ids = pieces.map(({ id }) => id);
  const step = run.steps[at];
  const agrees = trace.output.tokens.length === ids.length && trace.output.tokens.every(({ id }, i) => id === ids[i]);
  /** @type {Trace | import("../api.js").Problem | undefined} */
  const unforced = bent(page) ? answer(page, unbent(page)) : undefined;
  const [, lang] = languages(trace.direction);
  const row = chosen.at === at && step.hypotheses[chosen.hypothesis] ? chosen.hypothesis : Math.max(0, hypothesis(step, ids));
  return {
    page,
    run,
    frozen,
    waiting,
    plan: plan(link.decode),
    at,
    step,
    hypothesis: row,
    ids,
    labels: labels(pieces.map((piece) => ({ ...piece, start: 0, end: 0 })), lang),
    probabilities: ids.map((_, t) => chance(run.steps[t], ids)),
    rank: onPath(step, ids)?.rank ?? (agrees ? /** @type {any} */ (trace.output).ranks?.[at] : undefined),
    agrees,
    other: unforced && "output" in unforced ? unforced.output : null,
    lang,
  };
}

/** @param {import("../theatre.js").Step | undefined} step @param {number[]} ids */
function chance(step, ids) {
  const beam = step && onPath(step, ids);
  return step && beam ? Math.exp(beam.logprob - step.hypotheses[beam.parent].logprob) : NaN;
}

/** What happens at this step, in a sentence. @param {Context} context @param {Scene} scene */
function told({ t, say }, scene) {
  const { at, step, ids, probabilities, rank, plan } = scene;
  const row = Math.max(0, hypothesis(step, ids));
  const label = scene.labels[at];
  const first = step.hypotheses[row]?.candidates[0];
  const values = {
    n: at + 1,
    token: h("span", { className: "as-query" }, quoted(label)),
    p: four(probabilities[at]),
    rank,
  };
  const led = first?.id === ids[at];
  if (step.forced && led) return say(t("Step {n}: {token} was given, and the model would have written it too: it holds it to be the most probable ({p})."), values);
  if (step.forced) return say(rank ? t("Step {n}: {token} was given. To the model it is number {rank}, with a probability of {p}.") : t("Step {n}: {token} was given. To the model its probability is {p}."), values);
  if (plan.method === "beam") return say(led ? t("Step {n}: the best path goes on with {token}, its most probable next token ({p}).") : t("Step {n}: the best path goes on with {token} ({p}), though another token was more probable here."), values);
  if (plan.method === "sample") return say(led ? t("Step {n}: the lot fell on {token}, the most probable token ({p}).") : t("Step {n}: the lot fell on {token}, which the model gives {p}."), values);
  return say(t("Step {n}: the model writes {token}, the most probable token ({p})."), values);
}
