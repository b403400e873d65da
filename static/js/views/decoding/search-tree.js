/** What was tried, as a tree from left to right: a column a step, best on top. */

import { two } from "../../lib/numbers.js";
import { h } from "../../lib/dom.js";
import { curve, drawing, s } from "../../draw/svg.js";
import { labels, plain } from "../../data/tokens.js";
import { penalty, tree } from "../../compute/decoding-steps.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../draw/theme.js").Theme} Theme */
/** @typedef {import("./current-step.js").Scene} Scene */
/** @typedef {import("../../compute/decoding-steps.js").Node} Tried */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** Widths in letters: around a token, between two columns. */
const [AROUND, BETWEEN] = [1.3, 2.6];

/**
 * @param {Context} context
 * @param {{go: (step: number, hypothesis: number) => void}} actions
 */
export function createBranches(context, { go }) {
  const { t, theme } = context;
  const title = h("h3", {}, "");
  const note = h("p", { className: "note" });
  const frame = h("div", { className: "scroller", role: "region", tabIndex: 0 });
  const element = h("section", { className: "tree" }, title, frame, note);
  /** @type {SVGSVGElement | null} */
  let drawn = null;

  /** @param {Scene} scene */
  function show(scene) {
    const { plan, frozen, page } = scene;
    const beams = plan.method === "beam" && page.link.target === null && !frozen;
    title.textContent = beams
      ? t("All that was tried: {n} beams", { n: plan.beam })
      : t("The way, and what was passed by");
    frame.setAttribute("aria-label", title.textContent);
    note.replaceChildren(...legend(context, beams, plan.length_penalty));
    const nodes = tree(scene.run);
    drawn = draw(nodes, scene, beams);
    frame.replaceChildren(drawn);
    const here = drawn.querySelector("[data-now]")?.getAttribute("x");
    if (here) frame.scrollLeft = Number(here) - frame.clientWidth / 2;
  }

  /** @param {Tried[]} nodes @param {Scene} scene @param {boolean} beams */
  function draw(nodes, { at, lang, run, plan }, beams) {
    const look = theme();
    const names = nodes.map(({ token }) => (token.text === null ? `#${token.id}` : named(token, lang)));
    const numbers = nodes.map(({ probability, score, logprob, step }) =>
      two(beams ? (score ?? logprob / penalty(step + 1, plan.length_penalty)) : probability),
    );
    const size = look.size + 2;
    const widths = run.steps.map(
      (_, step) =>
        Math.max(
          ...nodes.map((node, i) =>
            node.step === step ? Math.max(letters(names[i]) * size, numbers[i].length * 0.58 * look.size) : 0,
          ),
        ) +
        AROUND * size,
    );
    const lefts = widths.map(
      (_, step) => 8 + widths.slice(0, step).reduce((sum, width) => sum + width + BETWEEN * size, 0),
    );
    const height = size * 2.9;
    const top = size * 1.9;
    /** @type {Map<string, Box>} */
    const boxes = new Map();
    for (const { key, step, row } of nodes)
      boxes.set(key, { x: lefts[step], y: top + row * (height + size * 0.6), width: widths[step], height });
    const rows = Math.max(1, ...nodes.map(({ row }) => row + 1));
    const full = {
      width: (lefts.at(-1) ?? 0) + (widths.at(-1) ?? 0) + 8,
      height: top + rows * (height + size * 0.6),
    };
    // What counts most is drawn last, over the others.
    const back = [...nodes.keys()].sort((a, b) => strength(nodes[a]) - strength(nodes[b]));
    const svg = drawing(
      full.width,
      full.height,
      look,
      ...columns(lefts, widths, full.height, at, look),
      ...back.flatMap((i) => edge(nodes[i], boxes, look)),
      ...back.map((i) =>
        box(nodes[i], /** @type {Box} */ (boxes.get(nodes[i].key)), names[i], numbers[i], look, lang),
      ),
    );
    svg.setAttribute("role", "img");
    svg.setAttribute(
      "aria-label",
      t("A tree of {n} tokens that were tried; the path that is written: {text}", {
        n: nodes.length,
        text: nodes.flatMap((node, i) => (node.best ? [names[i]] : [])).join(" "),
      }),
    );
    return svg;
  }

  /** @param {Tried} node @param {Box} box @param {string} name @param {string} number @param {Theme} look @param {string} lang */
  function box(node, { x, y, width, height }, name, number, look, lang) {
    const { best, state } = node;
    const passed = state === "pruned";
    const made = s(
      "g",
      { "data-node": node.key, "data-state": state, "data-best": best ? "" : null, "data-score": node.score },
      s("rect", {
        x,
        y,
        width,
        height,
        rx: 6,
        fill: look.paper,
        stroke: best ? look.attention : passed ? look.hatch : look.muted,
        "stroke-width": best ? 3 : 1,
        "stroke-dasharray": passed && !best ? "4 3" : null,
      }),
      s(
        "text",
        {
          x: x + width / 2,
          y: y + height * 0.44,
          "text-anchor": "middle",
          "font-size": look.size + 2,
          "font-weight": best ? 700 : 400,
          fill: passed && !best ? look.muted : look.ink,
          lang: node.token.special ? "en" : lang,
        },
        name,
      ),
      s(
        "text",
        { x: x + width / 2, y: y + height * 0.84, "text-anchor": "middle", fill: look.muted },
        number,
      ),
    );
    made.addEventListener("click", () => go(node.step, node.hypothesis));
    return made;
  }

  return { element, show, drawing: () => drawn };
}

/** @param {number[]} lefts @param {number[]} widths @param {number} height @param {number} at @param {Theme} look */
function columns(lefts, widths, height, at, look) {
  const size = look.size;
  const here = s("rect", {
    x: lefts[at] - size * 0.6,
    y: 0,
    width: widths[at] + size * 1.2,
    height,
    fill: look.attention,
    "fill-opacity": 0.09,
    rx: 6,
    "data-now": "",
  });
  const heads = lefts.map((left, step) =>
    s(
      "text",
      {
        x: left + widths[step] / 2,
        y: size * 1.3,
        "text-anchor": "middle",
        fill: step === at ? look.ink : look.muted,
        "font-weight": step === at ? 700 : 400,
      },
      String(step + 1),
    ),
  );
  return [here, ...heads];
}

/** @param {Tried} node @param {Map<string, Box>} boxes @param {Theme} look */
function edge({ key, parent, best, state }, boxes, look) {
  const [from, to] = [boxes.get(parent), boxes.get(key)];
  if (!from || !to) return [];
  const d = curve([from.x + from.width, from.y + from.height / 2], [to.x, to.y + to.height / 2], "x");
  const passed = state === "pruned" && !best;
  return [
    s("path", {
      d,
      fill: "none",
      stroke: best ? look.attention : passed ? look.hatch : look.muted,
      "stroke-width": best ? 4 : passed ? 1 : 1.5,
      "stroke-dasharray": passed ? "4 3" : null,
    }),
  ];
}

/** @param {Tried} node */
const strength = ({ best, state }) => (best ? 2 : state === "pruned" ? 0 : 1);

/** @param {{id: number, text: string | null, special?: boolean}} token @param {string} lang */
const named = ({ id, text, special }, lang) =>
  plain(labels([{ text: text ?? "", special: special ?? text === "<eos>", id, start: 0, end: 0 }], lang)[0]);

/** How wide a text is, in letters of its size: Chinese ones are square. @param {string} text */
const letters = (text) => [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 1 : 0.58), 0);

/** @param {Context} context @param {boolean} beams @param {number} alpha */
function legend({ t }, beams, alpha) {
  const kinds = [
    ["best", beams ? t("what is written in the end") : t("written")],
    ...(beams ? [["live", t("kept")]] : []),
    ["pruned", beams ? t("pruned") : t("passed by")],
  ];
  const says = beams
    ? t(
        "Best on top. The number is the score: ln P over ((5 + length) / 6)^α, α = {alpha}; the higher, the better.",
        { alpha: two(alpha) },
      )
    : t("The number is the token’s probability, after what was written before it.");
  return [
    ...kinds.map(([kind, word]) => h("span", { className: `kind ${kind}` }, word)),
    h("span", {}, says),
  ];
}
