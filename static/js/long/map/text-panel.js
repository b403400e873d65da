/**
 * The text beside the map, with tokens shaded by the weights of the pinned row or column, and a
 * search.
 */

import { colourOf, legible } from "../../core/draw/matrix-canvas.js";
import { css, shadeOf } from "../../core/draw/colour-scales.js";
import { bindTyping, radios } from "../../core/figure/controls.js";
import { isAdded } from "../../core/wire/tokens.js";
import { h, render, write } from "../../lib/dom.js";
import { two } from "../../lib/numbers.js";
import { largest } from "./map-picture.js";
import { matrixName } from "./tiles.js";

/** @import { Axis } from "./axes.js" */
/** @import { Context } from "../../core/figure/types.js" */
/** @import { Place, MapState } from "./map.js" */
/** @import { Shade } from "../../core/draw/matrix-canvas.js" */

// The text itself, each token shaded by a weight of the pinned row or column; a click pins a token.

/** Tokens per block; the browser lays out a block only when it comes into view. */
const BLOCK = 160;

/**
 * @param {object} of
 * @param {string} of.label
 * @param {(token: number) => void} of.onPick
 * @param {(token: number | null) => void} of.onHover
 */
function createTextPanel({ label, onPick, onHover }) {
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
    for (let index = token; index >= 0; index--) {
      const span = spans[index];
      if (span) return { span, at: index };
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
      const maxWeight = largest(weights);
      spans.forEach((span, token) => {
        if (!span) return;
        let weight = weights[token];
        for (let next = token + 1; next < spans.length && !spans[next]; next++) weight = Math.max(weight, weights[next]);
        const share = shade.floor ? weight : weight / maxWeight;
        const ground = share >= (shade.floor ?? 0.02) ? colourOf(shade, share) : null;
        span.style.backgroundColor = ground ? css(ground) : "";
        span.style.color = ground ? legible(ground) : "";
        span.classList.toggle("masked", Number.isNaN(weight));
      });
      return weightOf ? maxWeight : null;
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

/** @param {HTMLElement} element @param {Axis} axis */
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
    const sharesCharacters = i > 0 && !isAdded(token) && token.end > token.start && token.end <= end;
    if (sharesCharacters) return void spans.push(null);
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

// Where words stand in a tokenised text.

/** @typedef {{tokens: import("../../core/wire/schemas.d.ts").TokenReply[], points: string[]}} Text  points: its code points, none where it is not known */

/**
 * @param {Text} text
 * @param {string} searchText  found whatever its case and its accents are
 * @returns {{from: number, to: number}[]}  tokens of each match, in their order
 */
export function matches({ tokens, points }, searchText) {
  const sought = folded(searchText.trim());
  if (!sought) return [];
  const plain = points.length ? points : Array.from(tokens.map(({ text }) => text).join(""));
  // One letter for each code point, so that places in the folded text are places in the text.
  const letters = plain.map((point) => Array.from(folded(point))[0] ?? " ");
  const all = letters.join("");
  const offsets = offsetsOf(letters);
  const spans = points.length ? tokens.map(({ start, end }) => ({ start, end })) : spansOf(tokens);
  /** @type {{from: number, to: number}[]} */
  const ranges = [];
  let from = 0;
  for (let offset = all.indexOf(sought); offset >= 0; offset = all.indexOf(sought, offset + sought.length)) {
    const [start, end] = [offsets[offset], offsets[offset + sought.length - 1] + 1];
    while (from < spans.length && (spans[from].end <= start || spans[from].end === spans[from].start)) from++;
    let to = from + 1;
    while (to < spans.length && spans[to].start < end && spans[to].end > spans[to].start) to++;
    if (from < spans.length) ranges.push({ from, to });
  }
  return ranges;
}

/** @param {string} text  Letters alone: é is found by e. */
const folded = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** The code point that each unit of UTF-16 belongs to. @param {string[]} letters */
function offsetsOf(letters) {
  /** @type {number[]} */
  const offsets = [];
  letters.forEach((letter, point) => {
    for (let unit = 0; unit < letter.length; unit++) offsets.push(point);
  });
  return offsets;
}

/** Where each token lies in the joined texts of all. @param {import("../../core/wire/schemas.d.ts").TokenReply[]} tokens */
function spansOf(tokens) {
  let offset = 0;
  return tokens.map(({ text }) => {
    const start = offset;
    offset += Array.from(text).length;
    return { start, end: offset };
  });
}

// Search in a long text: a field, the number of matches, and buttons to step through them.

/**
 * @param {import("../../core/figure/types.js").Context} context
 * @param {(tokens: {from: number, to: number} | null) => void} onFound  the tokens of a match; null: none
 */
function createSearch({ t, announce }, onFound) {
  const field = h("input", { type: "search", placeholder: t("Find in the text"), "aria-label": t("Find in the text"), enterKeyHint: "search" });
  const count = h("output", {});
  const [back, next] = [[t("Previous match"), "‹"], [t("Next match"), "›"]].map(([label, sign]) =>
    h("button", { type: "button", className: "button quiet", "aria-label": label, disabled: true }, sign));
  const element = h("div", { className: "find", role: "search" }, field, count, back, next);
  /** @type {Axis | null} */
  let axis = null;
  /** @type {{from: number, to: number}[]} */
  let results = [];
  let current = 0;

  function findMatches() {
    results = axis ? matches(axis, field.value) : [];
    current = 0;
    show();
  }

  function show() {
    const statusText = !field.value.trim() ? "" : results.length ? t("match {n} of {count}", { n: current + 1, count: results.length }) : t("not found");
    write(count, statusText);
    back.disabled = next.disabled = results.length < 2;
    if (statusText) announce(statusText);
    onFound(results[current] ?? null);
  }

  /** @param {number} by */
  function step(by) {
    if (!results.length) return;
    current = (current + by + results.length) % results.length;
    show();
  }

  bindTyping(field, { submit: findMatches, onEnter: () => (results.length ? step(1) : findMatches()) });
  field.addEventListener("search", () => !field.value && findMatches());
  back.addEventListener("click", () => step(-1));
  next.addEventListener("click", () => step(1));

  return {
    element,
    /** @param {Axis} text  that is searched */
    read(text) {
      if (axis?.tokens === text.tokens) return;
      axis = text;
      if (field.value) findMatches();
    },
  };
}

/** @typedef {"row" | "col"} Side  the text of the queries, or of the keys */

/**
 * With one text, a switch selects the shading; with two, each has its own.
 * @param {Context} context
 * @param {ReturnType<typeof import("./view.js").createPins>} pins
 */
export function createReader(context, pins) {
  const { store, t, uniqueId } = context;
  /** @type {{from: number, to: number} | null} */
  let match = null;
  /** @type {MapState | null} */
  let current = null;
  let shaded = "";

  const isOneText = () => current !== null && current.axes.rows.tokens === current.axes.cols.tokens;
  const column = () => store.get().link.options.shade === "column";
  /** What a click in a panel pins. @param {Side} side */
  const picks = (side) => (isOneText() ? (column() ? "col" : "row") : side);
  const panelOf = (/** @type {Side} */ side, /** @type {string} */ label) =>
    createTextPanel({ label, onPick: (token) => pins.token(picks(side), token), onHover: (token) => pins.point(picks(side), token) });
  const panels = { col: panelOf("col", t("The text of the keys")), row: panelOf("row", t("The text of the queries")) };
  const search = createSearch(context, (tokens) => {
    match = tokens;
    mark(null);
    if (!tokens) return;
    panels.col.reveal(tokens.from);
    pins.goTo(tokens.from, isOneText() ? ["row", "col"] : ["col"]);
  });
  const darkestNote = h("p", { className: "darkest" });
  const shadingChoice = h("fieldset", { className: "choice ways" }, h("legend", { className: "hidden" }, t("Shading of the text")));
  shadingChoice.addEventListener("change", ({ target }) => store.choose({ shade: /** @type {HTMLInputElement} */ (target).value }));
  const element = h("div", { className: "reader" }, search.element, shadingChoice, darkestNote, panels.row.element, panels.col.element);

  /** What a panel shows: its axis, and the weights for shading. @param {Side} side */
  function roleOf(side) {
    if (!current) return null;
    const { axes, row, col } = current;
    const byRow = isOneText() ? !column() : side === "col";
    return { axis: byRow ? axes.cols : axes.rows, weights: byRow ? row : col, pinned: byRow ? current.lit.row : current.lit.col };
  }

  function shade() {
    if (!current) return;
    const roles = { col: roleOf("col"), row: roleOf("row") };
    const sides = /** @type {Side[]} */ (isOneText() ? ["col"] : ["col", "row"]);
    const state = [matrixName(current.page), column(), current.shade.floor, context.theme().paper, ...sides.map((side) => roles[side]?.weights && roles[side]?.pinned)].join(" ");
    if (state === shaded) return;
    shaded = state;
    for (const side of sides) {
      const { axis, weights } = /** @type {NonNullable<ReturnType<typeof roleOf>>} */ (roles[side]);
      const maxWeight = panels[side].shade(weights && ((token) => weights[axis.unitOf(token)]), shadeOf(context, current.page));
      if (side === "col") tell(maxWeight);
    }
  }

  /** @param {number | null} maxWeight  the weight that is darkest */
  function tell(maxWeight) {
    const by = column() && isOneText() ? t("Click a token to see which tokens look at it.") : t("Click a token to see what it looks at.");
    write(darkestNote, maxWeight === null ? by : current?.shade.floor ? t("The darker, the larger the weight; the largest is {weight}.", { weight: two(maxWeight) }) : t("The darkest token has {weight}.", { weight: two(maxWeight) }));
  }

  /** Outline the pinned, found and hovered tokens. @param {Place | null} hovered  in units */
  function mark(hovered) {
    if (!current) return;
    const { axes: { rows, cols }, lit } = current;
    const place = (/** @type {string} */ name, /** @type {import("./axes.js").Axis} */ axis, /** @type {number | null | undefined} */ unit) => {
      if (unit === null || unit === undefined) return [];
      const [from, to] = axis.tokensOf(unit);
      return [{ name, from, to }];
    };
    const ofRows = [...place("pointed", rows, hovered?.row), ...place("as-query", rows, lit.row)];
    const ofCols = [...place("pointed", cols, hovered?.col), ...place("as-key", cols, lit.col)];
    const matchMark = match ? [{ name: "found", ...match }] : [];
    panels.col.mark([...(isOneText() ? ofRows : []), ...ofCols, ...matchMark]);
    if (!isOneText()) panels.row.mark(ofRows);
  }

  return {
    element,
    mark,

    /** @param {MapState} next */
    show(next) {
      current = next;
      panels.row.element.hidden = isOneText();
      shadingChoice.hidden = !isOneText();
      panels.col.element.setAttribute("aria-label", isOneText() ? t("The text") : t("The text of the keys"));
      render(shadingChoice, shadingChoice.firstElementChild, radios(uniqueId("shade"), { row: t("what it looks at"), column: t("what looks at it") }, column() ? "column" : "row"));
      panels.col.write(next.axes.cols);
      if (!isOneText()) panels.row.write(next.axes.rows);
      search.read(next.axes.cols);
      shade();
      mark(null);
    },

    /** @param {Side} side @param {number} token */
    reveal: (side, token) => panels[isOneText() ? "col" : side].reveal(token),
  };
}
