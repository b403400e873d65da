/** The changed model: what to change, the effect on the translation, and which heads matter. */

import { continuationLength, controls } from "../../core/figure/controls.js";
import { wording } from "../../core/figure/problem-wording.js";
import { isChanged } from "../../core/store/interventions.js";
import { choiceOption, flagOption, textOption, integerOption } from "../../core/store/link-options.js";
import { place } from "../../core/wire/model-description.js";
import { Problem, logprob, outputKind } from "../../core/wire/reply.js";
import { languages } from "../../core/wire/tokens.js";
import { el, h, render } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { attentionChanges, tokenChanges } from "./before-after-panels.js";
import { effect, inNats, likelihood, needsMask, pieces, questions, runs, sharedQuestions } from "./before-after.js";
import { changePanel } from "./changes-panel.js";
import { keptQuestions, option as runOption, runsTable } from "./kept-runs.js";
import { THROUGH, sweepRequest } from "./sweep-grids.js";
import { headSweep } from "./sweep.js";

/** @import { Context, View } from "../../core/figure/types.js" */
/** @import { Runs } from "./before-after.js" */
/** @import { Trace } from "../../core/wire/safetensors.js" */

/**
 * @typedef {object} Part  one of the three pictures
 * @property {HTMLElement} element
 * @property {(runs: Runs) => void} draw
 * @property {() => void} light
 * @property {() => void} destroy
 * @property {() => import("../../core/figure/types.js").Picture | null} picture
 * @property {() => import("../../core/compute/computed-tensors.js").ComputedTensors | null} numbers
 * @property {() => import("../../lib/dom.js").Child[]} [finding]  what it shows for a model
 *   without changes
 */

/** @type {View} */
export const whatif = {
  id: "whatif",
  name: (t) => t("What if"),
  about: (t) =>
    t(
      "Change the model and see how its output changes: switch off a head, cut an edge, set a weight by hand, " +
      "mask a token, shuffle the positions. The original run is always shown beside it. The map tests each " +
      "head separately: the more orange, the more the output depends on it. The effect of a change " +
      "shows what a head does here; its attention pattern need not.",
    ),
  capabilities: ["sweep"],
  frame: { rail: "both", inspector: false, caption: false, legend: "none", compares: true },
  live: true,
  options: {
    effect: choiceOption("heads", "tokens", "attention", "runs"),
    ablation: choiceOption("zero", "uniform", "mean", "patch"),
    parts: choiceOption("heads", "sublayers", "positions", "pairs", "tokens"),
    through: choiceOption(...THROUGH),
    b: textOption(),
    against: integerOption(0, 9_999_999),
    over: flagOption(),
    kept: runOption,
    written: integerOption(0, 999),
  },
  needs: ({ model, link }) => [place(model, link, "weights"), place(model, link, "mask")],
  asks: (page) => [...questions(page), ...(page.link.options.effect === "runs" ? keptQuestions(page) : [])],
  keeps: (page) => [...sharedQuestions(page), ...(page.link.options.kept.length ? keptQuestions(page) : []), ...mapQuestions(page)],
  mount,
};

/** The map of a sweep, if it is on the screen. @param {import("../../core/store/store.js").Page} page */
function mapQuestions(page) {
  const bothRuns = runs(page);
  const isOnScreen = page.link.options.effect === "heads" && bothRuns && !(bothRuns instanceof Problem) && bothRuns.before.output.tokens.length;
  return isOnScreen ? [{ sweep: sweepRequest(page, bothRuns.before) }] : [];
}

/** The height available to a picture outside projector mode, where the page scrolls. */
const HIGH = 640;

/**
 * The available space of a picture: normally the page scrolls; in projector mode it is the space
 * below the two translations.
 * @param {ReturnType<Context["room"]>} room
 * @param {HTMLElement} main
 * @param {HTMLElement | null} above  in projector mode
 */
const roomBeside = (room, main, above) => ({
  ...room,
  width: Math.floor(main.clientWidth),
  height: above ? room.height - above.offsetHeight : Math.max(room.height, HIGH),
});

/** @type {View["mount"]} */
function mount(context, root) {
  const { store, t } = context;
  const main = h("div", { className: "whatif-main" });
  // A picture has the space beside the panel.
  const inner = { ...context, room: () => roomBeside(context.room(), main, store.get().link.options.projector ? top.element : null) };
  const panel = changePanel(context);
  const top = outcome(context);
  const { line: caption, inner: innerCaption } = context.finding();
  const bar = controls(context, [
    { option: "effect", label: t("See"), values: { heads: t("which heads matter"), tokens: t("token by token"), attention: t("attention"), runs: t("runs side by side") } },
  ]);
  const wrong = h("p", { className: "bad", role: "alert", hidden: true });
  const length = continuationLength(context, 1);
  const silent = h("p", { className: "hint-line", hidden: true });
  const stand = h("div", { className: "whatif-part" });
  bar.append(length.element);
  main.append(innerCaption, top.element, bar, wrong, silent, stand);
  root.append(h("div", { className: "whatif" }, main, panel.element));
  /** @type {Record<string, () => Part>} */
  const makers = {
    heads: () => headSweep(inner, tell),
    tokens: () => tokenChanges(inner),
    attention: () => attentionChanges(inner, panel.set),
    runs: () => runsTable(inner),
  };
  /** @type {Part | null} */
  let part = null;
  let shownPart = "";
  /** @type {import("../../core/store/link.js").State | null} */
  let refreshed = null;

  function draw() {
    const page = store.get();
    const { effect } = page.link.options;
    bar.refresh();
    length.refresh();
    panel.refresh();
    refreshed = page.link;
    if (!part || shownPart !== effect) {
      part?.destroy();
      shownPart = effect;
      part = makers[shownPart]();
      stand.replaceChildren(part.element);
    }
    const bothRuns = runs(page);
    main.setAttribute("aria-busy", String(!bothRuns));
    wrong.hidden = !(bothRuns instanceof Problem);
    // Do not show old results under the name of another place.
    stand.hidden = top.element.hidden = bothRuns instanceof Problem && bothRuns.kind === "frozen";
    if (bothRuns instanceof Problem) wrong.textContent = wording(t, bothRuns);
    else if (bothRuns && page.trace) {
      const mask = page.model?.mask ?? "";
      silent.hidden = mask === "" || bothRuns.before.output.tokens.length > 0;
      silent.textContent = needsMask(t, mask);
      top.draw(bothRuns, page.trace);
      part.draw(bothRuns);
      main.dataset.drawn = "yes";
      tell();
    }
  }

  /**
   * Show the effect of the changes or, without changes, the part's finding. It is announced when it
   * changes.
   */
  function tell() {
    const finding = isChanged(store.get().link) ? [] : (part?.finding?.() ?? []);
    const before = caption.textContent;
    render(caption, finding.length ? finding : top.finding());
    if (caption.textContent !== before) context.announce(caption.textContent ?? "");
  }

  function light() {
    const { link } = store.get();
    // The panel depends on the pin, not on the pointer, which moves sixty times per second.
    if (link !== refreshed) panel.refresh();
    refreshed = link;
    part?.light();
  }

  return {
    draw,
    light,
    destroy: () => (part?.destroy(), root.replaceChildren()),
    picture: () => part?.picture() ?? null,
    numbers: () => part?.numbers() ?? null,
  };
}

// The outputs of both runs, one below the other, and how the likelihood of the original one changed.

/** @param {Context} context */
function outcome({ store, t, phrase }) {
  const element = h("div", {});
  /** @type {import("../../lib/dom.js").Child[]} */
  let sentence = [];

  /** @param {Runs} runs @param {Trace} shownTrace */
  function draw({ before, after }, shownTrace) {
    if (!isChanged(store.get().link)) {
      sentence = [t("No changes yet: this is the model as trained.")];
      return render(element, []);
    }
    if (!before.output.tokens.length) {
      sentence = [];
      return render(element, []);
    }
    const [, lang] = languages(before.direction);
    const [was, is] = [before, after].map(({ output }) => logprob(output));
    sentence = phrase(
      effect(t, outputKind(store.get().model), before.output.text === shownTrace.output.text),
      { likely: el("b", {}, likelihood(t, is - was)), change: inNats(is - was), before: two(was), after: two(is) },
    );
    const texts = el(
      "dl",
      { className: "outcome" },
      line(t("As trained"), pieces(before, shownTrace), "del", lang),
      line(t("Changed"), pieces(shownTrace, before), "ins", lang),
    );
    render(element, texts);
  }

  /** @param {string} name @param {ReturnType<typeof pieces>} cut @param {"del" | "ins"} tag  of what only this one has @param {string} lang */
  function line(name, cut, tag, lang) {
    const parts = cut.map(({ text, differs }) => (differs ? el(tag, { className: tag === "ins" ? "new" : "gone" }, text) : text));
    return el("div", {}, el("dt", {}, name), el("dd", { lang: cut.length ? lang : "" }, cut.length ? parts : t("(nothing)")));
  }
  return { element, draw, finding: () => sentence };
}
