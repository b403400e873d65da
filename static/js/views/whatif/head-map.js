/**
 * All heads of all attentions as a map: one row per layer, one column per head, coloured by the
 * head's effect.
 */

import { alone, onArrows } from "../../parts/arrow-keys.js";
import { four, two } from "../../lib/numbers.js";
import { likelier } from "../../parts/likelihood-wording.js";
import { changes, touches, where } from "../../state/interventions.js";
import { blockName } from "../../state/model-part-names.js";
import { h } from "../../lib/dom.js";
import { legible } from "../../draw/paint.js";
import { colour, css, diverging } from "../../draw/scale.js";
import { drawing, file, s } from "../../draw/svg.js";
import { lines, nameOf, of, reach } from "../../compute/head-sweep.js";

/** @typedef {import("../../state/types.js").Context} Context */
/** @typedef {import("../../compute/head-sweep.js").Sweep} Sweep */
/** @typedef {import("../../compute/head-sweep.js").Line} Line */

/**
 * In multiples of the font size: the height of a row, the smallest and largest width of a cell, the
 * width of the layers' names.
 */
const [HIGH, NARROW, WIDE, NAMES, SHORT] = [2.3, 2.9, 5.4, 5, 1.4];
/** Below this width of a cell, in multiples of the font size, numbers are set more tightly. */
const TIGHT = 3.4;
/**
 * Below this total width, in multiples of the font size, layers are labelled only with their
 * number.
 */
const PHONE = 36;
/** The smallest limit of the colour scale, in nats, so that small effects do not look large. */
const FAINT = 0.1;

/**
 * @param {Context} context
 * @param {(at: string, head: number) => void} pick
 */
export function headMap(context, pick) {
  const { store, t } = context;
  const element = h("div", { className: "head-map scroller" });
  let focus = "";
  /** @type {SVGSVGElement | null} */
  let drawn = null;

  element.addEventListener("click", ({ target }) => {
    const cell = /** @type {Element} */ (target).closest("[data-at]");
    if (cell) choose(cell);
  });
  element.addEventListener("focusin", ({ target }) => reachable(/** @type {Element} */ (target)));
  element.addEventListener("keydown", (event) => {
    const cell = /** @type {Element} */ (event.target).closest("[data-at]");
    if (!cell || !alone(event) || (event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    choose(cell);
  });
  onArrows(element, (down, right, { target }) => {
    const cell = /** @type {Element} */ (target).closest("[data-at]");
    const next = cell && neighbour(element, cell, down, right);
    if (!next) return false;
    next.focus();
    return true;
  });

  /** @param {Element} cell */
  function choose(cell) {
    reachable(cell);
    pick(String(cell.getAttribute("data-at")), Number(cell.getAttribute("data-head")));
  }

  /** @param {Element} cell  The one that Tab comes to. */
  function reachable(cell) {
    const name = cell.getAttribute("data-name");
    if (!name) return;
    focus = name;
    for (const one of element.querySelectorAll("[data-at]")) one.setAttribute("tabindex", one === cell ? "0" : "-1");
  }

  return {
    element,

    /** @param {Sweep | null} sweep @param {number | null} row @param {string} label  what the effect is on */
    draw(sweep, row, label) {
      const { model, link } = store.get();
      if (!model) return;
      const focused = element.contains(document.activeElement);
      const all = lines(model);
      const known = all.some(({ at }) => nameOf(at, 0) === focus.replace(/ \d+$/, " 0"));
      if (!known) focus = nameOf(all[0].at, 0);
      const scene = { sweep, row, list: changes(link), most: sweep ? Math.max(reach(sweep, row), FAINT) : FAINT, focus };
      drawn = picture(context, scene, all, element.clientWidth);
      drawn.setAttribute("role", "group");
      drawn.setAttribute("aria-label", t("Effect of each head on: {what}. Arrow keys move, Enter switches the head.", { what: label }));
      element.replaceChildren(drawn);
      element.dataset.drawn = String(Object.keys(sweep?.heads ?? {}).length);
      if (focused) /** @type {HTMLElement | null} */ (element.querySelector('[tabindex="0"]'))?.focus();
    },

    picture: () => drawn && { svg: file(drawn, context.theme()) },
  };
}

/**
 * @typedef {object} Scene
 * @property {Sweep | null} sweep
 * @property {number | null} row
 * @property {import("../../state/interventions.js").Change[]} list
 * @property {number} most  the limit of the colour scale
 * @property {string} focus
 */

/** @param {Context} context @param {Scene} scene @param {Line[]} all @param {number} width */
function picture(context, scene, all, width) {
  const { t } = context;
  const theme = context.theme();
  const { size } = theme;
  const heads = Math.max(...all.map((line) => line.heads));
  const short = width < PHONE * size;
  const left = (short ? SHORT : NAMES) * size;
  const wide = Math.min(Math.max((width - left - 8) / heads, NARROW * size), WIDE * size);
  const high = Math.max(HIGH * size, 26);
  // The first block is named in the line of the heads' numbers.
  let y = -0.3 * size;
  /** @type {SVGElement[]} */
  const parts = Array.from({ length: heads }, (_, head) =>
    s("text", { x: left + (head + 0.5) * wide, y: size, "text-anchor": "middle", fill: theme.muted }, head || short ? String(head + 1) : t("Head {n}", { n: 1 })),
  );
  all.forEach((line, i) => {
    if (all[i - 1]?.block !== line.block) {
      y += (i ? 0.9 : 0.3) * size;
      parts.push(s("text", { x: 0, y: y + size, "font-weight": 600 }, blockName(line.block, t)));
      y += 1.5 * size;
    }
    parts.push(s("text", { x: 0, y: y + high / 2 + size * 0.35, fill: theme.muted }, short ? String(line.layer + 1) : t("Layer {n}", { n: line.layer + 1 })));
    for (let head = 0; head < line.heads; head++)
      parts.push(cell(context, scene, line, head, { x: left + head * wide, y, wide, high }));
    y += high;
  });
  return drawing(left + heads * wide + 2, y + 4, theme, ...parts);
}

/**
 * @param {Context} context
 * @param {Scene} scene
 * @param {Line} line
 * @param {number} head
 * @param {{x: number, y: number, wide: number, high: number}} box
 */
function cell(context, { sweep, row, list, most, focus }, { at }, head, { x, y, wide, high }) {
  const { t } = context;
  const theme = context.theme();
  const effect = sweep?.heads[nameOf(at, head)];
  const value = effect ? of(effect.delta, row) : null;
  // As everywhere, what helps the translation is orange: a head without which it is less probable.
  const paint = value === null ? null : colour(diverging(theme), (1 - value / most) / 2);
  const off = touches(list, at, head);
  const place = where({ at, head, do: "zero" }, t, context.store.get().model);
  const says = effect
    ? t("{place}: {likelier} ({number} nats), divergence {divergence}", { place, likelier: likelier(t, of(effect.delta, row)), number: four(of(effect.delta, row)), divergence: four(of(effect.divergence, row)) })
    : t("{place}: not tried yet", { place });
  const name = nameOf(at, head);
  return s(
    "g",
    { role: "button", class: off ? "cell off" : "cell", tabindex: name === focus ? 0 : -1, "aria-label": says, "aria-pressed": String(off), "data-at": at, "data-head": head, "data-name": name },
    s("title", {}, says),
    s("rect", { x: x + 1, y: y + 1, width: wide - 2, height: high - 2, rx: 3, fill: paint ? css(paint) : theme.paper, stroke: off ? theme.ink : paint ? "none" : theme.hatch, "stroke-width": off ? 2.5 : 1, "stroke-dasharray": off ? "4 3" : null }),
    s("text", { x: x + wide / 2, y: y + high / 2 + theme.size * 0.35, "text-anchor": "middle", fill: paint ? legible(paint) : theme.muted, "font-weight": off ? 700 : null, "letter-spacing": wide < TIGHT * theme.size ? "-0.05em" : null }, value === null ? "·" : Math.abs(value) < 0.005 ? "0" : two(value)),
  );
}

/**
 * The cell that an arrow key moves to.
 * @param {Element} element
 * @param {Element} cell
 * @param {number} down
 * @param {number} right
 * @returns {HTMLElement | null}
 */
function neighbour(element, cell, down, right) {
  const all = /** @type {HTMLElement[]} */ ([...element.querySelectorAll("[data-at]")]);
  const at = all.indexOf(/** @type {HTMLElement} */ (cell));
  const across = all.filter((one) => one.getAttribute("data-at") === cell.getAttribute("data-at")).length;
  return all[at + right + down * across] ?? null;
}
