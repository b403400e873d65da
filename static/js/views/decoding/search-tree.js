/** The search tree from left to right: one column per step, best on top. */

import { two } from "../../lib/numbers.js";
import { el, h, render } from "../../lib/dom.js";
import { curve, drawing, s } from "../../core/draw/svg.js";
import { labels, plainLabel } from "../../core/wire/tokens.js";
import { penalty, tree } from "./decoding-steps.js";

/** @import { Context } from "../../core/figure/types.js" */
/** @import { Theme } from "../../core/page/page-context.js" */
/** @import { Scene } from "./current-step.js" */
/** @typedef {import("./decoding-steps.js").Node & {name: string, number: string}} Tried */
/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/** Widths in multiples of the font size: padding of a token, distance of columns and the least of it, which still shows how edges cross. */
const [AROUND, BETWEEN, CLOSEST] = [1.3, 2.6, 1.3];
/** On both sides of the tree, in pixels. */
const MARGIN = 8;

/** @param {Context} context @param {{go: (step: number, hypothesis: number) => void}} actions */
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
      ? t("All paths tried: {n} beams", { n: plan.beam })
      : t("Chosen path and alternatives");
    frame.setAttribute("aria-label", title.textContent);
    render(note, legend(context, beams, plan.length_penalty));
    const nodes = named(tree(scene.run), scene, beams);
    drawn = draw(nodes, scene, theme(), context.room().width, go);
    drawn.setAttribute("aria-label", t("A tree of {n} tokens that were tried; the chosen path: {text}", {
      n: nodes.length,
      text: nodes.flatMap(({ best, name }) => (best ? [name] : [])).join(" "),
    }));
    frame.replaceChildren(drawn);
    const currentX = drawn.querySelector("[data-now]")?.getAttribute("x");
    if (currentX) frame.scrollLeft = Number(currentX) - frame.clientWidth / 2;
  }

  return { element, show, drawing: () => drawn };
}

/**
 * @param {import("./decoding-steps.js").Node[]} nodes
 * @param {Scene} scene
 * @param {boolean} beams
 * @returns {Tried[]}
 */
const named = (nodes, { lang, plan }, beams) =>
  nodes.map((node) => {
    const { token, probability, score, logprob, step } = node;
    const name = token.text === null ? `#${token.id}` : word(token, lang);
    return { ...node, name, number: two(beams ? (score ?? logprob / penalty(step + 1, plan.length_penalty)) : probability) };
  });

/**
 * Compute the layout. Columns stand closer where the whole tree fits that way.
 * @param {Tried[]} nodes
 * @param {number} steps
 * @param {Theme} theme
 * @param {number} room  pixels
 */
function lay(nodes, steps, theme, room) {
  const size = theme.size + 2;
  const wide = (/** @type {Tried} */ { name, number }) => Math.max(letters(name) * size, number.length * 0.58 * theme.size);
  const widths = Array.from({ length: steps }, (_, stepIndex) => Math.max(0, ...nodes.filter(({ step }) => step === stepIndex).map(wide)) + AROUND * size);
  const sum = (/** @type {number[]} */ numbers) => numbers.reduce((total, width) => total + width, 0);
  const fitting = (room - 2 * MARGIN - sum(widths)) / Math.max(1, steps - 1);
  const gap = fitting < CLOSEST * size ? BETWEEN * size : Math.min(fitting, BETWEEN * size);
  const lefts = widths.map((_, step) => MARGIN + sum(widths.slice(0, step)) + step * gap);
  const [top, height] = [size * 1.9, size * 2.9];
  const down = height + size * 0.6;
  /** @type {Map<string, Box>} */
  const boxes = new Map();
  for (const { key, step, row } of nodes) boxes.set(key, { x: lefts[step], y: top + row * down, width: widths[step], height });
  const rows = Math.max(1, ...nodes.map(({ row }) => row + 1));
  return { widths, lefts, boxes, width: (lefts.at(-1) ?? 0) + (widths.at(-1) ?? 0) + MARGIN, height: top + rows * down };
}

/** @param {Tried[]} nodes @param {Scene} scene @param {Theme} theme @param {number} room @param {(step: number, hypothesis: number) => void} go */
function draw(nodes, { stepIndex, lang, run }, theme, room, go) {
  const { widths, lefts, boxes, width, height } = lay(nodes, run.steps.length, theme, room);
  // The most important nodes are drawn last, on top.
  const back = [...nodes].sort((a, b) => strength(a) - strength(b));
  const svg = drawing(
    width,
    height,
    theme,
    ...columns(lefts, widths, height, stepIndex, theme),
    ...back.flatMap((node) => edge(node, boxes, theme)),
    ...back.map((node) => {
      const element = box(node, /** @type {Box} */ (boxes.get(node.key)), theme, lang);
      element.addEventListener("click", () => go(node.step, node.hypothesis));
      return element;
    }),
  );
  svg.setAttribute("role", "img");
  return svg;
}

/** @param {Tried} node @param {Box} box @param {Theme} theme @param {string} lang */
function box({ key, best, state, score, name, number, token }, { x, y, width, height }, theme, lang) {
  const passed = state === "pruned" && !best;
  const frame = {
    fill: theme.paper,
    stroke: best ? theme.attention : state === "pruned" ? theme.hatch : theme.muted,
    "stroke-width": best ? 3 : 1,
    "stroke-dasharray": passed ? "4 3" : null,
  };
  const letters = {
    "font-size": theme.size + 2,
    "font-weight": best ? 700 : 400,
    fill: passed ? theme.muted : theme.ink,
    lang: token.special ? "en" : lang,
  };
  const middle = { x: x + width / 2, "text-anchor": "middle" };
  return s(
    "g",
    { "data-node": key, "data-state": state, "data-best": best ? "" : null, "data-score": score },
    s("rect", { x, y, width, height, rx: 6, ...frame }),
    s("text", { ...middle, y: y + height * 0.44, ...letters }, name),
    s("text", { ...middle, y: y + height * 0.84, fill: theme.muted }, number),
  );
}

/** @param {number[]} lefts @param {number[]} widths @param {number} height @param {number} stepIndex @param {Theme} theme */
function columns(lefts, widths, height, stepIndex, theme) {
  const size = theme.size;
  const marker = s("rect", {
    x: lefts[stepIndex] - size * 0.6,
    y: 0,
    width: widths[stepIndex] + size * 1.2,
    height,
    fill: theme.attention,
    "fill-opacity": 0.09,
    rx: 6,
    "data-now": "",
  });
  const heads = lefts.map((columnX, step) =>
    s(
      "text",
      {
        x: columnX + widths[step] / 2,
        y: size * 1.3,
        "text-anchor": "middle",
        fill: step === stepIndex ? theme.ink : theme.muted,
        "font-weight": step === stepIndex ? 700 : 400,
      },
      String(step + 1),
    ),
  );
  return [marker, ...heads];
}

/** @param {Tried} node @param {Map<string, Box>} boxes @param {Theme} theme */
function edge({ key, parent, best, state }, boxes, theme) {
  const [from, to] = [boxes.get(parent), boxes.get(key)];
  if (!from || !to) return [];
  const d = curve([from.x + from.width, from.y + from.height / 2], [to.x, to.y + to.height / 2], "x");
  const passed = state === "pruned" && !best;
  return [
    s("path", {
      d,
      fill: "none",
      stroke: best ? theme.attention : passed ? theme.hatch : theme.muted,
      "stroke-width": best ? 4 : passed ? 1 : 1.5,
      "stroke-dasharray": passed ? "4 3" : null,
    }),
  ];
}

/** @param {Tried} node */
const strength = ({ best, state }) => (best ? 2 : state === "pruned" ? 0 : 1);

/** @param {{id: number, text: string | null, special?: boolean}} token @param {string} lang */
const word = ({ id, text, special }, lang) =>
  plainLabel(labels([{ text: text ?? "", special: special ?? text === "<eos>", id, start: 0, end: 0 }], lang)[0]);

/**
 * The width of a text in multiples of the font size; Chinese characters are square.
 * @param {string} text
 */
const letters = (text) => [...text].reduce((sum, sign) => sum + (sign > "\u2e7f" ? 1 : 0.58), 0);

/** @param {Context} context @param {boolean} beams @param {number} alpha */
function legend({ t }, beams, alpha) {
  const kinds = [
    ["best", beams ? t("the final text") : t("written")],
    ...(beams ? [["live", t("kept")]] : []),
    ["pruned", beams ? t("pruned") : t("not chosen")],
  ];
  const explanation = beams
    ? t(
        "Best on top. The number is the score: ln P over ((5 + length) / 6)^α, α = {alpha}; the higher, the better.",
        { alpha: two(alpha) },
      )
    : t("The number is the token’s probability, given the tokens before it.");
  return [
    ...kinds.map(([kind, word]) => el("span", { className: `kind ${kind}` }, word)),
    el("span", {}, explanation),
  ];
}
