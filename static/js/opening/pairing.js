/**
 * A sentence above and its translation below, word by word with glosses, and lines for the
 * highlighted word only: the picture of the opening and of a lesson.
 */

import { token } from "../core/draw/token.js";
import { curve, s } from "../core/draw/svg.js";
import { h } from "../lib/dom.js";
import { el, render } from "../lib/render.js";

/** @import { Opening } from "./opening-content.js" */

/** Smaller weights have no line. */
const FAINT = 0.05;
/** The width in pixels of a line with weight 1. */
const THICK = 10;

/**
 * @param {import("../core/figure/types.js").PageContext} page
 * @param {(word: number, clicked: boolean) => void} pick  clicked: false if it is only pointed at
 */
export function createPairing({ t, theme, onTheme }, pick) {
  const source = h("ol", { className: "words from", "aria-label": t("Sentence") });
  const written = h("ol", { className: "words to", "aria-label": t("Translation") });
  const lines = s("svg", { "aria-hidden": "true", class: "threads-of-one" });
  const element = h("div", { className: "pairing" }, source, written, lines);
  /** @type {{opening: Opening, at: number} | null} */
  let shown = null;

  /** @param {Opening} opening @param {number} at  the lit word @param {boolean} glossed */
  function draw(opening, at, glossed) {
    const { weights } = opening.written[at] ?? { weights: [] };
    render(source, opening.source.map((label, i) => el("li", { className: weights[i] >= FAINT ? "looked" : "", lang: label.lang }, token({ ...label, space: "" }))));
    render(written, opening.written.map((word, i) => button(word, i, i === at, glossed)));
    shown = { opening, at };
    join();
  }

  /** @param {import("./opening-content.js").Written} word @param {number} i @param {boolean} lit @param {boolean} glossed */
  function button({ label, gloss }, i, lit, glossed) {
    const onpointerenter = (/** @type {PointerEvent} */ { pointerType }) => pointerType === "mouse" && pick(i, false);
    const below = glossed && el("span", { className: "gloss" }, gloss ?? "\u00a0");
    return el("li", {}, el("button", { type: "button", "aria-pressed": String(lit), onclick: () => pick(i, true), onpointerenter }, token({ ...label, space: "" }), below));
  }

  /** Draw lines from the highlighted word, as thick as its weights. */
  function join() {
    if (!shown || !element.clientWidth) return;
    const { opening, at } = shown;
    const frame = element.getBoundingClientRect();
    lines.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
    const end = (/** @type {Element} */ item, /** @type {"top" | "bottom"} */ side) => {
      const box = item.getBoundingClientRect();
      return /** @type {[number, number]} */ ([box.left + box.width / 2 - frame.left, box[side] - frame.top]);
    };
    const { attention } = theme();
    const to = written.children[at];
    const { weights = [] } = opening.written[at] ?? {};
    const paths = [...weights].flatMap((weight, i) => {
      if (!(weight >= FAINT) || !to) return [];
      const d = curve(end(source.children[i], "bottom"), end(to, "top"), "y");
      return s("path", { d, fill: "none", stroke: attention, "stroke-width": Math.max(1.5, weight * THICK), "stroke-linecap": "round", opacity: 0.25 + 0.75 * weight });
    });
    lines.replaceChildren(...paths);
  }

  new ResizeObserver(join).observe(element);
  onTheme(join);
  return { element, draw };
}
