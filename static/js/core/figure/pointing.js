/** What a reader points at in a figure, which someone else's page can highlight in the same figure. */

import { el, h, render } from "../../lib/dom.js";
import { explainedPair } from "../store/highlight.js";
import { axes } from "../wire/model-description.js";
import { plainStep } from "../wire/tokens.js";

/** @import { Highlight } from "../store/store.js" */
/** @import { Context } from "./types.js" */

/**
 * @typedef {object} Pointing
 * @property {() => Highlight | null} at  what is pointed at
 * @property {(lit: Highlight | null) => void} show  highlight it; what the figure does not have is ignored
 * @property {(listener: () => void) => void} listen  call a listener when something else is pointed at
 */

/** @param {import("../store/store.js").Store} store @returns {Pointing} */
export const pointingIn = (store) => ({ at: store.hovered, show: store.hover, listen: (listener) => void store.watch(listener) });

/**
 * For a figure without a store: it keeps what is pointed at.
 * @template T
 * @param {object} figure
 * @param {(target: T | null) => void} figure.light  highlights it
 * @param {(target: T) => Highlight} figure.write  what is pointed at, as it is sent
 * @param {(lit: Highlight) => T | null} figure.read
 */
export function createPointing({ light, write, read }) {
  /** @type {T | null} */
  let pointed = null;
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const key = (/** @type {T | null} */ target) => JSON.stringify(target && write(target));

  /** @param {T | null} next */
  function move(next) {
    if (key(next) === key(pointed)) return;
    pointed = next;
    light(pointed);
    listeners.forEach((listener) => listener());
  }

  return {
    move,
    /** @type {Pointing} */
    pointing: {
      at: () => pointed && write(pointed),
      show: (lit) => move(lit && read(lit)),
      listen: (listener) => void listeners.add(listener),
    },
  };
}

// Choose a query and a key: two lists with previous and next buttons, for views without a matrix.

/** @typedef {"query" | "key"} Side */

/**
 * @param {Context} context
 * @param {Side[]} [sides]  what can be chosen
 * @returns {HTMLElement & {refresh: () => void}}
 */
export function cellPicker({ store, t }, sides = ["query", "key"]) {
  const named = { query: t("query"), key: t("key") };
  const steps = {
    query: [t("query above"), t("query below")],
    key: [t("previous key"), t("next key")],
  };

  /** @param {Side} side @param {number} index */
  function go(side, index) {
    const { model, trace, link } = store.get();
    const cell = explainedPair(store.get());
    if (!trace || !cell) return;
    const { rows, cols } = axes(model, trace, link.block);
    const last = (side === "query" ? rows : cols).length - 1;
    const to = Math.min(Math.max(index, 0), last);
    // If no key is pinned, the cell is the one that the query looks at most.
    const key = sides.includes("key") ? cell.key : link.key;
    store.go({ query: cell.query, key, [side]: to });
  }

  const pickers = sides.map((side) => {
    const select = h("select", { "aria-label": named[side] });
    select.addEventListener("change", () => go(side, Number(select.value)));
    const buttons = [-1, 1].map((by, i) => {
      const button = h(
        "button",
        { type: "button", className: "button quiet", "aria-label": steps[side][i] },
        side === "query" ? "↑↓"[i] : "←→"[i],
      );
      button.addEventListener("click", () => go(side, Number(select.value) + by));
      return button;
    });
    const label = h("span", { className: "name" }, named[side]);
    return { side, select, buttons, element: h("div", { className: `picker as-${side}`, role: "group", "aria-label": named[side] }, label, select, ...buttons) };
  });

  function refresh() {
    const page = store.get();
    const cell = explainedPair(page);
    if (!page.trace || !cell) return;
    const { rows, cols } = axes(page.model, page.trace, page.link.block);
    for (const { side, select, buttons } of pickers) {
      const steps = side === "query" ? rows : cols;
      render(select, steps.map((step, i) => el("option", { value: String(i), lang: step.writes.lang }, `${i + 1}  ${plainStep(step)}`)));
      select.value = String(cell[side]);
      buttons[0].disabled = cell[side] === 0;
      buttons[1].disabled = cell[side] === steps.length - 1;
    }
  }

  return Object.assign(h("div", { className: "cell-picker" }, ...pickers.map(({ element }) => element)), { refresh });
}

// Navigation keys: the arrows, within a picture or through its steps.

/** @type {Record<string, [number, number]>}  down, right */
export const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
const STEPS = /** @type {Record<string, number>} */ ({ ArrowLeft: -1, ArrowRight: 1 });
const ENDS = /** @type {Record<string, number>} */ ({ Home: -Infinity, End: Infinity });
/** Keys within a list of whichever direction. */
const LIST_STEPS = /** @type {Record<string, number>} */ ({ ...STEPS, ArrowUp: -1, ArrowDown: 1, ...ENDS });
/** Keys sent by a presenter's remote; outside projector mode they scroll. */
export const REMOTE = /** @type {Record<string, number>} */ ({ PageUp: -1, PageDown: 1 });
/** All keys that turn pages: some remotes send arrows. */
export const TURNS = /** @type {Record<string, number>} */ ({ ...REMOTE, ...STEPS });

/**
 * Whether a key is pressed without modifiers, and not while an input method is composing.
 * @param {Pick<KeyboardEvent, "ctrlKey" | "metaKey" | "altKey" | "isComposing">} event
 */
export const isPlainKey = ({ ctrlKey, metaKey, altKey, isComposing }) => !(ctrlKey || metaKey || altKey || isComposing);

/**
 * @param {KeyboardEvent} event
 * @returns {[number, number] | null}  down and right; null: not an arrow key alone
 */
export const arrow = (event) => (isPlainKey(event) && ARROWS[event.key]) || null;

/**
 * @param {EventTarget} element
 * @param {(down: number, right: number, event: KeyboardEvent) => boolean | void} move  false:
 *   nothing to move, so the key keeps its default action
 */
export function onArrows(element, move) {
  element.addEventListener("keydown", (event) => {
    const by = arrow(/** @type {KeyboardEvent} */ (event));
    if (by && move(...by, /** @type {KeyboardEvent} */ (event)) !== false) event.preventDefault();
  });
}

/** @param {number} index @param {number} size  The nearest that is there. */
export const within = (index, size) => Math.max(Math.min(index, size - 1), 0);

/**
 * Use arrows and Space to move through steps wherever they have no other meaning; handled before
 * the page's own keys.
 * @param {import("./figure-frame.js").Keys} keys  of the figure
 * @param {object} steps
 * @param {() => boolean} steps.projector  whether a remote's keys count
 * @param {{arrows: string, space: string}} steps.takes  selectors of elements that use these keys
 *   themselves
 * @param {boolean} [steps.ends]  whether Home and End go to the first and the last step
 * @param {(by: number) => void} steps.go
 * @param {(back: boolean) => void} steps.space
 * @returns {() => void}  unbinds the keys
 */
export function onSteps(keys, { projector, takes, ends = false, go, space }) {
  /** @param {KeyboardEvent} event */
  function pressed(event) {
    const { key, target, shiftKey } = event;
    const by = STEPS[key] ?? (ends ? ENDS[key] : undefined) ?? (projector() ? REMOTE[key] : undefined);
    if ((!by && key !== " ") || !isPlainKey(event)) return;
    const place = /** @type {Element | null} */ (target);
    if (!place?.closest) return;
    if (place.closest(by ? takes.arrows : `${takes.space}, button, a, summary`)) return;
    event.preventDefault();
    event.stopPropagation();
    if (by) go(by);
    else space(shiftKey);
  }
  return keys.listen(pressed, { first: true });
}

// A list of buttons that is one stop of Tab: the arrow keys, Home and End move within it. A sentence of
// twenty words would otherwise be twenty stops before the figure.

/**
 * @param {HTMLElement} list  what is in it may change
 * @param {string} [item]  selector of what can have the focus
 */
export function makeOneStop(list, item = "button") {
  const items = () => /** @type {HTMLButtonElement[]} */ ([...list.querySelectorAll(item)]).filter(({ disabled }) => !disabled);
  /** @type {HTMLElement | null} */
  let last = null;
  list.dataset.oneStop = "";

  function reach() {
    const all = items();
    const stop = all.find((button) => button === last) ?? all.find((button) => button.getAttribute("aria-pressed") === "true") ?? all[0];
    for (const button of all) if (button.tabIndex !== (button === stop ? 0 : -1)) button.tabIndex = button === stop ? 0 : -1;
  }

  list.addEventListener("focusin", ({ target }) => {
    last = /** @type {HTMLElement} */ (target).closest(item);
    reach();
  });
  list.addEventListener("keydown", (event) => {
    const all = items();
    const index = all.findIndex((button) => button === event.target);
    if (index < 0 || !isPlainKey(event) || !(event.key in LIST_STEPS)) return;
    event.preventDefault();
    event.stopPropagation();
    all[within(Math.max(index + LIST_STEPS[event.key], 0), all.length)].focus();
  });
  new MutationObserver(reach).observe(list, { childList: true, subtree: true, attributes: true, attributeFilter: ["disabled"] });
  reach();
}
