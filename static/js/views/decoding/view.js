/** How a translation is written: step by step, with the alternatives and where the model looked. */

import { file } from "../../core/draw/svg.js";
import { token } from "../../core/draw/token.js";
import { continuationLength, createTransport, radios } from "../../core/figure/controls.js";
import { problemLine, waitingLine } from "../../core/figure/figure-status.js";
import { choiceOption, integerOption, plan, planInLink, withoutPrefix } from "../../core/store/link-options.js";
import { isFixed } from "../../core/store/share-contents.js";
import { isBetweenTexts, predictsNextToken } from "../../core/wire/model-description.js";
import { el, h, render } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { debounce, eachFrame } from "../../lib/timing.js";
import { createAttentionRows, neededTensors } from "./attention-rows.js";
import { createCandidates } from "./candidates.js";
import {
  LENGTH, atStep, continuationQuestion, continues, createFeed, isForced, sceneOf, stepFinding, unforcedQuestion,
} from "./current-step.js";
import { createBranches } from "./search-tree.js";
import { createScoring, createVersus } from "./translation-scores.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Plan } from "../../core/store/link-options.js" */
/** @import { Scene } from "./current-step.js" */

// The decoding method and its settings, stored in the link as the API takes them.

/** @typedef {{of: Plan["method"], element: HTMLElement, show: (plan: Plan) => void}} Bound */

/** Milliseconds after the last move of a slider until its value is used. */
const PAUSE = 200;
/** The slider's last position: all tokens, no top-k. */
const ALL = 31;
/** The initial settings of sampling: from the ten candidates shown. */
const FIRST_DRAW = { top_k: 10, seed: 1 };

/** @param {Context} context @returns {HTMLElement & {refresh: () => void}} */
function methods({ store, t, uniqueId }) {
  const names = { greedy: t("greedy"), beam: t("beam search"), sample: t("sampling") };
  const present = () => plan(store.get().link.decode);

  /** @param {Partial<Plan>} patch @param {"chosen" | "moved"} [origin] */
  function choose(patch, origin = "moved") {
    store.go({ target: null, decode: planInLink({ ...present(), ...patch }) }, origin);
  }

  const list = h("div", { className: "choice" });
  const method = h("fieldset", { className: "option" }, h("legend", {}, t("Decoding method")), list);
  method.addEventListener("change", (event) => {
    const { value } = /** @type {HTMLInputElement} */ (event.target);
    const method = /** @type {Plan["method"]} */ (value);
    choose({ method, ...(method === "sample" ? FIRST_DRAW : {}) }, "chosen");
  });
  const bound = numbers({ t, uniqueId }, choose);
  const element = h("div", { className: "options methods" }, method, ...bound.map((control) => control.element));
  const refresh = () => {
    const now = present();
    const { link } = store.get();
    render(list, radios(uniqueId("decoding-method"), names, link.target === null ? now.method : null));
    for (const { of, element, show } of bound) {
      element.hidden = link.target !== null || of !== now.method;
      show(now);
    }
    for (const field of element.querySelectorAll("input, button"))
      field.toggleAttribute("disabled", isFixed(store.get()));
  };
  refresh();
  return Object.assign(element, { refresh });
}

/** @param {Pick<Context, "t" | "uniqueId">} context @param {(patch: Partial<Plan>) => void} choose @returns {Bound[]} */
function numbers({ t, uniqueId }, choose) {
  return [
    slider("beam", t("Beams"), [1, 8, 1], choose, {
      read: ({ beam }) => beam,
      make: (beam) => ({ beam }),
      format: String,
    }),
    slider("beam", t("Length penalty α"), [0, 2, 0.1], choose, {
      read: (plan) => plan.length_penalty,
      make: (length_penalty) => ({ length_penalty }),
      format: two,
    }),
    slider("sample", t("Temperature"), [0.1, 2, 0.1], choose, {
      read: ({ temperature }) => temperature,
      make: (temperature) => ({ temperature }),
      format: two,
    }),
    slider("sample", t("Top k"), [1, ALL, 1], choose, {
      read: ({ top_k }) => top_k ?? ALL,
      make: (top_k) => ({ top_k: top_k === ALL ? null : top_k }),
      format: (value) => (value >= ALL ? t("all") : String(value)),
    }),
    slider("sample", t("Top p"), [0.05, 1, 0.05], choose, {
      read: ({ top_p }) => top_p,
      make: (top_p) => ({ top_p }),
      format: two,
    }),
    dice({ t, uniqueId }, choose),
  ];
}

/**
 * @param {Plan["method"]} of
 * @param {string} label
 * @param {[number, number, number]} range  lowest, highest, step
 * @param {(patch: Partial<Plan>) => void} choose
 * @param {{read: (plan: Plan) => number, make: (value: number) => Partial<Plan>, format: (value: number) => string}} how
 * @returns {Bound}
 */
function slider(of, label, [min, max, step], choose, { read, make, format }) {
  const input = h("input", { type: "range", min: String(min), max: String(max), step: String(step) });
  const output = h("output", {});
  const later = debounce(() => choose(make(Number(input.value))), PAUSE);
  const tell = (/** @type {number} */ value) => {
    output.textContent = format(value);
    input.setAttribute("aria-valuetext", output.textContent);
  };
  input.addEventListener("input", () => {
    tell(Number(input.value));
    later.later();
  });
  return {
    of,
    element: h("label", { className: "option slider" }, h("span", {}, label), input, output),
    show(plan) {
      later.cancel();
      input.value = String(read(plan));
      tell(read(plan));
    },
  };
}

/** @param {Pick<Context, "t" | "uniqueId">} context @param {(patch: Partial<Plan>) => void} choose @returns {Bound} */
function dice({ t, uniqueId }, choose) {
  const seed = h("input", { type: "number", min: "0", max: "999999", step: "1", id: uniqueId("decoding-seed") });
  seed.addEventListener("change", () => choose({ seed: Math.abs(Math.trunc(Number(seed.value))) || 0 }));
  const roll = h("button", { type: "button", className: "button roll" }, t("Roll again"));
  // A different seed, short enough to be read aloud.
  roll.addEventListener("click", () =>
    choose({ seed: (Number(seed.value) + 1 + Math.floor(Math.random() * 98)) % 100 }),
  );
  const label = h("label", { className: "seed" }, h("span", {}, t("Seed")), seed);
  return {
    of: "sample",
    element: h("span", { className: "option" }, label, roll),
    show: (plan) => (seed.value = String(plan.seed)),
  };
}

// The translation as it is being written, one button per token.

/** Milliseconds per step while playing. */
const BEAT = 1200;

/** @param {Context} context @param {{go: (to: number) => void, scene: () => Scene | null}} actions */
function createWriting(context, { go, scene }) {
  const { t } = context;
  const line = h("ol", { className: "written", "aria-label": t("What the model writes, one step per token") });
  const transport = createTransport(context, {
    current: () => scene()?.stepIndex ?? 0,
    last: () => (scene()?.run.steps.length ?? 0) - 1,
    go,
    beat: BEAT,
    waits: () => scene()?.waiting ?? true,
  });
  const element = h("div", { className: "writing" }, line, transport.element);

  /** @param {Scene} now */
  function show({ stepIndex, run, labels, probabilities, waiting }) {
    const buttons = labels.map((label, step) => {
      const onclick = () => {
        transport.pause();
        go(step);
      };
      const chance = Number.isFinite(probabilities[step]) ? two(probabilities[step]) : "…";
      const props = {
        type: "button",
        className: run.steps[step]?.forced ? "forced" : "",
        "aria-current": step === stepIndex ? "step" : null,
      };
      const button = el("button", { ...props, onclick }, el("span", { className: "hidden" }, t("step {n}", { n: step + 1 }), " "), token(label), " ", el("span", { className: "chance" }, chance));
      return el("li", { className: step < stepIndex ? "past" : step === stepIndex ? "now" : "ahead" }, button);
    });
    render(line, buttons, waiting && el("li", { className: "more" }, "…"));
    transport.show(t("Step {n} of {count}", { n: stepIndex + 1, count: labels.length }));
  }

  return { element, show, pause: transport.pause, destroy: transport.destroy };
}

/** @type {View} */
export const decoding = {
  id: "decoding",
  name: (t) => t("Decoding"),
  about: (t) =>
    t(
      "A model writes one token at a time. Go through the steps with Back and Next, or let it play: the bars show " +
      "the tokens that could come next and their probabilities, the columns where the model looks while it " +
      "writes this one. Click another token, and the text continues from there. Beam search keeps " +
      "several partial texts at once; sampling picks tokens at random by probability.",
    ),
  blocks: (block) => isBetweenTexts(block) || predictsNextToken(block),
  capabilities: ["decode", "candidates"],
  frame: { rail: "none", inspector: false, caption: false, legend: "none", tells: true, twice: 760 },
  options: { heads_of: choiceOption("mean", "head"), nth: integerOption(0, 999) },
  needs: (page) => (continues(page) ? [] : neededTensors(page)),
  asks: (page) => [...(continues(page) ? [continuationQuestion(page, neededTensors(page))] : []), ...(isForced(page) ? [unforcedQuestion(page)] : [])],
  lights: () => [{ part: "output" }],
  mount,
};

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  // Steps can arrive faster than the screen is refreshed.
  const next = eachFrame(show, window);
  const feed = createFeed(context.source, next.later);
  /** @type {Scene | null} */
  let scene = null;
  let chosen = { stepIndex: -1, hypothesis: -1 };
  /** @type {unknown[]} */
  let drawnInputs = [];

  const controls = methods(context);
  const length = continuationLength(context, LENGTH);
  controls.append(length.element);
  const wrong = problemLine(context, feed.retry);
  const waits = waitingLine(context, t("Writing the first tokens …"));
  const { line: finding, inner } = context.finding();
  const line = createWriting(context, { go, scene: () => scene });
  const versus = createVersus(context, { undo: () => undo(context) });
  const candidates = createCandidates(context, { pick, turn: (n) => turn(scene?.stepIndex ?? 0, n) });
  const attentionRows = createAttentionRows(context);
  const branches = createBranches(context, { go: turn });
  const scoring = createScoring(context, { go });
  const parts = [line, versus, branches, candidates, attentionRows, scoring];
  const step = h("div", { className: "the-step" }, candidates.element, attentionRows.element);
  const theatre = h("div", { className: "theatre" }, controls, wrong.element, waits.element, line.element, inner, versus.element, step, branches.element, scoring.element);
  root.append(theatre);

  /** @param {number} stepIndex */
  function go(stepIndex) {
    chosen = { stepIndex: -1, hypothesis: -1 };
    store.go(atStep(store.get(), stepIndex));
    if (scene) context.announce(finding.textContent ?? "");
  }

  /** Switch to another beam of a step. @param {number} stepIndex @param {number} hypothesis */
  function turn(stepIndex, hypothesis) {
    chosen = { stepIndex, hypothesis };
    drawnInputs = [];
    if (scene?.stepIndex === stepIndex) show();
    else store.go(atStep(store.get(), stepIndex));
  }

  /** @param {number} row @param {number} id  to go on with after that hypothesis */
  function pick(row, id) {
    if (!scene || isFixed(scene.page)) return;
    if (isContinued(scene, row, id)) return go(Math.min(scene.stepIndex + 1, scene.ids.length - 1));
    line.pause();
    store.go(linkWithToken(scene, row, id), "chosen");
  }

  function draw() {
    drawnInputs = [];
    show();
  }

  function show() {
    const page = store.get();
    feed.follow(page);
    const { run, frozen, waiting, problem } = feed.get();
    wrong.show(problem);
    controls.refresh();
    length.refresh();
    const current = sceneOf(page, { run, frozen, waiting }, chosen);
    waits.show(!current && !scene && waiting && ["waiting", "ready"].includes(page.status));
    if (!current) return;
    const now = whatIsShown(current);
    if (now.every((part, i) => part === drawnInputs[i])) return;
    [scene, drawnInputs] = [current, now];
    theatre.dataset.method = page.link.target === null ? current.plan.method : "target";
    theatre.dataset.drawn = current.waiting || !current.agrees ? "partly" : "all";
    for (const part of parts) part.show(current);
    render(finding, stepFinding(context, current));
  }

  return {
    draw,
    light() {
      show();
      attentionRows.light();
    },
    destroy() {
      feed.stop();
      next.cancel();
      line.destroy();
      root.replaceChildren();
    },
    get picture() {
      const drawn = branches.drawing();
      return drawn ? () => ({ svg: file(drawn, context.theme()) }) : undefined;
    },
  };
}

/** What the drawing of a step depends on. @param {Scene} scene */
const whatIsShown = ({ run, stepIndex, hypothesis, waiting, page: { trace, answers, link } }) => [
  run,
  stepIndex,
  hypothesis,
  trace,
  answers,
  link.decode,
  link.target,
  waiting,
];

/**
 * Whether a token after a hypothesis is the one that was written.
 * @param {Scene} scene
 * @param {number} row
 * @param {number} id
 */
const isContinued = ({ step, ids, stepIndex }, row, id) => step.hypotheses[row].ids.every((written, i) => written === ids[i]) && ids[stepIndex] === id;

/**
 * The link in which another token follows a hypothesis.
 * @param {Scene} scene
 * @param {number} row
 * @param {number} id
 */
const linkWithToken = ({ step, stepIndex, page }, row, id) => ({
  target: null,
  decode: planInLink({ ...plan(page.link.decode), prefix: [...step.hypotheses[row].ids, id] }),
  ...atStep(page, stepIndex),
});

/** @param {Context} context */
function undo({ store, announce, t }) {
  store.go({ target: null, decode: withoutPrefix(store.get().link.decode) }, "chosen");
  announce(continues(store.get()) ? t("The model’s own continuation again.") : t("The model’s own output again."));
}
