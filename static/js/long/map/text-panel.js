/** The text itself, each token shaded by a weight of the pinned row or column; a click pins a token. */

import { colourOf, legible } from "../../core/draw/paint.js";
import { css } from "../../core/draw/scale.js";
import { largest } from "./map-bars.js";
import { h } from "../../lib/dom.js";
import { isAdded } from "../../core/wire/tokens.js";

/** @import { Axis } from "./axes.js" */
/** @import { Shade } from "../../core/draw/paint.js" */

/** Tokens per block; the browser lays out a block only when it comes into view. */
const BLOCK = 160;

/**
 * @param {object} of
 * @param {string} of.label
 * @param {(token: number) => void} of.onPick
 * @param {(token: number | null) => void} of.onHover
 */
export function createTextPanel({ label, onPick, onHover }) {
  const element = h("div", { className: "long-text", tabIndex: 0, role: "region", "aria-label": label });
  /**
   * By token; null if its characters belong to the previous token.
   * @type {(HTMLElement | null)[]}
   */
  let spans = [];
  /** @type {WeakMap<EventTarget, number>} */
  let tokens = new WeakMap();
  /** @type {object | null} */
  let written = null;
  /** @type {Set<HTMLElement>} */
  const marked = new Set();

  /** @param {Event} event */
  const tokenAt = (event) => (event.target ? (tokens.get(event.target) ?? null) : null);
  element.addEventListener("click", (event) => {
    const token = tokenAt(event);
    if (token !== null && !String(element.ownerDocument.getSelection() ?? "")) onPick(token);
  });
  element.addEventListener("pointerover", (event) => event.pointerType !== "touch" && onHover(tokenAt(event)));
  element.addEventListener("pointerleave", () => onHover(null));

  /** The span of a token, or of the token that shares its characters. @param {number} token */
  function spanOf(token) {
    for (let at = token; at >= 0; at--) {
      const span = spans[at];
      if (span) return { span, at };
    }
    return null;
  }

  return {
    element,

    /** @param {Axis} axis */
    write(axis) {
      element.classList.toggle("grouped", axis.edges !== null);
      if (written === axis.tokens) return;
      written = axis.tokens;
      marked.clear();
      ({ spans, tokens } = fill(element, axis));
      element.scrollTop = 0;
    },

    /**
     * Shade each token by a weight, from zero to the largest; without weights, remove the shading.
     * @param {((token: number) => number) | null} weightOf  NaN where masked
     * @param {Shade} shade
     */
    shade(weightOf, shade) {
      const weights = Float32Array.from(spans, (_, token) => weightOf?.(token) ?? 0);
      const most = largest(weights);
      spans.forEach((span, token) => {
        if (!span) return;
        let weight = weights[token];
        for (let next = token + 1; next < spans.length && !spans[next]; next++) weight = Math.max(weight, weights[next]);
        const share = shade.floor ? weight : weight / most;
        const ground = share >= (shade.floor ?? 0.02) ? colourOf(shade, share) : null;
        span.style.backgroundColor = ground ? css(ground) : "";
        span.style.color = ground ? legible(ground) : "";
        span.classList.toggle("masked", Number.isNaN(weight));
      });
      return weightOf ? most : null;
    },

    /** @param {{name: string, from: number, to: number}[]} places  Outlines tokens, by a name of a class. */
    mark(places) {
      for (const span of marked) span.classList.remove("as-query", "as-key", "found", "pointed");
      marked.clear();
      for (const { name, from, to } of places)
        for (let token = from; token < to; token++) {
          const span = spanOf(token)?.span;
          if (!span) continue;
          span.classList.add(name);
          marked.add(span);
        }
    },

    /** @param {number} token  Scrolls it into sight, in the panel alone. */
    reveal(token) {
      const span = spanOf(token)?.span;
      if (!span) return;
      const [outer, inner] = [element.getBoundingClientRect(), span.getBoundingClientRect()];
      if (inner.top >= outer.top + 24 && inner.bottom <= outer.bottom - 24) return;
      element.scrollTop += inner.top - outer.top - outer.height / 3;
    },
  };
}

/**
 * @param {HTMLElement} element
 * @param {Axis} axis
 */
function fill(element, { tokens, points }) {
  const { ownerDocument } = element;
  /** @type {(HTMLElement | null)[]} */
  const spans = [];
  /** @type {WeakMap<EventTarget, number>} */
  const indices = new WeakMap();
  /** @type {HTMLElement[]} */
  const blocks = [];
  let block = ownerDocument.createElement("div");
  let end = 0;
  tokens.forEach((token, i) => {
    if (i % BLOCK === 0) blocks.push((block = ownerDocument.createElement("div")));
    const same = i > 0 && !isAdded(token) && token.end > token.start && token.end <= end;
    if (same) return void spans.push(null);
    if (!isAdded(token) && token.start > end) block.append(points.slice(end, token.start).join(""));
    const span = ownerDocument.createElement("span");
    span.textContent = isAdded(token) || !points.length ? token.text : points.slice(token.start, token.end).join("");
    if (isAdded(token)) span.className = "special";
    if (!isAdded(token)) end = token.end;
    block.append(span);
    spans.push(span);
    indices.set(span, i);
  });
  element.replaceChildren(...blocks);
  return { spans, tokens: indices };
}
